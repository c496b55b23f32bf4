"""`decode` under rules: what is written with a tree, what is asked of words, spans and FEATS, and what is refused."""

import gzip
import io
import json
import re

import numpy as np
import pytest

from deptree_cli import read
from deptree_cli.io.rules.reading import read_rules
from tests.sample import DATA

LABELLED = "decode $SCORES $LABELS --format jsonl"
TEXT = (DATA / "sentences.conllu").read_text(encoding="utf-8")

# Of the labels of English trees few are left, so that good trees are far from the best ones.
STRICT = """
at-most-one = [["obl", "nmod"], ["obj", "advmod"], ["nsubj", "punct", "det"], ["case", "aux"]]
leaf = ["obl"]
"""


def by_name(ran):
    return {row["sent_id"]: row for row in ran.rows}


def worth(row):
    return row["log_prob"] + row["label_log_prob"]


def breaks_strict(row):
    """Whether a tree breaks `STRICT`, by its definition."""
    arcs = list(zip(row["heads"], row["deprels"], strict=True))
    groups = {"obl", "nmod"}, {"obj", "advmod"}, {"nsubj", "punct", "det"}, {"case", "aux"}
    heads = ([head for head, label in arcs if label in group] for group in groups)
    several = any(len(each) != len(set(each)) for each in heads)
    return several or any(label == "obl" and word in row["heads"] for word, (_, label) in enumerate(arcs, 1))


def test_trees_are_certified_in_comments_and_in_fields(done):
    rows = done(f"{LABELLED} $SENTENCES --rules ud").rows
    assert [(row["certified"], row["gap"]) for row in rows] == [(True, 0)] * 8
    lines = done("decode $SCORES $LABELS $SENTENCES --rules ud").out.decode().splitlines()
    assert lines.count("# certified = yes") == lines.count("# gap = 0.0") == 8
    assert "|rules:ud-" in lines[0]
    plain, tree = done(f"{LABELLED} $SENTENCES").rows, done(f"{LABELLED} --rules tree").rows
    assert not any("certified" in row or "gap" in row for row in plain)
    for one, other in zip(plain, tree, strict=True):  # to ask for nothing but a tree changes nothing
        assert other["certified"]
        assert one["heads"] == other["heads"] or one["log_prob"] >= other["log_prob"]


def test_own_rules_are_obeyed_and_cost_probability(done, put):
    put("strict.toml", STRICT)
    line = f"{LABELLED} --rules strict.toml"
    plain, best = by_name(done(LABELLED)), by_name(done(line))
    assert sum(map(breaks_strict, plain.values())) >= 5
    found = done(f"{line} -k 4").rows
    assert len(found) > 24
    for name, row in best.items():
        assert worth(row) <= worth(plain[name]) + 1e-9
        rows = [each for each in found if each["sent_id"] == name]
        assert len({tuple(each["heads"]) for each in rows}) == len(rows) <= 4
        assert list(map(worth, rows)) == sorted(map(worth, rows), reverse=True)
        assert (rows[0]["heads"], rows[0]["deprels"]) == (row["heads"], row["deprels"])
    mbr = done(f"{line} --method mbr").rows
    assert [row["certified"] for row in mbr] == [True] * 8
    assert not any(map(breaks_strict, [*best.values(), *found, *mbr]))


def test_a_small_budget_is_told(done, deptree, put):
    put("strict.toml", STRICT.replace('leaf = ["obl"]', 'leaf = ["obl", "nmod"]'))
    best = by_name(done(f"{LABELLED} --rules strict.toml"))
    ran = deptree(f"{LABELLED} --rules strict.toml --budget 6 --on-error skip")
    rows = by_name(ran)
    assert ran.code == 1
    assert len(rows) + ran.err.count("no tree that obeys the rules was found") == len(best)
    assert "Raise --budget, or give up a rule, or pass --relax." in ran.err
    assert {row["certified"] for row in rows.values()} == {True, False}
    for name, row in rows.items():
        assert row["certified"] == (row["gap"] == 0)
        assert row["gap"] >= worth(best[name]) - worth(row) - 1e-9
        assert not breaks_strict(row)
    text = deptree("decode $SCORES $LABELS $SENTENCES --rules strict.toml --budget 6 --on-error skip").out.decode()
    assert float(re.search("# certified = no\n# gap = (.*)", text)[1]) > 0


def test_labels_that_are_not_those_of_the_rules(deptree, done, put):
    """If a tree cannot do without them, a line says which and what to do; if it can, a line says which it has not."""
    names = (DATA / "labels.json").read_text(encoding="utf-8")
    put("upper.json", names.upper().replace("ROOT", "root"))
    put("old.json", names.replace('"obj"', '"dobj"'))
    line = "decode $SCORES --label-scores $DATA/label_scores.npz $SENTENCES --rules ud --format jsonl --labels"
    ran = deptree(f"{line} upper.json")
    assert (ran.code, ran.out) == (2, b"")
    says = "ud-2026-11 forbids every label of the scores but root (invalid-deprel): 'ACL:RELCL', 'ADVCL',"
    assert says in ran.said[-1]
    assert "and 3 others. Remove these rules; --rules show prints ours as a file to edit." in ran.said[-1]
    ran = done(f"{line} old.json")
    assert "deptree: ud-2026-11 forbids 1 label of the scores (unknown-udeprel): 'dobj'" in ran.said
    assert not any("dobj" in row["deprels"] for row in ran.rows)


@pytest.mark.parametrize(
    ("misc", "rows"),
    [("NotHead=2|DeprelIn=nmod", "en-1\t7\tNotHead\t2\nen-1\t7\tDeprelIn\tnmod\n"), ("Span=3-7", "en-1\t3\t7\n")],
)
def test_words_and_spans_from_misc_and_from_a_file(done, put, misc, rows):
    """She saw [the man with the telescope]: so it is the man's."""
    put("asked.conllu", TEXT.replace("Also=head=4", f"Also=head=4|{misc}", 1))
    put("asked.tsv", rows)
    plain = done(f"{LABELLED} $SENTENCES").rows
    assert plain[0]["heads"][6] == 2
    first, *others = found = done(f"{LABELLED} --conllu asked.conllu --rules misc").rows
    assert found == done(f"{LABELLED} $SENTENCES --rules asked.tsv").rows
    assert (first["heads"][6], first["deprels"][6]) == (4, "nmod")
    assert [word for word in range(3, 8) if not 3 <= first["heads"][word - 1] <= 7] == [4]
    assert [row["heads"] for row in others] == [row["heads"] for row in plain[1:]]


def test_sentences_that_do_not_come_are_an_error(deptree, put):
    """Whoever names a sentence wants it to obey: -q hides nothing of that, and --on-error skip counts it."""
    put("asked.tsv", "en-1\t7\tNotHead\t2\nxx-1\t1\tHeadIn\t2\nxx-2\t1\t2\nxx-1\t2\tHeadIn\t0\n")
    missing = "asked.tsv:2 (xx-1): no sentence has this name. Correct the name."
    line = "decode $SCORES --rules asked.tsv --format jsonl"
    ran = deptree(f"{line} -q")
    assert (ran.code, ran.said) == (2, [f"deptree: {missing}"])
    ran = deptree(f"{line} --on-error skip --jobs 2")
    assert (ran.code, len(ran.rows)) == (1, 8)
    assert f"deptree: skipped: {missing}" in ran.said
    assert ran.said[-1] == "deptree: 2 sentences skipped"


def test_all_rules_that_are_asked_for_hold(refused, done, put):
    put("asked.tsv", "en-1\t7\tHeadIn\t4\n")
    put("strict.toml", STRICT)
    line = "decode $SCORES $LABELS $SENTENCES --rules ud --rules asked.tsv --rules strict.toml"
    assert b"|rules:ud-2026-11,asked.tsv,strict.toml|" in done(line).out.partition(b"\n")[0]
    rows = done(f"{line} --format jsonl").rows
    assert rows[0]["heads"][6] == 4
    assert not any(map(breaks_strict, rows))
    put("twice.toml", 'leaf = ["obl"]')
    says = "deptree: two rules are called 'leaf obl'. Give each a name of its own.\n"
    refused("decode $SCORES $LABELS --rules strict.toml --rules twice.toml", says)


def test_our_rules_are_shown_as_a_file(done, put):
    put("shown.toml", done("decode --rules show").out)
    assert read_rules("shown.toml").rules == read_rules("ud").rules


def test_missing_tags_are_told(done, put):
    put("bare.conllu", re.sub(r"(?m)^(\d+\t[^\t]*\t[^\t]*\t)[^\t]+", r"\1_", TEXT))
    ran = done(f"{LABELLED} --conllu bare.conllu --rules ud")
    assert "deptree: 7 rules of ud-2026-11 have no effect: the words have no UPOS" in ran.said


# A word that is written as two, which its head says in a file with FEATS; a rule asks that of every sentence of a file
# in which some word has them, wherever that word is.
RULE = "goeswith-missing-typo"
APART = "# sent_id = {}\n{}1\twith\t_\tNOUN\t_\t{}\t0\troot\t_\t_\n2\tout\t_\tX\t_\t_\t1\tgoeswith\t_\t_\n\n"


def apart(feats="_", first="", size=5):
    lines = [("", "_")] * (size - 2) + [(first, feats), ("", "_")]
    return "".join(APART.format(f"s{at}", *each) for at, each in enumerate(lines))


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (apart(), []),
        (apart("Case=Nom"), [0, 1, 2, 3, 4]),
        (apart("Case=Nom|Typo=Yes"), [0, 1, 2, 4]),
        (apart(first="0.1\tand\t_\tCCONJ\t_\tFoo=Bar\t_\t_\t0:root\t_\n"), [0, 1, 2, 3, 4]),
        (apart(first="1-2\twithout\t_\t_\t_\tTypo=Yes\t_\t_\t_\t_\n"), []),
        (apart("Typo=Yes", size=600), [*range(598), 599]),
    ],
    ids=["none", "others", "its own", "an empty node", "a multiword token", "late"],
)
def test_check_lists_what_the_validator_lists(deptree, put, given, found):
    """That waits for the first FEATS; we look for them first: in files, packed or not, and in what comes by a pipe."""
    put("x.conllu", given)
    put("x.conllu.gz", gzip.compress(given.encode()))
    ran = deptree("check x.conllu")
    rows = [row for row in ran.rows if row["rule"] != "unconnected-egraph"]  # of words beside an empty node
    assert [(row["rule"], row["sent_id"], row["head"]) for row in rows] == [(RULE, f"s{at}", 1) for at in found]
    ways = (deptree("check x.conllu -j 2"), deptree("check x.conllu.gz"), deptree("check -", stdin=given.encode()))
    assert all(way.out == ran.out for way in ways)
    shards = [deptree(f"check x.conllu --shard {number}/2 -j {number}").out for number in (1, 2)]
    assert sorted(b"".join(shards).splitlines()) == sorted(ran.out.splitlines())
    udtools = pytest.importorskip("udtools", reason="udtools is not installed")
    state = udtools.Validator(lang="ud", level=3, output=None).validate_file_handle(io.StringIO(given))
    assert {each.sentid for each in state.error_tracker if each.testid == RULE} == {f"s{at}" for at in found}


def test_each_file_by_itself_whatever_its_columns(deptree, put):
    plus = "# global.columns = ID FEATS UPOS HEAD DEPREL\n"
    rows = "# sent_id = {}\n1\t{}\tNOUN\t0\troot\n2\t_\tX\t1\tgoeswith\n\n"
    put("with.conllup", plus + rows.format("a", "_") + rows.format("b", "Typo=Yes"))
    put("marked.conllu", "\ufeff" + apart()[len("# sent_id = s0\n") :].replace("NOUN\t_\t_", "NOUN\t_\tTypo=Yes", 1))
    assert len(deptree("check marked.conllu").rows) == 4
    put("without.conllup", plus + rows.format("c", "_") + rows.format("d", "_"))
    put("no.conllup", plus.replace(" FEATS", "") + rows.format("e", "_").replace("\t_\t", "\t"))
    ran = deptree("check with.conllup without.conllup no.conllup")
    assert [row["sent_id"] for row in ran.rows] == ["a"]


@pytest.mark.parametrize("feats", ["_", "Case=Nom"])
def test_every_command_asks_for_feats(done, put, feats):
    """What is decoded, sampled or repaired has no such words where check would list them; by any workers and shards."""
    label_scores = np.zeros((3, 3, 3))
    label_scores[..., 1] = 2  # goeswith is the best label
    put("scores.npz", {f"s{at}": np.zeros((3, 3)) for at in range(5)})
    put("labels.npz", {f"s{at}": label_scores for at in range(5)})
    put("labels.json", json.dumps(["root", "goeswith", "dep"]))
    labels = "--labels labels.json --label-scores labels.npz"
    scores = f"scores.npz --from head-dep,log {labels} --conllu x.conllu --rules ud"
    put("x.conllu", apart(feats))
    allowed = feats == "_"
    for line in (f"decode {scores}", f"sample -k 20 --seed 1 {scores}", "repair x.conllu -q"):
        assert (b"\tgoeswith\t" in done(line).out) == allowed
    options = {"preset": "head-dep,log", "labels": "labels.json", "label_scores": "labels.npz", "rules": "ud"}
    (sentence, *_) = read("scores.npz", "x.conllu", **options)
    right = 1 + np.exp(2) * allowed  # the weight of an arc from word 1 to 2; that from 2 to 1 is never goeswith
    assert sentence.distribution.marginals()[1, 2] == pytest.approx(right / (right + 1))
    rows = done(f"marginals {scores} --format jsonl").rows
    assert {row["marginals"][1][2][1] > 0 for row in rows} == {allowed}
    page = done(f"report {scores}").out.decode()
    data = json.loads(page.split('id="data">')[1].split("</script>")[0])
    assert data["broken"] == [[] if allowed else [[RULE, 2, [2], True]]] * 5
    for line in (f"decode {scores} --format jsonl", f"sample -k 3 --seed 1 {scores} --format jsonl"):
        whole = done(line).out
        assert done(f"{line} -j 2").out == whole
        parts = [done(f"{line} --shard {number}/2").out for number in (1, 2)]
        assert sorted(b"".join(parts).splitlines()) == sorted(whole.splitlines())

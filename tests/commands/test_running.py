"""How runs go: bad sentences among good ones, batches, workers and shards of parsers; no half file, no open file."""

from __future__ import annotations

import gc
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.streams import sentence_stream
from deptree_cli.io.parsers import adapter_of
from deptree_cli.io.scores import records
from tests.sample import DATA

GOLD = DATA / "gold.conllu"
LINES = (DATA / "scores.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
RAGGED = json.dumps({"sent_id": "bad-2", "scores": [[0, 1], [0]]}) + "\n"
NEGATIVE = json.dumps({"sent_id": "bad-3", "scores": [[float("nan")] * 3] * 2}) + "\n"


@pytest.fixture
def mixed(put):
    put("good.jsonl", "".join(LINES))
    put("mixed.jsonl", "".join(["oops\n", *LINES[:3], RAGGED, *LINES[3:], NEGATIVE]))


def each_of(lines: str) -> list[str]:
    return [" ".join(line.split()) for line in lines.split(";")]


def skipped(ran) -> list[str]:
    return [line.removeprefix("deptree: skipped: ") for line in ran.said if "skipped: " in line]


COMMANDS = """
    sample -k 3 --seed 7; sample -k 3 --seed 7 --jobs 4; sample -k 3 --seed 7 --format npz; swor --seed 7 -k 3;
    marginals; marginals --format npz; partition; partition --summary; inspect --json"""


@pytest.mark.quick
@pytest.mark.parametrize("line", each_of(COMMANDS))
def test_skip_gives_the_good_ones_and_names_the_others(deptree, done, mixed, line):
    ran = deptree(f"{line} mixed.jsonl --from natasha --on-error skip")
    good = done(f"{line} good.jsonl --from natasha --on-error skip")
    assert (ran.code, ran.out) == (1, good.out)
    assert skipped(good) == []
    starts = ["mixed.jsonl:1", "mixed.jsonl:5 (bad-2): ", "mixed.jsonl:11 (bad-3): "]
    for told in (ran, deptree(f"{line} mixed.jsonl --from natasha --on-error skip -q")):
        assert [said.startswith(start) for said, start in zip(skipped(told), starts, strict=True)] == [True] * 3
        assert "3 sentences" in told.said[-1]


@pytest.mark.parametrize("jobs", [1, 2])
def test_draws_depend_on_nothing_but_seed_name_and_how_often_it_came_before(done, jobs):
    twice = done(
        f"sample - --from natasha -k 3 --seed 7 --temperature 9 --jobs {jobs}", stdin="".join(LINES[:2] * 2).encode()
    )
    scores = np.load(DATA / "scores.npz")["en-2"]
    distribution = TreeDistribution(np.pad(scores.T, [(0, 0), (1, 0)]) / 9.0)
    for place, occurrence in ((3, 0), (9, 1)):
        heads = [row["heads"] for row in twice.rows[place : place + 3]]
        assert heads == distribution.sample(3, sentence_stream(7, "en-2", occurrence)).tolist()


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_first_error_ends_a_run_in_its_turn(deptree, done, put, jobs):
    """What comes before is written, and said, as it would be; where nothing does, there is one line, the error."""
    put("late.jsonl", "".join([*LINES[:2], RAGGED, *LINES]))
    ran = deptree(f"partition late.jsonl --from natasha --jobs {jobs}")
    assert (ran.code, ran.out.splitlines()) == (2, done("partition $SCORES").out.splitlines()[:2])
    assert [line.partition("): ")[0] for line in ran.said] == ["deptree: late.jsonl:3 (bad-2"]
    for bad in (0, 1):
        scores = np.ones((2, 3, 3))
        scores[bad, 1, 2] = np.nan
        put("square.npy", scores)
        ran = deptree(f"partition square.npy --jobs {jobs}")
        assert ["no --from given: reading as weights" in line for line in ran.said] == [True, False][1 - bad :]


def test_a_warning_is_given_once_however_many_sentences_have_it(done, put):
    put("l.json", (DATA / "labels.json").read_bytes().replace(b'"nsubj"', b'"other"'))
    options = "--conllu $GOLD --labels l.json --label-scores $DATA/label_scores.npz"
    ran = done(f"sample $SCORES --fix-heads --seed 7 {options}")
    assert ran.said == ["deptree: the label 'nsubj' is not in l.json: it is kept as annotated, unscored"]


def test_of_a_sentence_that_is_chosen_only_its_own_errors_count(done, mixed):
    """The rest is neither prepared nor heard of, and the chosen one keeps its random numbers."""
    line = "--from natasha --sentence en-3 -k 3 --seed 7 --format text"
    assert done(f"show mixed.jsonl --on-error fail {line}").out == done(f"show good.jsonl {line}").out


def test_ten_are_named_and_the_others_counted_by_kind(deptree, put):
    ragged = [RAGGED.replace("bad-2", f"p{number}") for number in range(30)]
    wide = [json.dumps({"sent_id": f"q{n}", "scores": [[1.0] * n] * 9}) + "\n" for n in range(11, 30)]
    put("many.jsonl", "".join([*ragged, *wide, *LINES]))
    *named, most, more, last = deptree("partition many.jsonl --from natasha --on-error skip -q").said
    assert [line.split(" (")[1].split(")")[0] for line in named] == [f"p{number}" for number in range(10)]
    assert most == "deptree: skipped: 20 more: the rows of the field scores differ in length."
    assert more == "deptree: skipped: 19 more: the scores have shape (..., ...), which is not that of a sentence."
    assert last == "deptree: 49 sentences skipped"


WRITING = """
    sample -k 3 -o out.jsonl; sample -k 3 -o out.npz; swor -o out.jsonl; marginals -o out.npz; partition -o out.jsonl;
    check-bias -k 10 -o out.jsonl"""


@pytest.mark.quick
@pytest.mark.parametrize("old", [None, b"an older result"], ids=["new", "existing"])
@pytest.mark.parametrize("line", each_of(WRITING))
def test_an_error_leaves_no_file(deptree, put, tmp_path, line, old):
    put("late.jsonl", "".join(LINES) + "oops\n")
    if old:
        put(line.split()[-1], old)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert deptree(f"{line} late.jsonl --from natasha").code == 2
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_success_replaces_an_older_file_and_keeps_its_mode(deptree, done, put, tmp_path):
    """Also where all sentences are skipped."""
    put("out.jsonl", b"an older result")
    put("bad.jsonl", "oops\n" * 2)
    (tmp_path / "out.jsonl").chmod(0o640)
    done("partition $SCORES -o out.jsonl")
    assert len((tmp_path / "out.jsonl").read_bytes().splitlines()) == 8
    assert deptree("partition bad.jsonl --on-error skip -q -o out.jsonl").code == 1
    assert (tmp_path / "out.jsonl").read_bytes() == b""
    assert (tmp_path / "out.jsonl").stat().st_mode & 0o777 == 0o640


OPEN = Path("/proc/self/fd")


@pytest.mark.quick
@pytest.mark.skipif(not OPEN.exists(), reason="this system does not list a process's open files")
@pytest.mark.parametrize("line", ["decode", "sample", "marginals -o out.npz", "swor -k 2", "check-bias -k 20"])
@pytest.mark.parametrize("suffix", [".npy", ".npz", ".jsonl"])
def test_an_error_closes_what_was_being_read(deptree, put, line, suffix):
    """The second of three sentences has a NaN; the third is never read. Without help of the garbage collector."""
    scores = np.random.default_rng(1).normal(size=(3, 4, 4))
    scores[1, 2, 3] = np.nan
    rows = "".join(f'{{"scores": {str(each.tolist()).replace("nan", "NaN")}}}\n' for each in scores)
    named = {str(number): each for number, each in enumerate(scores)}
    put(f"bad{suffix}", {".npy": scores, ".npz": named, ".jsonl": rows}[suffix])
    gc.collect()
    gc.disable()
    try:
        assert deptree(f"{line} bad{suffix} -q --from head-dep").code == 2
        assert not [each for each in OPEN.iterdir() if each.exists() and "bad" in str(each.readlink())]
    finally:
        gc.enable()


def written_lines() -> list[str]:
    """Sentences of all kinds: plain ones, with forbidden arcs, of one word, peaked, of huge scores, without a tree, no
    sentences at all; some names twice."""
    rng, rows = np.random.default_rng(3), []
    for number in range(40):
        n = 1 + number % 9
        scores = rng.normal(size=(n + 1, n + 1)) * (60 if number % 7 == 3 else 2)
        scores[0, 1:] += 1e6 * (number % 7 == 5)
        cells = scores.tolist()
        if number % 7 == 1:
            cells[0][-1] = cells[-1][0] = None
        rows.append({"sent_id": f"s{number % 30}", "scores": cells, "forms": [f"w{word}" for word in range(n)]})
    rows[11] = {"sent_id": "treeless", "scores": [[None] * 3] * 3, "forms": ["a", "b"]}
    rows[17] = {"sent_id": "not numbers", "scores": [[0, "1"], [1, 0]], "forms": ["a"]}
    return [*map(json.dumps, rows[:23]), "no JSON", *map(json.dumps, rows[24:])]


def trees_of(lines: list[str]) -> str:
    """Annotated trees of these sentences, and heads that are none: cycles, and words without a head."""
    sentences = []
    for number, line in enumerate(lines):
        row = json.loads(line) if line.startswith("{") else {"sent_id": "none", "forms": ["a"]}
        heads = [str((number + word) % (word + 1)) for word in range(len(row["forms"]))]
        heads[-1] = "_" if number % 5 == 2 else heads[-1]
        words = enumerate(zip(row["forms"], heads, strict=True), 1)
        rows = "".join(f"{at}\t{form}\t_\t_\t_\t_\t{head}\t_\t_\t_\n" for at, (form, head) in words)
        sentences.append(f"# sent_id = {row['sent_id']}\n{rows}\n")
    return "".join(sentences)


BATCHES = """
    sample --seed 7; sample --seed 7 -k 3 --multi-root --format conllu;
    sample --seed 7 -k 2 --temperature 0.5 --format npy; decode; decode --format conllu --multi-root;
    decode --format npy; marginals; marginals --format npy;
    marginals --format conllu; partition; partition --tsv --multi-root; doubt --rank entropy;
    doubt --rank tree-prob --conllu trees.conllu; doubt --conllu trees.conllu --projective;
    doubt --rank margin --conllu trees.conllu --multi-root --format conllu; expect entropy;
    expect entropy --tsv --projective; score trees.conllu; score trees.conllu --projective --tsv;
    report --top 7 -o page.html; report --conllu trees.conllu --gold trees.conllu -o page.html;
    report --conllu trees.conllu --projective -o page.html; inspect; inspect --gold trees.conllu;
    inspect --conllu trees.conllu --multi-root"""


@pytest.mark.parametrize("line", each_of(BATCHES))
def test_the_bytes_of_a_batch_are_those_of_each_sentence_alone(deptree, monkeypatch, put, line):
    """Whatever stands between sentences: with errors that are skipped, that are not, and in a shard."""
    put("scores.jsonl", "\n".join(written_lines()) + "\n")
    put("trees.conllu", trees_of(written_lines()))
    name, others = (*line.split(maxsplit=1), "")[:2]
    quantity = ["entropy"] * (name == "expect")
    words = [name, *quantity, "scores.jsonl", "--from", "head-dep,log", *others.split()[len(quantity) :]]
    page = Path("page.html")

    def ran() -> list:
        runs = [deptree(*words, *more) for more in (["--on-error=skip"], [], ["--on-error=skip", "--shard=2/3"])]
        return [replace(each, out=each.out + (page.read_bytes() if page.exists() else b"")) for each in runs]

    together = ran()
    monkeypatch.setattr(records.Interpretation, "batch", lambda how, read: None)
    assert together == ran()
    assert [each.code for each in together[:2]] == [1, 2]


def test_many_sentences_are_worked_on_together_and_a_fault_of_ours_is_not_taken_for_bad_input(done, monkeypatch):
    sizes, batch = [], records.Interpretation.batch
    monkeypatch.setattr(records.Interpretation, "batch", lambda how, read: sizes.append(len(read)) or batch(how, read))
    done("partition $DATA/scores.jsonl --from natasha")
    assert sizes == [1, 2, 4, 1]
    monkeypatch.setattr(records.Interpretation, "batch", lambda how, read: len(None))
    with pytest.raises(TypeError, match="NoneType"):
        done("partition $SCORES --on-error skip")


def test_draws_that_are_skipped_are_named_and_counted(deptree, done, put):
    """A sentence without its last tree, one whose numbers are none, and sound ones before, between and behind."""
    rows = done("swor $SCORES -k 3 --seed 7").out.splitlines(keepends=True)
    rows[9] = rows[9].replace(b'"log_prob":-', b'"log_prob":', 1)
    del rows[5]
    put("draws.jsonl", b"".join(rows))
    refused = deptree("estimate draws.jsonl -o out.jsonl")
    assert (refused.code, refused.out) == (2, b"")
    assert all(line.startswith("deptree: deptree|estimate|") for line in refused.said[:-1])
    assert refused.said[-1].startswith("deptree: draws.jsonl:5 (en-2): the sentence's last tree, which carries tau,")
    assert not Path("out.jsonl").exists()
    ran = deptree("estimate draws.jsonl --on-error skip")
    put("sound.jsonl", b"".join(row for row in rows if b'"en-2"' not in row and b'"en-4"' not in row))
    assert (ran.code, ran.out) == (1, done("estimate sound.jsonl").out)
    assert "draws.jsonl:5 (en-2): " in skipped(ran)[0]
    assert "draws.jsonl:9 (en-4): log_prob is not the logarithm" in skipped(ran)[1]
    assert ran.said[-1] == "deptree: 2 sentences skipped"


class Failing:  # gives no numbers for sentences of three words, and scores that count the words for others
    labels = ("x", "y")

    def scores(self, batch, labelled):
        sizes = [len(words) + 1 for words in batch]
        arcs = [np.full((size, size), np.nan if size == 4 else size, dtype=np.float32) for size in sizes]
        return [(each, np.zeros((*each.shape, 2), dtype=np.float32) if labelled else None) for each in arcs]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("size", [1, 4, 32])
def test_sentences_that_cannot_be_read_or_that_a_parser_cannot_score(deptree, put, monkeypatch, size, workers):
    """en-2 is malformed, en-4 has three words; the others of their batch come through, into every file."""
    monkeypatch.setattr("deptree_cli.io.parsers.adapters.load_supar", lambda model: Failing())
    adapter_of.cache_clear()
    put("bad.conllu", GOLD.read_bytes().replace(b"3\tn't", b"4\tn't"))
    line = f"--model m -o s.npz --batch {size} --jobs {workers}"
    refused, left = deptree(f"dump supar $GOLD {line}"), [path.name for path in Path.cwd().iterdir()]
    ran = deptree(f"dump supar bad.conllu {line} --on-error skip")
    adapter_of.cache_clear()
    assert (refused.code, left) == (2, ["bad.conllu"])
    assert "en-4: supar gave scores that are not numbers" in refused.said[-1]
    assert ran.code == 1
    assert skipped(ran)[0].startswith("bad.conllu:18 (en-2): ")
    assert skipped(ran)[1:] == ["en-4: supar gave scores that are not numbers. Check its model."]
    assert ran.said[-1] == "deptree: 2 sentences skipped"
    sound = ["en-1", "en-3", "cs-1", "cs-2", "ru-1", "ru-2"]
    with np.load("s.npz") as found:
        assert [name for name in found if not name.startswith("deptree/")] == sound
        assert all((found[name] == len(found[name])).all() for name in sound)
        for part in ("conllu", "label_scores"):
            assert [name.rpartition("/")[2] for name in found if name.startswith(f"deptree/{part}/")] == sound
        assert json.loads(found["deptree/labels"].tobytes()) == ["x", "y"]

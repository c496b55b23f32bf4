"""CoNLL-U out is CoNLL-U in but for the trees, byte for byte: of nasty files, of several in one, of CoNLL-U Plus."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.cli.options import OUTPUT
from deptree_cli.core.spaces import SINGLE_ROOT
from deptree_cli.hpyp import Parser
from deptree_cli.io.conllu.columns import BOM
from tests.commands.sessions import hold_session
from tests.commands.test_report import data_of
from tests.every_command import COMMANDS, ENTRIES, command
from tests.plus import MIXED, from_plus, to_plus
from tests.sample import DATA
from tests.tree_files import read_blocks

GOLD = (DATA / "gold.conllu").read_text(encoding="utf-8")

# What real files hold and serialisers lose: free text, repeated keys, empty comments, a second = in MISC, empty nodes.
NASTY = """\
# newdoc id = d1
# sent_id = n/1
# text = Don't panic, = they said
#no space
#
# note = first
# note = second
# sent_id = a second name is only a comment
1-2	Don't	_	_	_	_	_	_	_	SpaceAfter=No|A=b=c
1	Do	do	AUX	_	_	2	aux	2:aux	X=y=z|Ref=1-2
2	n't	not	PART	_	_	0	root	0:root	_
2.1	be	be	AUX	_	_	_	_	0:root	CopyOf=1
3	panic	panic	VERB	_	_	2	conj	2:conj|2.1:x	 leading space

1	Ещё	ещё	ADV	_	_	_	_	_	SpaceAfter=No
2	\u00a0	_	X	_	_	_	_	_	_


#sent_id=third
# text = \u2028 is no newline
1	one	one	NUM	_	_	0	root	_	_
"""
ADDED = re.compile(r"# (generator|tree_logprob|tree_count|swor_[a-z_]+) = ")


def sentences(data: bytes) -> list[tuple[str, list[str], list[list[str]]]]:
    """Of each sentence its name, all else but what we write or drop, and HEAD, DEPREL and DEPS of its words."""
    found = []
    for number, block in enumerate(re.split(r"(?:\r?\n){2,}", data.decode().strip("\ufeff\r\n")), 1):
        lines = [line for line in re.split(r"\r?\n", block) if not ADDED.match(line) and not re.match(r"\d+\.", line)]
        at = next((at for at, line in enumerate(lines) if re.match(r"#\s*sent_id\s*=", line)), None)
        name = str(number) if at is None else lines.pop(at).partition("=")[2].strip()
        rows = [line.split("\t") for line in lines]
        rest = ["\t".join([*row[:6], row[9]] if row[0].isdigit() else row) for row in rows]
        found.append((name, rest, [row[6:9] for row in rows if row[0].isdigit()]))
    return found


def assert_spliced(before: bytes, after: bytes, k: int) -> None:
    """Every sentence k times, with k trees of one root.

    `root` stands exactly there, a DEPREL is kept with its HEAD, else `dep` stands there; DEPS with the whole tree.
    """
    copies = [(*each, rank) for each in sentences(before) for rank in range(1, k + 1)]
    for (name, rest, old, rank), (new_name, new_rest, new) in zip(copies, sentences(after), strict=True):
        assert (new_name, new_rest) == (f"{name}/sample_{rank}", rest)
        assert SINGLE_ROOT.contains(np.array([[int(head) for head, *_ in new]]))[0]
        is_own = [arc[:2] for arc in old] == [arc[:2] for arc in new]
        for (old_head, old_label, deps), arc in zip(old, new, strict=True):
            label = old_label if arc[0] == old_head and old_label != "_" else "dep"
            assert arc == [arc[0], "root" if arc[0] == "0" else label, deps if is_own else "_"]


@pytest.mark.quick
@pytest.mark.parametrize("last", [b"\n", b"\n\n", b""], ids=["one newline", "an empty line", "no newline"])
@pytest.mark.parametrize("bom", [b"", BOM], ids=["", "bom"])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"], ids=["lf", "crlf"])
def test_nasty_files_survive(done, put, newline, bom, last) -> None:
    text = (bom + NASTY.encode().rstrip(b"\n") + last).replace(b"\n", newline)
    put("nasty.conllu", text)
    put("s.jsonl", "".join(json.dumps({"scores": np.ones((n, n)).tolist()}) + "\n" for n in (4, 3, 2)))
    out = done("sample s.jsonl --from=head-dep --conllu nasty.conllu -k 4 --seed 7").out
    assert_spliced(text, out, 4)
    assert (out.startswith(bom), out.count(BOM)) == (True, len(bom) // 3)
    assert out.endswith(last.replace(b"\n", newline))
    assert out.count(b"\r") == (out.count(b"\n") if newline == b"\r\n" else 0)


@pytest.fixture
def findings(udvalidate):
    """What the UD validator says of a file at level 2, without where."""

    def find(path: Path) -> set[str]:
        ran = udvalidate(path, 2)
        said = ran.stdout + ran.stderr
        assert re.search(r"PASSED|FAILED", said), said
        return {re.sub(r"^\[Line.*?\]: (?=\[)", "", line) for line in said.splitlines() if line.startswith("[Line")}

    return find


@pytest.mark.slow("process")
@pytest.mark.parametrize(
    "line",
    ["sample --seed 7", "sample -k 3 --seed 7", "sample -k 30 --unique --seed 7", "swor -k 3 --seed 7", "marginals"],
)
def test_the_validator_finds_nothing_new(done, put, findings, line: str) -> None:
    done(f"{line} $SCORES --conllu $GOLD -o out.conllu")
    assert findings(Path("out.conllu")) <= findings(DATA / "gold.conllu")
    bad = put("bad.conllu", GOLD.replace("\t2\tnsubj", "\t0\troot", 1))
    assert "multiple-roots" in "".join(findings(Path(bad)))


@pytest.mark.slow("process")
@pytest.mark.parametrize("treebank", ["sample_data", "real_ru"], indirect=True)
def test_a_whole_treebank(done, findings, treebank) -> None:
    for name in ("gold.conllu", "sentences.conllu"):
        scores = f"{treebank}/scores.npz --from natasha --conllu {treebank / name}"
        done(f"sample {scores} -k 3 --seed 7 -q --jobs 2 -o {name}")
        assert_spliced((treebank / name).read_bytes(), Path(name).read_bytes(), 3)
    assert findings(Path("gold.conllu")) <= findings(treebank / "gold.conllu")


def test_udapi_reads_samples_as_zones_of_one_bundle(done) -> None:
    document = pytest.importorskip("udapi.core.document", reason="udapi is not installed")
    done("sample $SCORES --conllu $GOLD -k 3 --seed 7 -o out.conllu")
    read = document.Document("out.conllu")
    zones = [[tree.zone for tree in bundle.trees] for bundle in read.bundles]
    assert zones == [["sample_1", "sample_2", "sample_3"]] * 8
    assert [node.form for node in read.bundles[0].trees[2].descendants][:3] == ["She", "saw", "the"]


def writes_conllu(name: str) -> bool:
    found = {each.name: each for each in command(name).params}
    return "fmt" in found and "conllu" in getattr(found["fmt"].type, "choices", ())


def reads_sentences(name: str) -> bool:
    """Beside scores; `diff` reads and writes those of trees."""
    return name != "diff" and {"scores", "conllu"} <= {each.name for each in command(name).params}


@pytest.mark.parametrize("how", ["--format conllu", "-o out.conllu", "-o out.conllu.gz"])
@pytest.mark.parametrize("errors", ["fail", "skip"])
@pytest.mark.parametrize("name", [name for name in COMMANDS if writes_conllu(name) and reads_sentences(name)])
def test_no_sentences_are_noticed_before_anything_is_read(refused, put, name, errors, how, tmp_path) -> None:
    """Also before the scores, which are damaged; a file of JSON Lines may have words of its own."""
    put("scores.npz", {"a": np.ones((2, 2)), "b": np.full((2, 2), np.nan)})
    put("scores.jsonl", '{"scores": [[0, 1], [0, 0]]}\n' * 2)
    files = sorted(tmp_path.iterdir())
    mixture = "--method mixture" if name == "combine" else ""  # a product is scores, and no sentences
    for scores in ("scores.npz", "scores.jsonl"):
        says = f"{scores}: there are no sentences to write as CoNLL-U. Name them with --conllu FILE."
        refused(f"{name} {scores} {mixture} {how} --on-error {errors}", says)
    assert sorted(tmp_path.iterdir()) == files


@pytest.mark.parametrize("header", ["", '{"signature": "deptree|dump|from:treesample"}\n'])
@pytest.mark.parametrize("name", ["sample", "swor", "decode", "marginals"])
def test_words_beside_the_scores_are_sentences_enough(done, put, name, header) -> None:
    put("s.jsonl", header + '{"scores": [[0, 1], [0, 0]], "forms": ["one"]}\n')
    for path in ("s.jsonl", "-"):
        assert b"1\tone\t" in done(f"{name} {path} --format conllu -q", stdin=Path("s.jsonl").read_bytes()).out


# Commands that write sentences of several files, here S or R, and ways that their bytes take.
SEVERAL = [
    "decode S",
    "decode S -k 2",
    "sample S --seed 7",
    "sample S --seed 7 -k 300",
    "sample S --seed 7 --jobs 2",
    "swor S --seed 7 -k 2",
    "marginals S",
    "doubt S --format conllu",
    "hpyp parse R",
    "hpyp parse R -k 2 --tags predict --seed 3",
    "hpyp surprisal R --seed 3",
]
OF_ONE_FILE = {"combine", "diff", "dump", "hpyp generate"}  # or of none


def may_write_several(name: str) -> bool:
    found = {each.name: each for each in command(name).params}
    has_output = "sentences" in found and found["sentences"].type is OUTPUT
    listed = name in OF_ONE_FILE or any(line.startswith(f"{name} ") for line in SEVERAL)
    return not listed and (has_output or writes_conllu(name))


SEVERAL += [f"{name} S" for name in COMMANDS if may_write_several(name)]
ENDS = ["", "\n", "\n\n", "\n\n\n", "\n ", "\n \n", "\n\n \t"]
ROWS = "1\tBirds\tbird\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tsing\tsing\tVERB\t_\t_\t0\troot\t_\t_"
FIRST, SECOND = (f"# sent_id = {name}\n{ROWS}".encode() for name in "ab")


@pytest.fixture(scope="session")
def models(tmp_path_factory) -> dict[str, bytes]:
    """Parsers of a single sentence and of the gold trees."""
    folder = tmp_path_factory.mktemp("models")
    for name, text in {"tiny": f"{ROWS}\n\n", "gold": GOLD}.items():
        (folder / "train.conllu").write_text(text, encoding="utf-8")
        Parser.train(folder / "train.conllu", iterations=1, seed=1).save(folder / f"{name}.npz")
    return {path.stem: path.read_bytes() for path in folder.glob("*.npz")}


@pytest.fixture
def glued(deptree, put, models):
    """Run a line of several files, those of some names."""
    for name in "ab":
        put(f"{name}.jsonl", json.dumps({"sent_id": name, "scores": [[0, 1, 3], [0, 0, 1], [0, 2, 0]]}) + "\n")
    put("model.npz", models["tiny"])

    def run(line: str, names: str):
        files, texts = ([f"{name}.{suffix}" for name in names] for suffix in ("jsonl", "conllu"))
        scores = " ".join([*files, "--from head-dep", *(f"--conllu {text}" for text in texts)])
        return deptree(line.replace("S", scores).replace("R", f"model.npz {' '.join(texts)} --particles 5"))

    return run


def names_in(data: bytes) -> list[str]:
    """The sentences of what was written, without ranks."""
    return [block.sent_id.partition("/")[0] for block in read_blocks(io.BytesIO(data), "output")]


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("line", SEVERAL)
def test_an_empty_line_between_sentences_of_several_files(glued, put, line, newline) -> None:
    """Between the files an empty line, at the very end what the last file has; all else as from files that end well."""
    put("b.conllu", (BOM + SECOND + b"\n\n").replace(b"\n", newline))
    found = set()
    for end in ENDS:
        put("a.conllu", (BOM + FIRST + end.encode()).replace(b"\n", newline))
        out = glued(f"{line} --no-header", "ab").out
        assert sorted(set(names_in(out))) == ["a", "b"]
        assert out.count(BOM) == out.startswith(BOM)
        assert out.count(b"\r") == (out.count(b"\n") if newline == b"\r\n" else 0)
        found.add(re.sub(rb"(\r?\n)\s+", rb"\1\1", out))
    assert len(found) == 1


@pytest.mark.parametrize("line", SEVERAL)
def test_one_file_ends_as_it_did(glued, put, line) -> None:
    """But for a ranking, whose last sentence is not the last of the file; a comment without a sentence is named."""
    for end in ENDS:
        put("a.conllu", BOM + FIRST + end.encode())
        out = glued(f"{line} --no-header", "a").out
        is_ranking = line.startswith("doubt")
        assert out.startswith(BOM) != is_ranking
        assert out.endswith(b"\n\n") if is_ranking else out[len(out.rstrip()) :] == end.encode()
    put("a.conllu", FIRST + b"\n\n# the end")
    put("b.conllu", SECOND)
    ran = glued(line, "ab")
    assert ran.code == 2
    assert ran.said[-1].startswith("deptree: a.conllu:5: comments without a sentence.")


def test_a_report_exports_sentences_of_several_files(glued, put) -> None:
    put("b.conllu", BOM + SECOND)
    for end in ENDS:
        put("a.conllu", BOM + FIRST + end.encode())
        text = "".join(data_of(glued("report S", "ab").out)["conllu"]).encode()
        assert names_in(text) == ["a", "b"]
        assert text.startswith(BOM + FIRST)
        assert text.endswith(b"\n" + SECOND)


WORDS = "scores.npz --from natasha --conllu words.conllup"

# Lines whose sentences, words.conllup, are CoNLL-U in the first run and CoNLL-U Plus in the second.
PLUS = [
    f"sample {WORDS} -k 2 --seed 1",
    f"sample {WORDS} --fix-heads --seed 1",
    f"swor {WORDS} -k 2 --seed 1",
    f"decode {WORDS} -k 2 --deps basic --jobs 2",
    f"decode {WORDS} --rules tree --deps keep",
    f"marginals {WORDS}",
    f"marginals {WORDS} --tsv",
    "score scores.npz --from natasha words.conllup",
    "eval words.conllup words.conllup --seed 1",
    "agree words.conllup words.conllup",
    "diff words.conllup words.conllup --format conllu",
    "check words.conllup",
    "repair words.conllup --projective",
    f"doubt {WORDS} --format conllu --top 3",
    f"doubt {WORDS} --json",
    f"partition {WORDS} --fix-heads",
    "expect risk scores.npz --from natasha --gold words.conllup",
    "calibrate scores.npz --from natasha --gold words.conllup",
    "combine scores.npz:natasha words.conllup --conllu words.conllup",
    "check-bias scores.npz --from natasha --samples words.conllup",
    "estimate words.conllup",
    f"inspect {WORDS} --json",
    f"show {WORDS} --sentence en-1",
    f"report {WORDS} -o report.html",
    f"convert {WORDS} -o out.npy --to log",
    "hpyp train words.conllup -o out.npz --iterations 1 --seed 1",
    "hpyp parse model.npz words.conllup --particles 5 --tags predict -k 2 --seed 1",
    "hpyp surprisal model.npz words.conllup --particles 5 --seed 1",
    "hpyp perplexity model.npz words.conllup --particles 5 --seed 1",
]
LISTED = {name for name in COMMANDS for line in PLUS if line.startswith(f"{name} ")}
PLUS += [f"{name} {WORDS}" for name, entry in ENTRIES.items() if entry.reads == "scores" and name not in LISTED]

# What makes sentences for commands that read samples.
DRAWN = {
    "estimate": "swor $SCORES --conllu $GOLD -k 3 --seed 1",
    "check-bias": "sample $SCORES --conllu $GOLD -k 50 --seed 1",
}


@pytest.fixture
def plus(put, models) -> None:
    put("scores.npz", (DATA / "scores.npz").read_bytes())
    put("model.npz", models["gold"])
    put("words.conllup", to_plus(GOLD))
    put("gold.conllu", GOLD)


@pytest.mark.parametrize("line", PLUS)
def test_conllu_plus_gives_the_same_results(deptree, done, put, plus, line) -> None:
    drawn = DRAWN.get(line.split()[0])
    given = done(drawn).out.decode() if drawn else GOLD
    runs = []
    for text in (given, to_plus(given)):
        put("words.conllup", text)
        ran = deptree(line)
        runs.append((ran.code, ran.err, [each.read_bytes() for each in Path.cwd().glob("out.*")], ran.out.decode()))
    *plain, out = runs[0]
    *same, text = runs[1]
    assert same == plain
    assert plain[0] in (0, 1, 3), plain[1]
    assert (from_plus(text) if text.startswith("# global") else text) == out
    assert text.startswith("# global") == ("\t_\t" in out and "sent_id\t" not in out)


def test_a_report_has_the_columns_of_its_sentences(done, plus) -> None:
    data = data_of(done(f"report {WORDS}").out)
    assert from_plus("".join(data["conllu"])) == GOLD
    assert data["columns"] == [name.lower() for name in MIXED]


def test_a_session_of_other_columns(deptree, golden, put, plus) -> None:
    """Files of other columns together are read but not written; what has no column is named in a line."""
    one = GOLD.partition("\n\n")[0] + "\n\n"
    put("one.conllu", one)
    put("mixed.conllup", to_plus(one))
    put("heads.conllup", to_plus(one, ["ID", "FORM", "HEAD"]))
    put("forms.conllup", to_plus(one, ["ID", "FORM"]))
    put("scores.npz", {"en-1": np.load(DATA / "scores.npz")["en-1"]})
    hold_session(deptree, golden, "conllu_plus.txt")


@pytest.mark.parametrize("more", ["--shard 2/2", "--shard 1/2 --jobs 2", "-k 3", "--no-header"])
def test_columns_are_named_first_and_once(done, plus, more) -> None:
    """Also where the first sentence is not the first of the file, and in what comes on standard input."""
    text = to_plus(GOLD)
    ran = done(f"decode $SCORES --conllu - {more}", stdin=text.encode())
    assert ran.out.startswith(text.partition("\n")[0].encode() + b"\n# ")
    assert ran.out.count(b"global.columns") == 1
    assert "sent_id" in from_plus(ran.out.decode())

"""Bad input one by one: exit status 2, one line that says where, what and what to do, and nothing on stdout."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

DATA = Path(__file__).parents[2] / "sample_data"
SCORES = (DATA / "scores.npz", "--from", "natasha")
SENTENCES = (DATA / "sentences.conllu").read_text(encoding="utf-8")
COMMANDS = ["sample", "swor", "decode", "marginals", "partition", "check-bias", "inspect"]


@dataclass(frozen=True)
class Bad:
    """A command line, the files it meets, and what its one line must say."""

    name: str
    args: tuple[Any, ...]
    says: tuple[str, ...]
    files: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


def matrix(*cells: tuple[Any, Any, float]) -> np.ndarray:
    """Three words, all arcs of weight 1 but for some cells."""
    weights = np.ones((4, 4))
    for head, dependent, weight in cells:
        weights[head, dependent] = weight
    return weights


def npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=array.dtype.hasobject)
    return stream.getvalue()


def zipped(**entries: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return stream.getvalue()


def jsonl(*objects: Any) -> str:
    return "".join(json.dumps(each) + "\n" for each in objects)


def line_changed(number: int, old: str, new: str) -> str:
    """The sample sentences with something replaced in one line."""
    lines = SENTENCES.splitlines(keepends=True)
    assert old in lines[number - 1]
    lines[number - 1] = lines[number - 1].replace(old, new)
    return "".join(lines)


def one(name: str, array: Any, *says: str, options: tuple[str, ...] = (), **more: Any) -> Bad:
    """A bad matrix in a .npy of its own."""
    return Bad(name, ("partition", "bad.npy", *options), ("bad.npy", "(1)", *says), {"bad.npy": array, **more})


# As stanza and supar hold it: rows are dependents, and ROOT depends on nothing.
DEP_HEAD = np.zeros((4, 4))
DEP_HEAD[0] = -np.inf

TWO_ISLANDS = np.zeros((5, 5))
TWO_ISLANDS[[0, 1, 3, 4], [1, 2, 4, 3]] = 1

SENTENCE = [
    one("NaN", matrix((1, 2, np.nan)), "1 -> 2", "NaN", "--nan-forbids"),
    one("NaN of ROOT", matrix((0, 2, np.nan)), "ROOT -> 2", "NaN"),
    one("+inf among weights", matrix((1, 2, np.inf)), "1 -> 2", "inf"),
    one("+inf among log-scores", matrix((1, 2, np.inf)), "1 -> 2", "inf", options=("--scale", "log")),
    one("negative weight", matrix((1, 2, -0.25)), "1 -> 2 (-0.25)", "negative", "--scale log"),
    one("not square", np.ones((3, 6)), "(3, 6)"),
    one("one dimension", np.ones(4), "(4,)"),
    one("a label axis", np.ones((2, 4, 4, 3)), "(2, 4, 4, 3)"),
    one("n = 0", np.ones((1, 1)), "(1, 1)", "without words"),
    one("no numbers at all", np.ones((0, 0)), "(0, 0)", "without words"),
    one("a word without a head", matrix((slice(None), 2, 0)), "no single-root tree is possible", "word 2 has no head"),
    one("the same among log-scores", matrix((slice(None), 2, -np.inf)), "word 2 has no head", options=("--scale=log",)),
    one("no arc from ROOT", matrix((0, slice(None), 0)), "no word may attach to ROOT"),
    one(
        "two words under ROOT only", matrix((slice(1, 4), slice(2, 4), 0)), "words 2 and 3", "ROOT only", "--multi-root"
    ),
    one("no tree", TWO_ISLANDS, "no single-root tree is possible", "words 3 and 4 cannot be reached"),
    one("no spanning tree", TWO_ISLANDS, "words 3 and 4 cannot be reached from ROOT", options=("--multi-root",)),
    one("ROOT on the diagonal of a rectangle", np.ones((3, 4)), "(3, 4)", "--root", options=("--root", "diagonal")),
    one("wide against head-dep", np.ones((3, 4)), "--orient head-dep", "(3, 4)", options=("--orient", "head-dep")),
    one("tall against dep-head", np.ones((4, 3)), "--orient dep-head", "(4, 3)", options=("--orient", "dep-head")),
    one("wide against a preset", np.ones((3, 4)), "--from synjax reads head-dep", options=("--from", "synjax")),
    one(
        "what was assumed and may be why", DEP_HEAD, "no word may attach to ROOT", "--orient", options=("--scale=log",)
    ),
    Bad("the key", ("partition", "b.npz"), ("b.npz[two]", "NaN"), {"b.npz": {"two": matrix((1, 2, np.nan))}}),
    Bad(
        "file:line (sent_id)",
        ("partition", "b.jsonl"),
        ("b.jsonl:3 (x-7): ", "negative"),
        {"b.jsonl": "\n\n" + jsonl({"sent_id": "x-7", "scores": matrix((1, 2, -1)).tolist()})},
    ),
]

OBJECTS = np.array([np.ones((4, 4)), np.ones((3, 3))], dtype=object)
ONE = (DATA / "one.npy").read_bytes()
NPZ = (DATA / "scores.npz").read_bytes()


def container(name: str, path: str, content: Any, *says: str) -> Bad:
    return Bad(name, ("partition", path), (path, *says), {path: content})


CONTAINERS = [
    Bad("no such file", ("partition", "scoer.npz"), ("scoer.npz", "Did you mean score.npz?"), {"score.npz": b"x"}),
    Bad("no such folder", ("partition", "folder/x.npz"), ("folder/x.npz", "no such file")),
    Bad("a folder", ("partition", DATA), ("sample_data", "folder")),
    container("empty", "a.npy", b"", "empty"),
    container("empty .npz", "a.npz", b"", "empty"),
    container("empty .jsonl", "a.jsonl", b"", "empty"),
    container("an archive of nothing", "a.npz", {}, "no arrays"),
    container("data cut short", "a.npy", ONE[:-100], "cut short"),
    container("header cut short", "a.npy", ONE[:30], "header"),
    container("archive cut short", "a.npz", NPZ[: len(NPZ) // 2], "cut short"),
    container("object array", "a.npy", OBJECTS, "object array", "runs code", "np.savez"),
    container("object array in an archive", "a.npz", {"x": OBJECTS}, "[x]", "object array", "runs code"),
    container("pickle", "a.pkl", pickle.dumps([1]), "pickle", "runs code", "np.savez"),
    container("pickle named .npy", "a.npy", pickle.dumps([1]), "pickle", "runs code"),
    container("torch", "a.pt", zipped(**{"archive/data.pkl": b"x"}), "torch", "may run code", "np.savez"),
    container("torch named .npz", "a.npz", zipped(**{"archive/data.pkl": b"x"}), "torch", "may run code"),
    container("zip of something else", "a.npz", zipped(**{"a.txt": b"x"}), "a.txt"),
    container("HDF5", "a.h5", b"\x89HDF\r\n\x1a\n" + bytes(64), "HDF5", "np.savez"),
    container("HDF5 named .npy", "a.npy", b"\x89HDF\r\n\x1a\n" + bytes(64), "HDF5"),
    container("sentences instead of scores", "a.conllu", SENTENCES, "sentences", "--conllu"),
    container("prose", "a.txt", "hello\n", ".npz, .npy, .safetensors or .jsonl"),
    container("text", "a.npy", np.array([["a", "b"], ["c", "d"]]), "not real numbers"),
    container("complex numbers", "a.npy", np.ones((3, 3), complex), "complex"),
    container("a damaged gzip", "a.npy.gz", b"\x1f\x8b\x08\x00" + bytes(20), "cannot be read"),
    container("not JSON", "a.jsonl", '{"scores": [[0, 1\n', "a.jsonl:1", "not JSON"),
    container("a list", "a.jsonl", "[1, 2]\n", "a.jsonl:1", "object"),
    container("no scores", "a.jsonl", jsonl({"sent_id": "x"}), "a.jsonl:1 (x)", "scores"),
    container("ragged", "a.jsonl", jsonl({"sent_id": "x", "scores": [[0, 1], [0]]}), "a.jsonl:1 (x)", "differ"),
    container("a number beyond floats", "a.jsonl", jsonl({"scores": [[0, 10**400], [0, 0]]}), "a.jsonl:1"),
    container(
        "a name that is no text", "a.jsonl", jsonl({"sent_id": "\ud800", "scores": [[0, 1], [0, 0]]}), "a.jsonl:1"
    ),
    container("words for scores", "a.jsonl", jsonl({"scores": [[0, "x"], [0, 0]]}), "a.jsonl:1", "not a number"),
]


def conllu(name: str, content: str, *says: str) -> Bad:
    return Bad(name, ("sample", *SCORES, "--conllu", "a.conllu"), says, {"a.conllu": content})


SHORTER = SENTENCES.replace("8\t.\t.\tPUNCT\t_\t_\t_\t_\t_\t_\n", "", 1)

CONLLU = [
    conllu("9 columns", line_changed(6, "\t_\n", "\n"), "a.conllu:6", "9 columns"),
    conllu("spaces for tabs", line_changed(6, "\t", " "), "a.conllu:6", "1 column"),
    conllu("ids that jump", line_changed(6, "3\t", "4\t"), "a.conllu:6", "'4' where 3 is due"),
    conllu(
        "a HEAD that is no number", line_changed(6, "\t_\t_\t_\t_\n", "\tx\t_\t_\t_\n"), "a.conllu:6", "HEAD is 'x'"
    ),
    conllu("a HEAD beyond", line_changed(6, "\t_\t_\t_\t_\n", "\t9\t_\t_\t_\n"), "a.conllu:6", "HEAD is '9'", "0 to 8"),
    conllu("comments only", "# sent_id = x\n\n", "a.conllu:1", "without a sentence"),
    conllu("no sentences", "\n\n", "a.conllu", "is 0"),
    conllu("empty", "", "a.conllu", "empty"),
    conllu("another length", SHORTER, "scores.npz[en-1] (en-1)", "8 words", "7", "a.conllu:1"),
    Bad(
        "another length by order",
        ("sample", DATA / "scores_stream.npy", "--from", "supar", "--conllu", "a.conllu"),
        ("scores_stream.npy", "en-1", "8 words", "7", "a.conllu:1"),
        {"a.conllu": SHORTER},
    ),
    Bad("no such sentences", ("sample", *SCORES, "--conllu", "b.conllu"), ("b.conllu", "no such file")),
    Bad("a folder of sentences", ("sample", *SCORES, "--conllu", DATA), ("sample_data", "folder")),
    Bad("scores for sentences", ("sample", *SCORES, "--conllu", DATA / "one.npy"), ("one.npy",)),
    Bad("not UTF-8", ("sample", *SCORES, "--conllu", "a"), ("a:", "UTF-8"), {"a": b"# sent_id = \xff\n1" + b"\t_" * 9}),
]

COUNTS = [
    Bad(
        "fewer sentences than matrices",
        ("sample", DATA / "scores.jsonl", "--from", "natasha", "--conllu", "a.conllu"),
        ("scores.jsonl", "is 8", "a.conllu", "is 7"),
        {"a.conllu": SENTENCES[: SENTENCES.index("# sent_id = ru-2")]},
    ),
    Bad(
        "more sentences than matrices",
        ("sample", "a.jsonl", "--from", "natasha", "--conllu", DATA / "sentences.conllu"),
        ("a.jsonl", "is 2", "sentences.conllu", "is 8"),
        {"a.jsonl": b"".join((DATA / "scores.jsonl").read_bytes().splitlines(keepends=True)[:2])},
    ),
    Bad(
        "more sentences than keys",
        ("sample", *SCORES, "--conllu", "a.conllu"),
        ("a.conllu:86 (ru-3)", "scores.npz", "key"),
        {"a.conllu": SENTENCES + SENTENCES[SENTENCES.index("# sent_id = ru-2") :].replace("ru-2", "ru-3")},
    ),
    Bad(
        "fewer lengths than matrices",
        ("sample", DATA / "scores.npy", "--from", "supar", "--lengths", "l.txt"),
        ("scores.npy", "matrices is 8", "lengths 3"),
        {"l.txt": "8\n8\n8\n"},
    ),
    Bad(
        "another order",
        ("sample", "a.jsonl", "--from", "natasha", "--conllu", DATA / "sentences.conllu"),
        ("a.jsonl:2", "out of step", "'en-3'", "'en-2'"),
        {"a.jsonl": b"".join((DATA / "scores.jsonl").read_bytes().splitlines(keepends=True)[i] for i in (0, 2, 1))},
    ),
]

TWINS = jsonl({"sent_id": "twins", "scores": [[0, 1], [0, 0]]}) * 2
BATCH = (DATA / "scores.npy", "--from", "supar")

OPTIONS = [
    Bad("unknown command", ("sampel", *SCORES), ("sampel", "sample")),
    Bad("unknown option", ("sample", *SCORES, "--frobnicate"), ("--frobnicate",)),
    Bad("a typo in an option", ("sample", *SCORES, "--sed", 7), ("--sed", "--seed")),
    Bad("no scores", ("sample",), ("SCORES",)),
    Bad("one file too many", ("sample", *SCORES, "b.npz"), ("b.npz",)),
    Bad("unknown preset", ("sample", SCORES[0], "--from", "natahsa"), ("natahsa", "natasha")),
    Bad("quite unknown preset", ("sample", SCORES[0], "--from", "x"), ("--from x", "supar", "natasha")),
    Bad("unknown sampler", ("sample", *SCORES, "--sampler", "gibbs"), ("gibbs", "wilson-marginal")),
    Bad("unknown audited sampler", ("check-bias", *SCORES, "--sampler", "gibbs"), ("gibbs", "wilson-marginal")),
    Bad("unknown algorithm", ("swor", *SCORES, "--sampler", "gibbs"), ("gibbs", "trie")),
    Bad("unknown orientation", ("sample", *SCORES, "--orient", "rows"), ("--orient", "rows", "head-dep")),
    Bad("unknown format", ("sample", *SCORES, "--format", "xml"), ("--format", "xml", "jsonl")),
    Bad("no trees", ("sample", *SCORES, "-k", 0), ("-k", "0")),
    Bad("no different trees", ("swor", *SCORES, "-k", 0), ("-k", "0")),
    Bad("half a tree", ("sample", *SCORES, "-k", 0.5), ("-k", "0.5")),
    Bad("more trees than memory", ("sample", DATA / "one.npy", "-k", 10**14), ()),
    Bad("more trees than an array can count", ("sample", DATA / "one.npy", "-k", 10**22), ()),
    Bad("temperature 0", ("sample", *SCORES, "--temperature", 0), ("temperature", "0", "positive")),
    Bad("negative temperature", ("sample", *SCORES, "--temperature", -1), ("temperature", "-1")),
    Bad("no temperature", ("sample", *SCORES, "--temperature", "nan"), ("temperature", "nan")),
    Bad("temperature 0, skipping", ("sample", *SCORES, "--temperature", 0, "--on-error=skip"), ("temperature",)),
    Bad("no jobs", ("sample", *SCORES, "--jobs", 0), ("--jobs", "0")),
    Bad("shard 0", ("sample", *SCORES, "--shard", "0/3"), ("--shard", "0/3")),
    Bad("shard 4 of 3", ("sample", *SCORES, "--shard", "4/3"), ("--shard", "4/3")),
    Bad("a shard of nothing", ("sample", *SCORES, "--shard", "1"), ("--shard", "'1'")),
    Bad("unknown engine", ("sample", *SCORES, "--engine", "gpu"), ("--engine", "gpu", "processes")),
    Bad("a scheduler without its engine", ("sample", *SCORES, "--scheduler", "x:1"), ("--scheduler", "dask")),
    Bad("negative seed", ("sample", *SCORES, "--seed", -1), ("--seed", "-1")),
    Bad("alpha 1", ("check-bias", *SCORES, "--alpha", 1), ("--alpha", "1")),
    Bad("wilson under a root constraint", ("sample", *SCORES, "--sampler", "wilson"), ("wilson", "--multi-root")),
    Bad(
        "wilson-marginal without one",
        ("sample", *SCORES, "--sampler", "wilson-marginal", "--multi-root"),
        ("wilson-marginal", "--multi-root", "elimination"),
    ),
    Bad("audit of the same", ("check-bias", *SCORES, "--sampler", "wilson"), ("wilson", "--multi-root")),
    Bad("CoNLL-U without sentences", ("sample", *SCORES, "--format", "conllu"), ("--conllu",)),
    Bad("the same by suffix", ("swor", *SCORES, "-o", "a.conllu"), ("--conllu",)),
    Bad("counts in an .npz", ("sample", *SCORES, "--unique", "-o", "a.npz"), ("npz", "--unique")),
    Bad("swor into an .npz", ("swor", *SCORES, "-o", "a.npz"), ("npz",)),
    Bad("partition into an .npz", ("partition", *SCORES, "-o", "a.npz"), ("npz",)),
    Bad("audit into CoNLL-U", ("check-bias", *SCORES, "-o", "a.conllu"), ("conllu",)),
    Bad("two sentences of one name", ("sample", "a.jsonl", "-o", "a.npz"), ("twins",), {"a.jsonl": TWINS}),
    Bad("output into no folder", ("sample", *SCORES, "-o", "none/a.jsonl"), ("none/a.jsonl", "folder", "Create none")),
    Bad("output onto a folder", ("sample", *SCORES, "-o", DATA), ("sample_data", "irectory")),
    Bad("standard input twice", ("sample", "-", "--conllu", "-"), ("standard input", "once")),
    Bad("twice with lengths", ("sample", "-", "--lengths", "-"), ("standard input", "once")),
    Bad("twice with samples", ("check-bias", "-", "--from", "natasha", "--samples", "-"), ("standard input", "once")),
    Bad("nothing on standard input", ("sample", "-"), ("standard input", "empty")),
    Bad("lengths of an archive", ("partition", *SCORES, "--lengths", "l"), ("--lengths", ".npy"), {"l": "8\n"}),
    Bad("lengths that are words", ("partition", *BATCH, "--lengths", "l"), ("l:2", "'x'"), {"l": "8\nx\n"}),
    Bad("a length beyond the batch", ("partition", *BATCH, "--lengths", "l"), ("12", "(10, 10)"), {"l": "12\n" * 8}),
    Bad("no such lengths", ("partition", *BATCH, "--lengths", "l"), ("l:", "no such file")),
    Bad("a batch without lengths", ("partition", *BATCH), ("scores.npy", "--lengths")),
]

FIGURE1 = DATA / "figure1.npy"


def drawn(name: str, content: str | bytes, *says: str) -> Bad:
    return Bad(name, ("check-bias", FIGURE1, "--samples", "s"), says, {"s": content})


SAMPLES = [
    Bad("no such samples", ("check-bias", FIGURE1, "--samples", "s.jsonl"), ("s.jsonl", "no such file")),
    drawn("no samples", b"", "s:", "empty"),
    drawn("another length", jsonl({"sent_id": "1", "heads": [0, 1]}), "s:1 (1)", "2 words", "3"),
    drawn("another sentence", jsonl({"sent_id": "x", "heads": [0, 1, 1]}), "s:1 (x)", "no such sentence"),
    drawn("a head beyond", jsonl({"sent_id": "1", "heads": [0, 1, 4]}), "s:1 (1)", "word 3 is 4"),
    drawn("no heads", jsonl({"sent_id": "1"}), "s:1 (1)", "heads"),
    drawn("no name", jsonl({"heads": [0, 1, 1]}), "s:1", "sent_id"),
    drawn("a count of 0", jsonl({"sent_id": "1", "heads": [0, 1, 1], "count": 0}), "s:1 (1)", "count is 0"),
    drawn("not JSON", '{"sent_id": 1\n', "s:1", "not JSON"),
    drawn("a word without HEAD", "# sent_id = 1\n" + "1" + "\t_" * 9 + "\n\n", "s:1 (1)", "no HEAD"),
    drawn("an archive", NPZ, "s:", "CoNLL-U or JSON Lines"),
]


def assert_refused(ran, *says: str) -> None:
    assert ran.code == 2
    assert ran.out == b""
    assert len(ran.said) == 1, ran.err
    assert ran.said[0].startswith("deptree")
    assert [part for part in says if part not in ran.said[0]] == [], ran.said[0]


@pytest.fixture
def meet(put, deptree, tmp_path):
    """Run a bad command, quietly and not, which must not change what its one line says."""

    def run(bad: Bad, *more: str):
        put("unrelated", b"")
        for name, content in bad.files.items():
            put(name, content)
        before = sorted(path.name for path in tmp_path.iterdir())
        quiet = deptree(*bad.args, *more, "-q")
        loud = deptree(*bad.args, *more)
        assert loud.said[-1:] == quiet.said
        assert all(said.startswith("deptree: ") for said in loud.said[:-1]), loud.err
        assert sorted(path.name for path in tmp_path.iterdir()) == before
        return quiet

    return run


@pytest.mark.parametrize("bad", SENTENCE + CONTAINERS + CONLLU, ids=str)
def test_input(meet, bad):
    assert_refused(meet(bad), *bad.says)


@pytest.mark.parametrize("bad", OPTIONS + SAMPLES, ids=str)
def test_usage(meet, bad):
    assert_refused(meet(bad), *bad.says)


@pytest.mark.parametrize("bad", COUNTS, ids=str)
def test_counts(meet, bad):
    """What came before on a pipe has been written; a file does not appear."""
    assert_refused(meet(bad, "-o", "out.jsonl"), *bad.says)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command(deptree, put, command):
    put("bad.npz", {"x-7": matrix((1, 2, np.nan))})
    assert_refused(deptree(command, "bad.npz", "-q"), "bad.npz[x-7] (x-7): ", "1 -> 2", "NaN")


@pytest.mark.parametrize("jobs", [2, 4])
def test_the_first_error_is_told_with_any_number_of_jobs(deptree, put, jobs):
    good, bad = matrix().tolist(), matrix((1, 2, -1)).tolist()
    objects = [{"sent_id": str(i), "scores": bad if i in (3, 5) else good} for i in range(9)]
    put("b.jsonl", jsonl(*objects))
    ran = deptree("partition", "b.jsonl", "-q", "--jobs", jobs, "-o", "out.jsonl")
    assert_refused(ran, "b.jsonl:4 (3)", "negative", "--scale log")


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("partition", "missing.npz", "-q"), "no such file"),
        (("sample", *SCORES, "--sed", 7), "--seed"),
        (("sampel", *SCORES), "sampel"),
        (("sample", *SCORES, "-k", 0), "-k"),
        (("sample", SCORES[0], "-q"), "--scale log"),
        (("sample", *SCORES, "--format", "conllu", "-q"), "--conllu"),
    ],
    ids=["file", "option", "command", "value", "sentence", "format"],
)
def test_the_real_command(real, args, says):
    assert_refused(real(*args), says)


def test_no_command_at_all_is_not_a_wall_of_text(real):
    """Help as help, or one line that leads to it; not the whole help squashed into one line."""
    ran = real()
    assert ran.code == 2
    assert ran.out == b""
    assert "--help" in ran.err
    assert max(map(len, ran.said)) <= 120
    assert "Traceback" not in ran.err


def test_numbers_that_overflow_are_no_news(real, put):
    """The result is a null with a reason; a warning of NumPy's on stderr tells nobody anything."""
    scores = np.zeros((4, 4))
    scores[0] = 1000
    put("roots.npy", scores)
    ran = real("partition", "roots.npy", "--scale", "log", "-q")
    assert (ran.code, ran.err) == (0, "")

"""Files that do not belong together, or not in this order, are an error, whatever --on-error says."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.sample import DATA

GOLD = DATA / "gold.conllu"
SENTENCES = GOLD.read_text(encoding="utf-8").rstrip("\n").split("\n\n")
SKIP = ("--from", "natasha", "--on-error", "skip", "-q")
LENGTHS = [sum(line[:1].isdigit() and line.split("\t")[0].isdigit() for line in each.split("\n")) for each in SENTENCES]


def scores() -> dict[str, np.ndarray]:
    with np.load(DATA / "scores.npz") as archive:
        return dict(archive)


def lines(arrays: dict[str, np.ndarray], named: bool = True) -> str:
    rows = (({"sent_id": name} if named else {}) | {"scores": each.tolist()} for name, each in arrays.items())
    return "".join(json.dumps(row).replace("-Infinity", "null") + "\n" for row in rows)


def conllu(without: int | None = None) -> str:
    return "\n\n".join(each for number, each in enumerate(SENTENCES) if number != without) + "\n\n"


def refused(ran, *says: str) -> None:
    assert ran.code == 2, ran.err
    assert any(all(part in line for part in says) for line in ran.said), ran.err


def test_the_first_of_one_file_and_the_last_of_the_other_are_missing(deptree, put) -> None:
    """All sentences are of one length, and ids alone tell which is which."""
    words = {f"s{number}": np.random.default_rng(number).normal(size=(2, 3)) for number in range(6)}
    rows = "".join(f"{word}\tw" + "\t_" * 8 + "\n" for word in (1, 2))
    put("a.jsonl", lines(dict(list(words.items())[1:])))
    put("a.conllu", "".join(f"# sent_id = s{number}\n{rows}\n" for number in range(5)))
    ran = deptree("decode", "a.jsonl", "--conllu", "a.conllu", *SKIP)
    assert (ran.code, ran.out.count(b"# sent_id = ")) == (1, 4)
    assert ran.said[0].startswith("deptree: skipped: a.conllu:1 (s0): a.jsonl has no sentence with this id")


def test_a_sentence_that_is_bad_by_itself_is_skipped(deptree, put) -> None:
    """A malformed block, NaN, a ragged matrix: the others keep their own trees."""
    arrays = list(scores().values())
    bad = [json.dumps({"scores": each.tolist()}) for each in arrays]
    bad[1] = json.dumps({"scores": [[float("nan")] * (LENGTHS[1] + 1)] * LENGTHS[1]})
    bad[2] = '{"scores": [[1, 2], [3]]}'
    put("bad.jsonl", "\n".join(bad).replace("-Infinity", "null"))
    put("bad.conllu", conllu().replace(SENTENCES[4], SENTENCES[4].replace("\n2\t", "\n7\t", 1)))
    ran = deptree("decode", "bad.jsonl", "--conllu", "bad.conllu", *SKIP, "--no-header")
    assert ran.code == 1
    whole = deptree("decode", DATA / "scores.npz", "--conllu", GOLD, *SKIP, "--no-header").out
    kept = [each for number, each in enumerate(whole.split(b"\n\n")) if number not in (1, 2, 4)]
    assert ran.out == b"\n\n".join(kept)


# What sorts by name and what does not.
TWELVE = [f"{number}" for number in range(1, 13)]


@pytest.fixture
def twelve(put) -> dict[str, np.ndarray]:
    """Twelve sentences of three words under names that sort otherwise than they stand."""
    arrays = {name: np.random.default_rng(int(name)).normal(size=(3, 4)) for name in TWELVE}
    rows = "".join(f"{word}\tw{word}" + "\t_" * 8 + "\n" for word in (1, 2, 3))
    put("twelve.conllu", "".join(f"# sent_id = en-{name}\n{rows}\n" for name in TWELVE))
    put("by-number.conllu", "".join(f"# sent_id = {name}\n{rows}\n" for name in TWELVE))
    put("twelve.npz", arrays)
    library = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    library.save_file(arrays, "foreign.safetensors")
    return arrays


def decoded(done, path: str, sentences: str) -> bytes:
    return done("decode", path, "--from", "natasha", "--conllu", sentences, "--no-header", "-q").out


def test_safetensors_of_others_are_not_paired_by_order(deptree, done, twelve) -> None:
    natasha = ("--from", "natasha")
    for command in ("decode", "sample", "convert"):
        refused(deptree(command, "foreign.safetensors", *natasha, "--conllu", "twelve.conllu"), "the order of", ".npz")
    by_name = decoded(done, "foreign.safetensors", "by-number.conllu")
    assert by_name == decoded(done, "twelve.npz", "by-number.conllu")
    assert len(done("decode", "foreign.safetensors", *natasha).rows) == 12
    refused(deptree("convert", "foreign.safetensors", *natasha, "-o", "x.npy"), "keeps no names")
    for name in ("x.npz", "x.jsonl", "x.safetensors"):
        done("convert", "foreign.safetensors", *natasha, "-o", name)
        refused(deptree("decode", name, "--conllu", "twelve.conllu"), "the order of the matrices is not known")
        assert done("decode", name, "--conllu", "by-number.conllu", "--no-header", "-q").out == by_name


def test_ours_keep_the_order(done, twelve) -> None:
    expected = decoded(done, "twelve.npz", "twelve.conllu")
    done("convert", "twelve.npz", "--from", "natasha", "-o", "ours.safetensors")
    for path in ("ours.safetensors", "again.npz", "again.npy", "again.jsonl", "again.safetensors"):
        if path != "ours.safetensors":
            done("convert", "ours.safetensors", "--to", "log", "-o", path)
        options = ("--from", "synjax") if path.endswith("npy") else ()
        assert done("decode", path, *options, "--conllu", "twelve.conllu", "--no-header", "-q").out == expected
    names = [row["sent_id"] for row in done("decode", "ours.safetensors").rows]
    assert names == TWELVE


def test_an_order_that_is_none(deptree, put, twelve) -> None:
    from safetensors.numpy import save_file

    for order in ("", "[", "[1]", '["1"]', json.dumps([*TWELVE, "13"]), json.dumps([*TWELVE[1:], "2"]), "{}", "[[]]"):
        save_file(twelve, "x.safetensors", {"order": order})
        refused(deptree("decode", "x.safetensors", "--from", "natasha", "--conllu", "twelve.conllu"), "the order of")


@pytest.mark.parametrize("archive", [True, False])
def test_an_order_that_numbers_contradict_is_told(done, put, archive):
    """Numbers are no ids of arrays without names: 2, 3, 1 are the trees of the first, second and third matrix."""
    matrices = [np.arange(9.0).reshape(3, 3) + 1 for _ in range(3)]
    name = "s.npz" if archive else "s.npy"
    put(name, {f"arr_{place}": each for place, each in enumerate(matrices)} if archive else np.array(matrices))
    for numbers, told in ((("2", "3", "1"), 1), (("1", "2", "3"), 0), (("0", "1", "2"), 0)):
        trees = "".join(
            f"# sent_id = {each}\n1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n2\tb\t_\t_\t_\t_\t1\tdep\t_\t_\n\n"
            for each in numbers
        )
        put("t.conllu", trees)
        ran = done("marginals", name, "--orient", "head-dep", "--root", "first", "--conllu", "t.conllu")
        line = "matrices and sentences have no common ids and are paired by order: number 1 is called '2'"
        assert ran.err.count(line) == told

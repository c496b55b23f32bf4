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


RUNNING = ["s{:05}", "sent-{}", "dev.{}", "{}"]
OWN = ("--from", "natasha", "--no-header", "-q")


@pytest.fixture
def eight(done, put) -> tuple[bytes, bytes]:
    """What is decoded and reported of the scores of the sample under their own names; gold trees beside them."""
    gold = ("gold", done("inspect", DATA / "scores.npz", *OWN[:2], "-q", "--gold", GOLD).out)
    return done("decode", DATA / "scores.npz", *OWN, "--conllu", GOLD).out, gold[1]


def renamed(put, name: str, keys: list[str], arrays: list[np.ndarray] | None = None) -> str:
    return put(name, dict(zip(keys, arrays or list(scores().values()), strict=True)))


@pytest.mark.parametrize("first", [579, 9998, 1, 0])
@pytest.mark.parametrize("name", RUNNING)
def test_arrays_with_running_names_are_those_of_the_sentences(deptree, put, eight, name, first) -> None:
    """Whatever stands in front of the numbers, wherever these begin; with any number of workers and shards."""
    keys = [name.format(first + number) for number in range(8)]
    renamed(put, "s.npz", keys)
    line = ("decode", "s.npz", *OWN[:3], "--conllu", GOLD)
    ran = deptree(*line)
    assert (ran.code, ran.out) == (0, eight[0])
    says = f"deptree: no key of s.npz is a sent_id, and keys run on from {keys[0]!r}: paired by order"
    assert [line for line in ran.said if "order" in line] == [says] * (first > 1 or name in ("sent-{}", "dev.{}"))
    for more in (("--jobs", 2), ("--shard", "1/2")):
        out = deptree(*line, *more).out
        assert out == (
            b"".join(each + b"\n\n" for each in eight[0].split(b"\n\n")[:8:2]) if "1/2" in more else eight[0]
        )


def test_running_names_beside_every_kind_of_sentences(done, put, eight) -> None:
    """Gold trees that scores lead, trees that lead scores, and labels that have names of their own."""
    renamed(put, "s.npz", [f"w{number}" for number in range(20, 28)])
    assert done("inspect", "s.npz", *OWN[:2], "-q", "--gold", GOLD).out == eight[1]
    for command in (
        "score {} GOLD",
        "agree GOLD GOLD --scores {}",
        "repair GOLD --scores {} -q",
        "diff GOLD GOLD --scores {}",
    ):
        words = [GOLD if word == "GOLD" else word for word in command.split()]
        one, other = ([path if word == "{}" else word for word in words] for path in ("s.npz", DATA / "scores.npz"))
        ours, theirs = done(*one, *OWN[:2]), done(*other, *OWN[:2])
        assert ours.out.replace(b"s.npz", b"") == theirs.out.replace(str(DATA / "scores.npz").encode(), b"")
    with np.load(DATA / "label_scores.npz") as archive:
        renamed(put, "l.npz", [f"l-{number}" for number in range(3, 11)], list(archive.values()))
    labels = ("--labels", DATA / "labels.json", "--label-scores")
    for sentences, path in ((GOLD, "s.npz"), (GOLD, DATA / "scores.npz")):
        own = done("decode", path, *OWN, "--conllu", sentences, *labels, "l.npz").out
        assert (
            own == done("decode", DATA / "scores.npz", *OWN, "--conllu", GOLD, *labels, DATA / "label_scores.npz").out
        )


@pytest.mark.parametrize("skip", [(), ("--on-error", "skip")])
def test_running_names_that_do_not_fit(deptree, put, skip) -> None:
    """Each says which array and which sentence, both lengths or numbers, and what to do; nothing is written."""
    arrays, keys = list(scores().values()), [f"s{number}" for number in range(579, 587)]
    renamed(put, "moved.npz", keys, [arrays[3], *arrays[1:3], arrays[0], *arrays[4:]])
    renamed(put, "few.npz", keys[:7], arrays[:7])
    remedy = "Check that both files hold the same sentences in the same order"
    for path, says in {
        "moved.npz": ("moved.npz[s579] (en-1): the scores have 3 words, the CoNLL-U sentence has 8", remedy, "sent_id"),
        "few.npz": ("few.npz: the number of matrices is 7, that of sentences in", "is 8", remedy, "sent_id"),
    }.items():
        ran = deptree("decode", path, *OWN[:2], "--conllu", GOLD, *skip, "-o", "out.conllu")
        refused(ran, *says)
    renamed(put, "gap.npz", [*keys[:7], "s600"])
    renamed(put, "turned.npz", [*keys[1:], keys[0]])
    renamed(put, "words.npz", list("abcdefgh"))
    for path, first in {"gap.npz": "s579", "turned.npz": "s580", "words.npz": "a"}.items():
        ran = deptree("decode", path, *OWN[:2], "--conllu", GOLD, *skip)
        assert (ran.code, ran.out) == (1 if skip else 2, b"")
        assert f"{path} has no sentence with this id." in ran.said[0]
        assert f"paired by id; the first there is {first!r}: name both alike or pass other files" in ran.said[0]
        assert "skip" not in ran.said[0].removeprefix("deptree: skipped")


def test_a_key_that_is_a_sent_id_makes_all_of_them_ids(deptree, put) -> None:
    """Also if it belongs to a later sentence: those of other names have no scores."""
    text = conllu().replace("# sent_id = cs-2", "# sent_id = s7")
    put("t.conllu", text)
    renamed(put, "s.npz", [f"s{number}" for number in range(5, 13)])
    ran = deptree("decode", "s.npz", *OWN[:2], "--conllu", "t.conllu", "--on-error", "skip", "-q")
    assert (ran.code, ran.out.count(b"# sent_id = ")) == (1, 0)
    assert "s.npz[s7] (s7): the scores have 8 words, the CoNLL-U sentence has 5" in ran.err
    assert ran.err.count("has no sentence with this id") == 7


def test_two_files_of_trees_or_of_scores_never_pair_by_running_names(deptree, put) -> None:
    put(
        "t.conllu",
        conllu().replace("# sent_id = en-", "# sent_id = dev.").replace("# sent_id = cs-", "# sent_id = dev.1"),
    )
    refused(deptree("agree", GOLD, "t.conllu", "-q"), "has no sentence with this id")
    renamed(put, "s.npz", [f"s{number}" for number in range(5, 13)])
    refused(
        deptree("expect", "kl", *("s.npz", "--other", DATA / "scores.npz"), *OWN[:2]), "has no sentence with this id"
    )


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
        ran = done("marginals", name, "--from", "head-dep,first", "--conllu", "t.conllu")
        line = "matrices and sentences have no common ids and are paired by order: number 1 is called '2'"
        assert ran.err.count(line) == told

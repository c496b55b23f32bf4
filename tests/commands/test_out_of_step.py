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


@pytest.mark.parametrize("missing", range(len(SENTENCES) - 1))
@pytest.mark.parametrize("command", ["sample", "decode", "marginals", "expect entropy"])
def test_a_sentence_is_missing(command, missing, deptree, put) -> None:
    """By name its scores are left over; by order the first pair of another length ends it."""
    put("less.conllu", conllu(without=missing))
    put("named.jsonl", lines(scores()))
    put("nameless.jsonl", lines(scores(), named=False))
    how = ("--conllu", "less.conllu", *SKIP, "--no-header", *(("--seed", 7) if command == "sample" else ()))
    ran, same = (deptree(*command.split(), path, *how) for path in ("named.jsonl", DATA / "scores.npz"))
    assert (ran.code, len(ran.out) > 0) == (0, True)
    assert ran.out == same.out
    ran = deptree(*command.split(), "nameless.jsonl", "--conllu", "less.conllu", *SKIP)
    refused(ran)
    left = [n for number, n in enumerate(LENGTHS) if number != missing]
    if left != LENGTHS[: len(left)]:
        refused(ran, "words, the CoNLL-U sentence has")
    if command == "decode":
        first = next((at for at, (a, b) in enumerate(zip(LENGTHS, left, strict=False)) if a != b), len(left))
        assert ran.out.count(b"# sent_id = ") <= first


def test_the_first_of_one_file_and_the_last_of_the_other_are_missing(deptree, put) -> None:
    """All sentences are of one length, and ids alone tell which is which."""
    words = {f"s{number}": np.random.default_rng(number).normal(size=(2, 3)) for number in range(6)}
    rows = "".join(f"{word}\tw" + "\t_" * 8 + "\n" for word in (1, 2))
    put("a.jsonl", lines(dict(list(words.items())[1:])))
    put("a.conllu", "".join(f"# sent_id = s{number}\n{rows}\n" for number in range(5)))
    ran = deptree("decode", "a.jsonl", "--conllu", "a.conllu", *SKIP)
    assert (ran.code, ran.out.count(b"# sent_id = ")) == (1, 4)
    assert ran.said[0].startswith("deptree: skipped: a.conllu:1 (s0): a.jsonl has nothing of this name")


def test_names_of_another_kind_are_paired_by_order(done, put) -> None:
    arrays = {f"arr_{number}": each for number, each in enumerate(scores().values())}
    put("a.npz", arrays)
    put("a.jsonl", lines(arrays))
    for name in ("a.npz", "a.jsonl"):
        out = done("decode", name, "--from", "natasha", "--conllu", GOLD, "--no-header").out
        assert out == done("decode", DATA / "scores.npz", "--from", "natasha", "--conllu", GOLD, "--no-header").out


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


@pytest.mark.parametrize("named", [False, True])
def test_another_length_is_skipped_only_where_names_agree(named, deptree, put) -> None:
    put("a.jsonl", lines(scores(), named))
    put("a.conllu", conllu().replace("3\t.\t.\tPUNCT", "x\t.\t.\tPUNCT"))  # of en-4: malformed
    put("b.conllu", "\n".join(line for line in conllu().split("\n") if not line.startswith("3\t.\t.")))
    assert deptree("decode", "a.jsonl", "--conllu", "a.conllu", *SKIP).code == 1
    ran = deptree("decode", "a.jsonl", "--conllu", "b.conllu", *SKIP)
    assert (ran.code, ran.out.count(b"# sent_id = ")) == ((1, 7) if named else (2, ran.out.count(b"# sent_id = ")))


def test_lengths_of_another_batch(deptree, put) -> None:
    put("lengths.txt", "12\n" * 8)
    ran = deptree("partition", DATA / "scores.npy", "--from", "supar", "--lengths", "lengths.txt", "--on-error", "skip")
    refused(ran, "the length is 12")


@pytest.fixture
def labels() -> dict[str, np.ndarray]:
    with np.load(DATA / "label_scores.npz") as archive:
        return dict(archive)


def test_scores_of_labels_by_order(deptree, put, labels) -> None:
    stream = lambda arrays: b"".join(map(npy, arrays))  # noqa: E731
    put("scores.npy", stream(scores().values()))
    names = ("--labels", DATA / "labels.json")
    arrays = list(labels.values())
    put("labels.npy", stream(arrays))
    assert deptree("decode", "scores.npy", *SKIP, *names, "--label-scores", "labels.npy").code == 0
    put("short.npy", stream(arrays[:-1]))
    refused(deptree("decode", "scores.npy", *SKIP, *names, "--label-scores", "short.npy"), "label scores is 7, that")
    put("long.npy", stream([*arrays, arrays[0]]))
    refused(deptree("decode", "scores.npy", *SKIP, *names, "--label-scores", "long.npy"), "label scores is 9, that")
    put("shifted.npy", stream([*arrays[1:], arrays[0]]))
    ran = deptree("decode", "scores.npy", *SKIP, *names, "--label-scores", "shifted.npy")
    refused(ran, "the scores of labels have")


def npy(array: np.ndarray) -> bytes:
    import io

    data = io.BytesIO()
    np.save(data, array)
    return data.getvalue()


def test_other_scores_by_order(deptree, put) -> None:
    arrays = scores()
    put("a.jsonl", lines(arrays, named=False))
    put("b.jsonl", lines(dict(list(arrays.items())[1:]), named=False))
    refused(deptree("diff", "a.jsonl", "b.jsonl", *SKIP), "b.jsonl")
    refused(deptree("expect", "kl", "a.jsonl", "--other", "b.jsonl", *SKIP), "b.jsonl")


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


def test_scores_of_labels_in_safetensors(deptree, put, labels) -> None:
    """By name, never by an order that is not known."""
    library = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    put("scores.npy", b"".join(map(npy, scores().values())))
    library.save_file(labels, "labels.safetensors")
    options = (*SKIP, "--labels", DATA / "labels.json", "--label-scores", "labels.safetensors")
    refused(deptree("decode", "scores.npy", *options), "labels.safetensors: the order of the label scores")
    assert deptree("decode", DATA / "scores.npz", *options).code == 0

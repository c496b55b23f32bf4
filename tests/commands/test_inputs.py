"""The same sentences in every form are the same sentences; what does not belong together is refused."""

from __future__ import annotations

import gzip
import io
import json

import numpy as np
import pytest

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.io.scores.layout import PRESETS
from tests.oracle import Oracle
from tests.sample import DATA

GOLD = (DATA / "gold.conllu").read_text(encoding="utf-8")
SENTENCES = GOLD.rstrip("\n").split("\n\n")
LENGTHS = [sum(line.split("\t")[0].isdigit() for line in each.split("\n")) for each in SENTENCES]
with np.load(DATA / "scores.npz") as archive:
    SCORES = dict(archive)


def jsonl(arrays: dict[str, np.ndarray]) -> str:
    rows = ({"sent_id": name, "scores": each.tolist()} for name, each in arrays.items())
    return "".join(json.dumps(row).replace("-Infinity", "null") + "\n" for row in rows)


def conllu(names: list[str], n: int) -> str:
    rows = "".join(f"{word}\tw{word}" + "\t_" * 8 + "\n" for word in range(1, n + 1))
    return "".join(f"# sent_id = {name}\n{rows}\n" for name in names)


def test_lengths_that_count_root_are_refused(refused, put):
    """The longest sentence has no room for one word more, unless the batch is padded further."""
    scores = np.pad(np.load(DATA / "scores.npy"), [(0, 0), (0, 2), (0, 2)])
    counted = np.loadtxt(DATA / "lengths.txt", dtype=int) + 1
    for name, content in (("b.npy", scores), ("b.npz", {"scores": scores, "lengths": counted}), ("l.npy", counted)):
        put(name, content)
    refused("decode b.npy --lengths l.npy --from supar -q", "Do the lengths count ROOT?")
    refused("decode b.npz --from supar -q", "Do the lengths count ROOT?")


def encoded(arrays: dict[str, np.ndarray], suffix: str) -> bytes:
    out = io.BytesIO()
    if suffix == ".safetensors":
        library = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
        out.write(library.save({name: each.astype("<f4") for name, each in arrays.items()}))
    elif suffix == ".npz":
        np.savez(out, **arrays)
    elif suffix == ".npy":
        for each in arrays.values():
            np.save(out, each)
    else:
        out.write(jsonl(arrays).encode())
    return out.getvalue()


@pytest.mark.quick
@pytest.mark.parametrize("transport", ["file", "gzip", "stdin", "gzip on stdin"])
@pytest.mark.parametrize("suffix", [".npz", ".npy", ".jsonl", ".safetensors"])
def test_the_same_scores_in_every_form(deptree, done, put, suffix, transport):
    """Of other types, in another order where there are names; other names go by order, if the file keeps one."""
    expected = done("decode $SCORES --conllu $GOLD --no-header -q").out
    turned = SCORES if suffix == ".npy" else dict(reversed(SCORES.items()))
    for names, dtype in (([*turned], ">f4"), ([*turned], "<f8"), ([f"k{place}" for place in range(8)], "<f4")):
        arrays = turned.values() if names[0] in turned else SCORES.values()
        data = encoded({name: each.astype(dtype) for name, each in zip(names, arrays, strict=True)}, suffix)
        data = gzip.compress(data, 1) if "gzip" in transport else data
        path = "-" if "stdin" in transport else put(f"x{suffix}" + ".gz" * (transport == "gzip"), data)
        ran = deptree(f"decode {path} --from natasha --conllu $GOLD --no-header -q -o -", stdin=data)
        if suffix == ".safetensors" and names[0] == "k0":
            told(ran, "the order of the matrices is not known")
        else:
            assert (ran.code, ran.out) == (0, expected), ran.err


def diagonal(square: np.ndarray) -> np.ndarray:
    """(n+1, n+1) head-dep to (n, n) head-dep with the scores of ROOT arcs on the diagonal."""
    return np.where(np.eye(len(square) - 1, dtype=bool), square[0, 1:], square[1:, 1:])


# cli.md, the table of presets: from weights (n+1, n+1), head-dep, to what the parser's user dumps.
AS_PARSER = {
    **dict.fromkeys(("supar", "diaparser", "hanlp", "stanza", "trankit"), lambda weights: np.log(weights).T),
    **dict.fromkeys(("udpipe2", "natasha"), lambda weights: np.log(weights).T[1:]),
    "supar-probs": lambda weights: weights.T[1:],
    "spacy": lambda weights: diagonal(np.log(weights)).T,
    "torch-struct": lambda weights: diagonal(np.log(weights)),
    "synjax": lambda weights: np.log(weights),
    "treesample": lambda weights: weights,
}


@pytest.mark.quick
@pytest.mark.parametrize("name", AS_PARSER)
def test_presets(done, put, name):
    """An asymmetric matrix, numbers where no arc is: read in another way it has another sum."""
    assert {*AS_PARSER, "allennlp"} == set(PRESETS.names)  # that with an axis of labels: in test_labels.py
    weights = np.random.default_rng(7).uniform(0.1, 3, (5, 5))
    put("scores.npy", AS_PARSER[name](weights))
    (row,) = done(f"partition scores.npy --from {name}").rows
    assert row["n"] == 4
    assert row["log_z"] == pytest.approx(Oracle(TreeDistribution(weights, "weight")).log_z, abs=1e-9)


def test_second_order_scores_are_refused(refused):
    """Also where sentences that cannot be used are skipped: their scores would be others."""
    says = "second_order.npz[en-1.grandparent]: these are second-order scores", "deptree_cli.second_order.read"
    for command in (
        "sample --from log",
        "inspect --from log",
        "convert --from log -o x.npz",
        "bitext align --scale log",
    ):
        refused(f"{command} $DATA/second_order.npz --on-error skip -q", *says)


def test_the_first_of_one_file_and_the_last_of_the_other_are_missing(deptree, put):
    """All sentences are of one length, and ids alone tell which is which."""
    names = [f"s{number}" for number in range(6)]
    put("a.jsonl", jsonl({name: np.random.default_rng(int(name[1])).normal(size=(2, 3)) for name in names[1:]}))
    put("a.conllu", conllu(names[:5], 2))
    ran = deptree("decode a.jsonl --conllu a.conllu --from natasha --on-error skip -q")
    assert (ran.code, ran.out.count(b"# sent_id = ")) == (1, 4)
    assert ran.said[0].startswith("deptree: skipped: a.conllu:1 (s0): a.jsonl has no sentence with this id")


def test_a_sentence_that_is_bad_by_itself_is_skipped(deptree, put):
    """A malformed block, NaN, a ragged matrix: the others keep their own trees."""
    bad = [json.dumps({"scores": each.tolist()}) for each in SCORES.values()]
    bad[1] = json.dumps({"scores": [[float("nan")] * (LENGTHS[1] + 1)] * LENGTHS[1]})
    bad[2] = '{"scores": [[1, 2], [3]]}'
    put("bad.jsonl", "\n".join(bad).replace("-Infinity", "null"))
    put("bad.conllu", GOLD.replace(SENTENCES[4], SENTENCES[4].replace("\n2\t", "\n7\t", 1)))
    ran = deptree("decode bad.jsonl --from natasha --conllu bad.conllu --on-error skip -q --no-header")
    whole = deptree("decode $SCORES --conllu $GOLD -q --no-header").out.split(b"\n\n")
    assert ran.code == 1
    assert ran.out == b"\n\n".join(each for number, each in enumerate(whole) if number not in (1, 2, 4))


def renamed(put, path: str, keys: list[str], arrays: list[np.ndarray] | None = None) -> str:
    return put(path, dict(zip(keys, arrays or list(SCORES.values()), strict=True)))


@pytest.mark.parametrize("first", [579, 9998, 1, 0])
@pytest.mark.parametrize("name", ["s{:05}", "sent-{}", "dev.{}", "{}"])
def test_arrays_with_running_names_are_those_of_the_sentences(done, put, name, first):
    """Whatever stands in front of the numbers, wherever these begin; with any number of workers and shards."""
    keys = [name.format(first + number) for number in range(8)]
    renamed(put, "s.npz", keys)
    line = "decode s.npz --from natasha --no-header --conllu $GOLD"
    expected = done("decode $SCORES --no-header -q --conllu $GOLD").out
    ran = done(line)
    assert ran.out == expected
    says = f"deptree: no key of s.npz is a sent_id, and keys run on from {keys[0]!r}: paired by order"
    assert [line for line in ran.said if "order" in line] == [says] * (first > 1 or name in ("sent-{}", "dev.{}"))
    assert done(f"{line} --jobs 2").out == expected
    assert done(f"{line} --shard 1/2").out == b"".join(each + b"\n\n" for each in expected.split(b"\n\n")[:8:2])


def test_running_names_beside_every_kind_of_sentences(done, put):
    """Gold trees that scores lead, trees that lead scores, and labels that have names of their own."""
    renamed(put, "s.npz", [f"w{number}" for number in range(20, 28)])
    for line in (
        "inspect {} --from natasha --gold $GOLD -q",
        "score {} $GOLD --from natasha",
        "agree $GOLD $GOLD --scores {} --from natasha",
        "repair $GOLD --scores {} --from natasha -q",
        "diff $GOLD $GOLD --scores {} --from natasha",
    ):
        ours, theirs = done(line.format("s.npz")).out, done(line.format(DATA / "scores.npz")).out
        assert ours.replace(b"s.npz", b"") == theirs.replace(str(DATA / "scores.npz").encode(), b"")
    with np.load(DATA / "label_scores.npz") as labels:
        renamed(put, "l.npz", [f"l-{number}" for number in range(3, 11)], list(labels.values()))
    options = "--from natasha --no-header -q --conllu $GOLD --labels $DATA/labels.json --label-scores"
    expected = done(f"decode $DATA/scores.npz {options} $DATA/label_scores.npz").out
    for path in ("s.npz", "$DATA/scores.npz"):
        assert done(f"decode {path} {options} l.npz").out == expected


@pytest.mark.parametrize("skip", ["", "--on-error skip"])
def test_running_names_that_do_not_fit(deptree, put, refused, skip):
    """Each says which array and which sentence, both lengths or numbers, and what to do; nothing is written."""
    arrays, keys = list(SCORES.values()), [f"s{number}" for number in range(579, 587)]
    line, remedy = (
        f"--from natasha --no-header --conllu $GOLD {skip}",
        "Check that both files hold the same sentences in",
    )
    renamed(put, "moved.npz", keys, [arrays[3], *arrays[1:3], arrays[0], *arrays[4:]])
    says = "moved.npz[s579] (en-1): the scores have 3 words, the CoNLL-U sentence has 8", remedy, "sent_id"
    told(deptree(f"decode moved.npz {line} -o out.conllu"), *says)
    renamed(put, "few.npz", keys[:7], arrays[:7])
    says = "few.npz: the number of matrices is 7, that of sentences in", "is 8", remedy, "sent_id"
    told(deptree(f"decode few.npz {line} -o out.conllu"), *says)
    others = {"gap.npz": [*keys[:7], "s600"], "turned.npz": [*keys[1:], keys[0]], "words.npz": list("abcdefgh")}
    for path, names in others.items():
        renamed(put, path, names)
        ran = deptree(f"decode {path} {line}")
        assert (ran.code, ran.out) == (1 if skip else 2, b"")
        assert f"{path} has no sentence with this id." in ran.said[0]
        assert f"paired by id; the first there is {names[0]!r}: name both alike or pass other files" in ran.said[0]
        assert "skip" not in ran.said[0].removeprefix("deptree: skipped")


def told(ran, *says: str) -> None:
    """Refused, with a line that has all these parts; sentences before may have been skipped."""
    assert ran.code == 2, ran.err
    assert any(all(part in line for part in says) for line in ran.said), ran.err


def test_a_key_that_is_a_sent_id_makes_all_of_them_ids(deptree, put):
    """Also if it belongs to a later sentence: those of other names have no scores."""
    put("t.conllu", GOLD.replace("# sent_id = cs-2", "# sent_id = s7"))
    renamed(put, "s.npz", [f"s{number}" for number in range(5, 13)])
    ran = deptree("decode s.npz --from natasha --conllu t.conllu --on-error skip")
    assert (ran.code, ran.out.count(b"# sent_id = "), "by order" in ran.err) == (1, 0, False)
    assert "s.npz[s7] (s7): the scores have 8 words, the CoNLL-U sentence has 5" in ran.err
    assert ran.err.count("has no sentence with this id") == 7


def test_two_files_of_trees_or_of_scores_never_pair_by_running_names(refused, put):
    put("t.conllu", GOLD.replace("# sent_id = en-", "# sent_id = dev.").replace("# sent_id = cs-", "# sent_id = dev.1"))
    refused("agree $GOLD t.conllu -q", "has no sentence with this id")
    renamed(put, "s.npz", [f"s{number}" for number in range(5, 13)])
    refused("expect kl s.npz --other $DATA/scores.npz --from natasha", "has no sentence with this id")


TWELVE = [f"{number}" for number in range(1, 13)]  # which sort by name otherwise than they stand


@pytest.fixture
def twelve(put):
    library = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    arrays = {name: np.random.default_rng(int(name)).normal(size=(3, 4)) for name in TWELVE}
    put("twelve.conllu", conllu([f"en-{name}" for name in TWELVE], 3))
    put("by-number.conllu", conllu(TWELVE, 3))
    put("twelve.npz", arrays)
    library.save_file(arrays, "foreign.safetensors")
    return arrays


def decoded(done, path: str, sentences: str, how: str = "") -> bytes:
    return done(f"decode {path} {how} --conllu {sentences} --no-header -q").out


def test_safetensors_of_others_are_not_paired_by_order(deptree, done, twelve):
    for command in ("decode", "sample", "convert"):
        ran = deptree(f"{command} foreign.safetensors --from natasha --conllu twelve.conllu")
        told(ran, "the order of", ".npz")
    assert len(done("decode foreign.safetensors --from natasha").rows) == 12
    by_name = decoded(done, "foreign.safetensors", "by-number.conllu", "--from natasha")
    told(deptree("convert foreign.safetensors --from natasha -o x.npy"), "keeps no names")
    for name in ("x.npz", "x.jsonl", "x.safetensors"):
        done(f"convert foreign.safetensors --from natasha -o {name}")
        told(deptree(f"decode {name} --conllu twelve.conllu"), "the order of the matrices is not known")
        assert decoded(done, name, "by-number.conllu") == by_name


def test_ours_keep_the_order(done, twelve):
    expected = decoded(done, "twelve.npz", "twelve.conllu", "--from natasha")
    done("convert twelve.npz --from natasha -o ours.safetensors")
    for path in ("ours.safetensors", "again.npz", "again.npy", "again.jsonl", "again.safetensors"):
        if path != "ours.safetensors":
            done(f"convert ours.safetensors --to log -o {path}")
        assert decoded(done, path, "twelve.conllu", "--from synjax" * path.endswith("npy")) == expected
    assert [row["sent_id"] for row in done("decode ours.safetensors").rows] == TWELVE


def test_an_order_that_cannot_be_one_is_refused(deptree, twelve):
    from safetensors.numpy import save_file

    for order in ("", "[", "[1]", '["1"]', json.dumps([*TWELVE, "13"]), json.dumps([*TWELVE[1:], "2"]), "{}", "[[]]"):
        save_file(twelve, "x.safetensors", {"order": order})
        told(deptree("decode x.safetensors --from natasha --conllu twelve.conllu"), "the order of")


@pytest.mark.parametrize("name", ["s.npz", "s.npy"])
def test_an_order_that_numbers_contradict_is_told(done, put, name):
    """Numbers are no ids of arrays without names: 2, 3, 1 are the trees of the first, second and third matrix."""
    matrices = np.array([np.arange(9.0).reshape(3, 3) + 1] * 3)
    put(name, matrices if name == "s.npy" else {f"arr_{place}": each for place, each in enumerate(matrices)})
    for numbers, often in (("231", 1), ("123", 0), ("012", 0)):
        put("t.conllu", conllu(list(numbers), 2))
        ran = done(f"marginals {name} --from head-dep,first --conllu t.conllu")
        line = "matrices and sentences have no common ids and are paired by order: number 1 is called '2'"
        assert ran.err.count(line) == often

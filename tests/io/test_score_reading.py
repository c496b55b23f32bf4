"""`read` gives a Python user what the commands read: distributions, tokens, and CoNLL-U as they write it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import conllu
import numpy as np
import pytest

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.scores.reading import read
from deptree_cli.io.scores.records import ScoredSentence
from tests.sample import DATA

NPZ = (str(DATA / "scores.npz"), {"preset": "natasha"})
GOLD = str(DATA / "gold.conllu")
LABELS = {"labels": str(DATA / "labels.json"), "label_scores": str(DATA / "label_scores.npz")}

# A file and options of `read`.
GIVEN = {
    "npz": NPZ,
    "jsonl": (str(DATA / "scores.jsonl"), {"preset": "natasha"}),
    "npy": (str(DATA / "scores.npy"), {"preset": "supar", "lengths": str(DATA / "lengths.txt")}),
    "batch": (str(DATA / "scores.npy"), {"preset": "supar", "conllu": GOLD}),
    "stream": (str(DATA / "scores_stream.npy"), {"preset": "supar"}),
    "one": (str(DATA / "one.npy"), {"preset": "head-dep"}),
    "figure1": (str(DATA / "figure1.npy"), {}),
    "saturated": (str(DATA / "saturated.npy"), {}),
    "several roots": (NPZ[0], {"preset": "natasha", "single_root": False}),
    "temperature": (NPZ[0], {"preset": "natasha", "temperature": 2.5}),
    "heads": (NPZ[0], {"preset": "natasha", "conllu": GOLD, "fix_heads": True, "temperature": 3.0}),
    "answers": (NPZ[0], {"preset": "natasha,dep-head,last,log"}),
    "another preset": (NPZ[0], {"preset": "supar,log"}),
    "labels": (NPZ[0], NPZ[1] | LABELS),
}

# How an option of `read` is called on the command line, where that is not its own name.
FLAGS = {"preset": "--from", "single_root": "--multi-root"}


def options_of(options: dict[str, Any]) -> list[str]:
    words = []
    for name, value in options.items():
        flag = FLAGS.get(name, f"--{name.replace('_', '-')}")
        words += [flag] if isinstance(value, bool) else [flag, str(value)]
    return words


def agree_with_commands(done, path: str, options: dict[str, Any]) -> None:
    """The same trees under the same seed, with the same probabilities, to the last bit."""
    best = done("decode --format=jsonl -q", path, *options_of(options)).rows
    drawn = done("sample -k 2 --seed 7 --format=jsonl -q", path, *options_of(options)).rows
    sentences = list(read(path, **options))
    assert len(drawn) == 2 * len(best) == 2 * len(sentences)
    for number, (sentence, row) in enumerate(zip(sentences, best, strict=True)):
        found, samples = sentence.distribution, drawn[2 * number : 2 * number + 2]
        assert (sentence.id, found.id) == (row["sent_id"], row["sent_id"])
        assert found.single_root == options.get("single_root", True)
        assert (found.argmax().tolist(), found.entropy()) == (row["heads"], row["entropy"])
        trees = [sample["heads"] for sample in samples]
        assert found.sample(2, 7).tolist() == trees
        assert found.log_probs(trees).tolist() == [sample["log_prob"] for sample in samples]


@pytest.mark.parametrize("name", GIVEN)
def test_files_are_read_as_the_commands_read_them(done, name) -> None:
    agree_with_commands(done, *GIVEN[name])


def test_what_cannot_be_used_is_handed_over_and_left_out_or_raised(scratch) -> None:
    """A line that is not JSON, scores of no sentence, scores without a tree: each with its place and name."""
    first, second, third, *_ = (DATA / "scores.jsonl").read_text(encoding="utf-8").splitlines()
    ragged = json.dumps({"sent_id": "ragged", "scores": [[0, 1], [0]]})
    nan = json.dumps({"sent_id": "nan", "scores": [[float("nan")] * 3] * 2})
    mixed = scratch("mixed.jsonl", "\n".join([first, "oops", second, ragged, nan, third, ""]).encode())
    errors: list[DeptreeError] = []
    found = read(mixed, preset="natasha", on_error=errors.append)
    assert [sentence.id for sentence in found] == ["en-1", "en-2", "en-3"]
    not_json, not_a_matrix, not_a_number = map(str, errors)
    assert not_json.startswith("mixed.jsonl:2 (2): not JSON")
    assert not_a_matrix.startswith("mixed.jsonl:4 (ragged): the rows of the field scores differ in length")
    assert not_a_number.startswith("mixed.jsonl:5 (nan): the score of ROOT -> 1 (nan) is NaN")
    sentences = read(mixed, preset="natasha")
    assert next(sentences).id == "en-1"
    with pytest.raises(DeptreeError, match=r"mixed\.jsonl:2 \(2\): not JSON"):
        next(sentences)


def test_requests_that_make_no_sense(says) -> None:
    for options, part in (
        ({"preset": "natahsa"}, "Did you mean natasha?"),
        ({"conllu": "nowhere.conllu"}, "nowhere.conllu: no such file"),
        ({"label_scores": LABELS["label_scores"]}, "needs the names of the labels"),
        ({"fix_heads": True}, "needs the sentences"),
        ({"temperature": 0}, "the temperature is 0"),
        ({"lengths": str(DATA / "lengths.txt")}, "--lengths needs a padded .npy"),
    ):
        with says(part):
            list(read(NPZ[0], **NPZ[1] | options))


@pytest.fixture(scope="module")
def folder(shared, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("formats")
    for path in (shared / "formats").resolve().iterdir():
        (folder / path.name).symlink_to(path)
    with np.load(folder / "keys_dep_x_head_rect.npz") as archive:
        (folder / "lengths.txt").write_text("".join(f"{len(each)}\n" for each in archive.values()))
    return folder


@pytest.fixture(scope="module")
def known(folder) -> dict[str, TreeDistribution]:
    """The distributions by the logits as NumPy reads them, in the order of the sentences."""
    with np.load(folder / "keys_dep_x_head_rect.npz") as archive:
        squares = {name: np.insert(rectangle.astype(float).T, 0, 0, axis=1) for name, rectangle in archive.items()}
    return {name: TreeDistribution(square, id=name) for name, square in squares.items()}


@pytest.mark.parametrize(
    ("name", "preset", "beside"),
    [
        ("keys_dep_x_head_rect.npz", "natasha", {}),
        ("keys_dep_x_head_rect.npz", "log", {}),  # a rectangle decides its own orientation
        *(("arr_i_square.npz", preset, {}) for preset in ("supar", "dep-head,log")),
        ("stream.npys", "stanza", {}),
        ("padded_batch.npy", "hanlp", {"lengths": "lengths.txt"}),
        ("padded_batch.npy", "hanlp", {"conllu": "sentences.conllu"}),
        ("padded_batch_lengths.npz", "diaparser", {}),
        ("scores.safetensors", "udpipe2", {}),
        ("spacy_diagonal_root.npz", "spacy", {}),
        *((f"one_{number}_depmajor_square.npy", "supar", {}) for number in range(8)),
        ("logprobs.jsonl", "natasha", {}),
        ("one_0_headmajor_weights.npy", "treesample", {}),
        ("allennlp_energy_label_head_dep.npz", "allennlp", {"labels": "labels.json"}),
    ],
)
def test_formats_of_others_are_the_same_distributions(folder, known, name, preset, beside) -> None:
    """Logits to the last bit, by name where the file or what is beside it has names, else by order.

    Probabilities but for what is common to a word's heads, and for the digits that a float32 or six decimals lack; of
    labels that is what is left of an arc when they are summed up; those that no arc may have do not count.
    """
    given = {option: str(folder / file) for option, file in beside.items()}
    found = {each.id: each.distribution for each in read(str(folder / name), preset=preset, **given)}
    due = {"1": list(known.values())[int(name[4])]} if name.startswith("one_") else known
    numbers = range(len(due))
    if set(found) != set(due):
        assert list(found) in ([str(number + 1) for number in numbers], [f"arr_{number}" for number in numbers])
        found = dict(zip(due, found.values(), strict=True))
    for theirs, ours in ((theirs, found[key]) for key, theirs in due.items()):
        if name.startswith(("logprobs", "one_0_headmajor", "allennlp")):
            np.testing.assert_allclose(ours.marginals(), theirs.marginals(), atol=1e-4)
            assert ours.argmax().tolist() == theirs.argmax().tolist()
            assert ours.entropy() == pytest.approx(theirs.entropy(), abs=1e-3)
            trees = theirs.top_k(5)
            np.testing.assert_allclose(ours.log_probs(trees), theirs.log_probs(trees), atol=1e-3)
        else:
            np.testing.assert_array_equal(ours.log_scores[:, 1:], theirs.log_scores[:, 1:])
            np.testing.assert_array_equal(ours.marginals(), theirs.marginals())
            samples = [each.sample(3, np.random.default_rng(7)) for each in (ours, theirs)]  # names give no seeds
            np.testing.assert_array_equal(*samples)
        if beside.get("labels"):
            assert ours.labels.names == tuple(json.loads((folder / "labels.json").read_text(encoding="utf-8")))


BOTH = pytest.mark.parametrize("name", ["sentences.conllu", "gold.conllu"])

# With an empty node, a multiword token, enhanced dependencies and a label that does not stay.
NASTY = """\
# sent_id = n/1
# text = Don't panic
1-2	Don't	_	_	_	_	_	_	_	SpaceAfter=No
1	Do	do	AUX	_	_	3	aux	2:aux	A=b=c
2	n't	not	PART	_	_	1	advmod	0:root	_
2.1	be	be	AUX	_	_	_	_	0:root	CopyOf=1
3	panic	panic	VERB	_	_	0	root	2:conj|2.1:x	_

"""


def sentences(name: str, **options: Any) -> list[ScoredSentence]:
    return list(read(NPZ[0], str(DATA / name), preset="natasha", **options))


@pytest.fixture
def nasty(scratch) -> ScoredSentence:
    scores = scratch("nasty.jsonl", b'{"scores": [[1,1,1,1],[1,1,1,1],[1,1,1,1],[1,1,1,1]]}')
    (only,) = read(scores, scratch("nasty.conllu", NASTY.encode()), preset="head-dep")
    return only


def arcs(tokens: conllu.TokenList) -> list[tuple[Any, ...]]:
    return [tuple(token[name] for name in ("id", "form", "head", "deprel", "deps", "misc")) for token in tokens]


@BOTH
def test_tokens_are_those_of_the_file(name) -> None:
    known = conllu.parse((DATA / name).read_text(encoding="utf-8"))
    for sentence, tokens in zip(sentences(name), known, strict=True):
        assert sentence.tokens == tokens
        assert sentence.tokens.metadata == tokens.metadata
        assert sentence.tokens.serialize() == tokens.serialize()


def test_its_own_tree_changes_nothing(nasty) -> None:
    for sentence in [*sentences("gold.conllu"), nasty]:
        heads = np.array(sentence.record.sentence.heads)
        assert sentence.apply(heads).serialize() == sentence.tokens.serialize()
        assert sentence.to_conllu(heads) == sentence.record.sentence.raw.decode()


@BOTH
def test_tokens_with_a_tree_are_what_is_written_with_it(name) -> None:
    """Through the library or spliced into bytes: the same sentence; and it is read again as it was."""
    for sentence in sentences(name):
        trees = sentence.distribution.sample(5, 7)
        before = sentence.tokens
        together = conllu.parse(sentence.to_conllu(trees))
        for rank, (heads, copy) in enumerate(zip(trees, together, strict=True), 1):
            found = sentence.apply(heads)
            assert [token["head"] for token in found if isinstance(token["id"], int)] == heads.tolist()
            assert arcs(found) == arcs(copy) == arcs(conllu.parse(found.serialize())[0])
            assert arcs(found) == arcs(conllu.parse(sentence.to_conllu(heads))[0])
            assert found.metadata == before.metadata
            assert copy.metadata == {**before.metadata, "sent_id": f"{sentence.id}/sample_{rank}"}
        assert sentence.tokens == before


def test_what_does_not_fit_another_tree_goes(nasty) -> None:
    found = nasty.apply([0, 1, 1])
    assert [token["id"] for token in found] == [(1, "-", 2), 1, 2, 3]
    changed = [(token["head"], token["deprel"], token["deps"]) for token in found[1:]]
    assert changed == [(0, "root", None), (1, "advmod", None), (1, "dep", None)]
    assert arcs(found) == arcs(conllu.parse(nasty.to_conllu([0, 1, 1]))[0])
    assert any(token["id"] == (2, ".", 1) for token in nasty.tokens)


@BOTH
@pytest.mark.parametrize(
    ("line", "trees"),
    [
        ("sample -k 1 --seed 7", lambda found: found.sample(1, 7)),
        ("sample -k 3 --seed 7", lambda found: found.sample(3, 7)),
        ("decode", lambda found: found.argmax()),
        ("decode --method mbr", lambda found: found.mbr()),
        ("decode -k 4", lambda found: found.top_k(4)),
        ("decode $LABELS", lambda found: found.argmax()),
    ],
)
def test_trees_are_written_as_the_command_writes_them(done, name, line, trees) -> None:
    """But for the comments and the notes that it adds."""
    verb, *more = line.split(" ", 1)
    text = done(" ".join([verb, "$SCORES", *more]), "--conllu", DATA / name, "--no-header", "-q").out.decode()
    text = re.sub(r"# (tree_logprob|tree_prob|entropy|label_logprob) = .*\n", "", text)
    text = re.sub(r"\|(HeadProb|LabelProb)=[^|\n]*", "", text)
    text = re.sub(r"\t(HeadProb|LabelProb)=[^|\n]*$", "\t_", text, flags=re.MULTILINE)
    ours = []
    for each in sentences(name, **LABELS if "LABELS" in line else {}):
        found, heads = each.distribution, trees(each.distribution)
        if found.labels is None:
            ours.append(each.to_conllu(heads))
            continue
        best = found.labels.best(heads[None])[0]
        ours.append(each.to_conllu(heads, best))
        tokens = each.apply(heads, best)
        assert arcs(tokens) == arcs(conllu.parse(ours[-1])[0])
        named = [found.labels.names[number] for number in best]
        assert [token["deprel"] for token in tokens if isinstance(token["id"], int)] == named
    assert "".join(ours) == text


def test_trees_are_written_under_names_of_ones_own_and_only_if_they_fit(nasty, says) -> None:
    first = sentences("gold.conllu")[0]
    named = conllu.parse(first.to_conllu(first.distribution.top_k(2), sent_ids=["x", "y-2"]))
    assert [tokens.metadata["sent_id"] for tokens in named] == ["x", "y-2"]
    with says("2 heads given for a sentence of 3 words"):
        nasty.apply([0, 1])


def test_without_sentences_words_beside_the_scores_are_enough(says) -> None:
    first = next(read(NPZ[0], preset="natasha"))
    for ask in (lambda: first.tokens, lambda: first.apply([0] * 8), lambda: first.to_conllu([0] * 8)):
        with says("there are no sentences to write as CoNLL-U"):
            ask()
    worded = next(read(str(DATA / "scores.jsonl"), preset="natasha"))
    assert [token["form"] for token in worded.tokens][:3] == ["She", "saw", "the"]
    assert worded.tokens.metadata["sent_id"] == "en-1"

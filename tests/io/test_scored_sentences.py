"""A sentence with its distribution: its tokens, trees applied to them, CoNLL-U as the commands write it, a picture."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import conllu
import numpy as np
import pytest

from deptree_cli.io.scores.reading import read
from deptree_cli.io.scores.records import ScoredSentence
from tests.sample import DATA

SCORES = str(DATA / "scores.npz")
LABELS = {"labels": str(DATA / "labels.json"), "label_scores": str(DATA / "label_scores.npz")}
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
    """Those of the sample data, with their scores."""
    return list(read(SCORES, str(DATA / name), preset="natasha", **options))


@pytest.fixture
def nasty(scratch) -> ScoredSentence:
    """NASTY, every tree alike."""
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


def test_names_of_ones_own() -> None:
    first = sentences("gold.conllu")[0]
    named = conllu.parse(first.to_conllu(first.distribution.top_k(2), sent_ids=["x", "y-2"]))
    assert [tokens.metadata["sent_id"] for tokens in named] == ["x", "y-2"]


def test_trees_of_another_length(nasty, says) -> None:
    with says("2 heads given for a sentence of 3 words"):
        nasty.apply([0, 1])


def test_without_sentences_there_are_no_tokens(says) -> None:
    first = next(read(SCORES, preset="natasha"))
    for ask in (lambda: first.tokens, lambda: first.apply([0] * 8), lambda: first.to_conllu([0] * 8)):
        with says("there are no sentences to write as CoNLL-U"):
            ask()


def test_words_beside_the_scores_are_enough() -> None:
    first = next(read(str(DATA / "scores.jsonl"), preset="natasha"))
    assert [token["form"] for token in first.tokens][:3] == ["She", "saw", "the"]
    assert first.tokens.metadata["sent_id"] == "en-1"


@pytest.mark.parametrize("options", [{}, LABELS], ids=["arcs", "labels"])
def test_a_picture_for_notebooks(options) -> None:
    for sentence in sentences("sentences.conllu", **options):
        texts = ElementTree.fromstring(sentence._repr_svg_()).itertext()
        assert set(sentence.record.sentence.column("form")) <= set(texts)
    bare = ElementTree.fromstring(next(read(SCORES, preset="natasha"))._repr_svg_())
    assert {"1", "2", "8"} <= {text.strip() for text in bare.itertext()}

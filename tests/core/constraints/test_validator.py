"""That our rules find what the validator of Universal Dependencies finds, sentence by sentence, and where not."""

from __future__ import annotations

import inspect
import io
import json
import re
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from deptree_cli import read
from deptree_cli.core.rules import LabelledTree, Words
from deptree_cli.core.ruleset import NO_HEAD, Ruleset, broken
from deptree_cli.io.conllu.blocks import Block, read_blocks_or_errors
from deptree_cli.io.rules.reading import read_rules, words_of
from tests.core.constraints.test_crossing import random_heads

# Rules of ours, and tests of the validator, of which several are one.
AS_ONE = {
    "rel-upos-fixed-head": "rel-upos-fixed",
    "leaf-det-possessive": "leaf-det",
}
NAMES = {AS_ONE.get(rule.name, rule.name) for rule in read_rules("ud").rules}

# What makes heads no tree.
TREES = frozenset({"invalid-head", "unknown-head", "head-self-loop", "multiple-roots", "non-tree"})


@dataclass(frozen=True)
class Sentence:
    """A sentence and its tree, for reasons why one side finds what the other does not."""

    block: Block
    words: Words
    tree: LabelledTree
    labels: list[str]

    def pairs(self, label: str) -> Iterator[tuple[int, int]]:
        """The words with a label, whatever its subtype, with their heads."""
        for word, (head, own) in enumerate(zip(self.tree.heads, self.labels, strict=True), 1):
            if own.partition(":")[0] == label:
                yield word, head


def has_goeswith(sentence: Sentence) -> bool:
    return any(sentence.labels[head - 1].startswith("advmod") for _, head in sentence.pairs("goeswith") if head)


def tolerated_below_goeswith(sentence: Sentence) -> bool:
    """Whether a goeswith has a dependent that the validator passes over with every function word."""
    below = [(child, head) for word, _ in sentence.pairs("goeswith") for child, head in _children(sentence, word)]
    return any(sentence.labels[child - 1].partition(":")[0] in ("advmod", "punct") for child, _ in below)


def _children(sentence: Sentence, word: int) -> list[tuple[int, int]]:
    return [(child, word) for child in sentence.tree.children.get(word, [])]


def has_ext_pos(sentence: Sentence) -> bool:
    """Whether the head of an oblique acts as another part of speech, which the validator does not look at there."""
    heads = {head for _, head in sentence.pairs("obl") if head}
    return any(f"ExtPos={sentence.words.upos[head - 1]}" in sentence.words.feats[head - 1] for head in heads)


def test_each_error_of_their_level_3_has_a_rule_or_is_among_the_exceptions() -> None:
    level3 = pytest.importorskip("udtools.level3", reason="udtools is not installed")
    errors = re.findall(r"\bError\([^()]*testid=['\"]([a-z0-9-]+)['\"]", inspect.getsource(level3))
    assert {"rel-upos-det", "goeswith-lemma"} <= set(errors)
    rules = files("deptree_cli.io.rules").joinpath("ud.toml").read_text(encoding="utf-8")
    head = rules.partition("\nname = ")[0]
    exceptions = re.findall(r"[\w-]+", head.partition("# Differences from the validator:\n")[2])
    assert set(errors) <= NAMES | AS_ONE.keys() | set(exceptions)


# What one side only may find, and in which sentences. See the head of `ud.toml`.
ONLY_OURS: dict[str, Callable[[Sentence], bool]] = {
    "rel-upos-advmod": has_goeswith,
    "obl-should-be-nmod": has_ext_pos,
    "leaf-goeswith": tolerated_below_goeswith,
    "goeswith-missing-typo": lambda sentence: any(head == 0 for _, head in sentence.pairs("goeswith")),
}
ONLY_THEIRS: dict[str, Callable[[Sentence], bool]] = {
    "obl-should-be-nmod": has_ext_pos,
    "goeswith-gap": lambda sentence: any(word < head for word, head in sentence.pairs("goeswith")),
}


def of_the_validator(text: str, names: Set[str] = frozenset(NAMES)) -> set[tuple[str, str]]:
    """The errors up to level 3, (sentence, our rule), of some names."""
    udtools = pytest.importorskip("udtools", reason="udtools is not installed")
    validator = udtools.Validator(lang="ud", level=3, output=None)
    state = validator.validate_file_handle(io.StringIO(text))
    error = udtools.incident.IncidentType.ERROR
    errors = [each for each in state.error_tracker if each.get_type() is error]
    return {(each.sentid, name) for each in errors if (name := AS_ONE.get(each.testid, each.testid)) in names}


def sentences_of(text: str) -> Iterator[Sentence]:
    for block in read_blocks_or_errors(io.BytesIO(text.encode()), "x", feats=True):
        assert isinstance(block, Block)
        heads = [head for head in block.heads if head is not None]
        tree = LabelledTree(heads, [0] * block.n)
        yield Sentence(block, words_of(block, block.n, None), tree, block.deprels)


def compare(text: str) -> tuple[int, dict[str, int]]:
    """How much both sides find, and how often only ours is found by rule; what is found by one side has its reason."""
    sentences = {each.block.sent_id: each for each in sentences_of(text)}
    ours = {
        (name, AS_ONE.get(found.rule, found.rule))
        for name, each in sentences.items()
        for found in broken(read_rules("ud"), each.words, each.tree.heads, each.labels)
    }
    theirs = of_the_validator(text)
    for found, reasons in ((ours - theirs, ONLY_OURS), (theirs - ours, ONLY_THEIRS)):
        assert [each for each in found if each[1] not in reasons or not reasons[each[1]](sentences[each[0]])] == []
    counts: dict[str, int] = {}
    for _, name in ours - theirs:
        counts[name] = counts.get(name, 0) + 1
    return len(ours & theirs), counts


@pytest.fixture(params=["real_ru", "real_en"])
def treebank(shared: Path, request: pytest.FixtureRequest) -> Path:
    return shared / request.param


def gold_of(treebank: Path) -> str:
    return (treebank / "gold.conllu").read_text(encoding="utf-8")


@pytest.mark.slow("process")
def test_gold_trees_break_what_they_break_for_the_validator(treebank: Path) -> None:
    """All gold trees of both languages: the same errors."""
    both, counts = compare(gold_of(treebank))
    assert both == (2 if treebank.name == "real_ru" else 0)
    assert counts == {}


@pytest.mark.slow("process")
def test_decoded_trees_break_what_they_break_for_the_validator(treebank: Path) -> None:
    """The best trees of 25 sentences without rules break some of them."""
    names = json.loads((treebank / "labels.json").read_text(encoding="utf-8"))
    found = []
    with np.load(treebank / "label_scores.npz") as label_scores:
        each = zip(label_scores.values(), read(str(treebank / "scores.npz"), preset="natasha"), strict=False)
        for (scores, sentence), gold in zip(each, sentences_of(gold_of(treebank)), strict=False):
            heads = sentence.distribution.argmax()
            found.append(with_tree(gold.block, heads.tolist(), _best_labels(scores, heads, names)))
    assert len(found) == 25
    assert compare("".join(found))[0] > 5


def _best_labels(scores: np.ndarray, heads: np.ndarray, names: list[str]) -> list[str]:
    """The best label of each word below its head: scores (n, n+1, L), `root` below ROOT and nowhere else."""
    own = scores[np.arange(len(heads)), heads]
    own = np.where(np.array(names) == "root", -np.inf, own)
    return ["root" if head == 0 else names[best] for head, best in zip(heads, own.argmax(axis=1), strict=True)]


@pytest.mark.slow("process")
@pytest.mark.parametrize(("changed", "trees"), [(1.0, True), (0.3, False)], ids=["random trees", "other labels"])
def test_random_trees_break_what_they_break_for_the_validator(treebank: Path, changed: float, trees: bool) -> None:
    """Random labels over gold words, on random or on gold trees: a thousand errors of nearly every rule."""
    rng = np.random.default_rng(20261124)
    blocks = [each.block for each in sentences_of(gold_of(treebank))][::2]
    names = {label for block in blocks for label in block.deprels} | {"goeswith", "fixed", "clf", "nsubj:outer", "root"}
    wrong = {"dobj", "auxpass:x", "Obj", "obl:Foo", "obl:a:b", "root:", "ROOT", "root:x"}
    labels = sorted((names | wrong) - {"orphan"})  # below ROOT the validator stumbles over it
    text = "".join(_random(block, rng, labels, changed, trees) for block in blocks)
    both, counts = compare(text)
    assert both > 900
    missed = NAMES - {name for _, name in of_the_validator(text)}
    assert missed <= (
        set() if trees else {"punct-is-nonproj", "punct-causes-nonproj", "too-many-objects"}
    )  # rare among gold trees
    assert sum(counts.values()) < 0.02 * both


@pytest.mark.slow("process")
def test_heads_that_are_no_tree_are_none_for_the_validator(treebank: Path) -> None:
    """A head or two of each sentence replaced by anything. The validator stops at the first of several reasons."""
    rng = np.random.default_rng(20261126)
    blocks = [with_heads(each.block, rng) for each in sentences_of(gold_of(treebank))]
    theirs: dict[str, set[str]] = {}
    for name, test in of_the_validator("".join(block.raw.decode() for block in blocks), TREES):
        theirs.setdefault(name, set()).add(test)
    found = 0
    for block in blocks:
        heads = [NO_HEAD if head is None else head for head in block.heads]
        rows = broken(Ruleset("none", ()), words_of(block, block.n, None), heads, block.deprels)
        own, others = {each.rule for each in rows}, theirs.get(block.sent_id, set())
        others -= {"unknown-head"} - own  # said also of what is not a number
        assert others == own or (others < own and others)
        found += bool(own)
    assert found > 0.2 * len(blocks)


def with_heads(block: Block, rng: np.random.Generator) -> Block:
    """A sentence with one or two heads replaced: by another word, the word itself, ROOT, no word, no number."""
    heads = [str(head) for head in block.heads]
    for word in rng.integers(1, block.n + 1, size=rng.integers(1, 3)).tolist():
        others = [str(rng.integers(block.n + 1))] * 4 + [str(word), "0", str(block.n + 1), "_", "-1"]
        heads[word - 1] = others[rng.integers(len(others))]
    found = Block(block.chunk, block.file, any_heads=True)
    return found.with_column("head", heads).with_column("deps", ["_"] * block.n)


def _random(block: Block, rng: np.random.Generator, labels: list[str], changed: float, trees: bool) -> str:
    """The sentence with other labels on this share of its words."""
    heads = random_heads(rng, block.n) if trees else [head or 0 for head in block.heads]
    own = [
        labels[rng.integers(len(labels))] if rng.random() < (changed if head else changed / 10) else label
        for head, label in zip(heads, block.deprels, strict=True)
    ]
    return with_tree(
        block,
        heads,
        ["root" if not head and rng.random() < 0.9 else label for head, label in zip(heads, own, strict=True)],
    )


def with_tree(block: Block, heads: Sequence[int], labels: Sequence[str]) -> str:
    columns = {"head": [str(head) for head in heads], "deprel": labels, "deps": ["_"] * block.n}
    for name, values in columns.items():
        block = block.with_column(name, values)
    return block.raw.decode()

"""What breaks rules, kind by kind; and that the UD validator finds the same, sentence by sentence."""

from __future__ import annotations

import inspect
import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from deptree_cli import read
from deptree_cli.core.constraints.checking import Violation, broken
from deptree_cli.core.constraints.kinds import Function
from deptree_cli.core.constraints.ruleset import Ruleset, ruleset_of
from deptree_cli.core.constraints.words import LabelledTree, Words
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import MULTI_ROOT, PROJECTIVE, SINGLE_ROOT
from deptree_cli.io.conllu.blocks import Block, read_blocks
from deptree_cli.io.rules.reading import read_rules, words_of
from tests.random_rules import random_case

HEADS, LABELS = [2, 0, 2, 2], ["nsubj", "root", "obj", "punct"]
WORDS = Words((), ["NOUN", "VERB", None, "PUNCT"], [frozenset({"Case=Nom"}), *[frozenset()] * 3])


# What makes heads no tree.
TREES = {"invalid-head", "unknown-head", "head-self-loop", "multiple-roots", "non-tree"}


def places(table: dict[str, object], heads: Sequence[int] = HEADS, labels: Sequence[str] = LABELS) -> list[Violation]:
    return broken(ruleset_of("mine", table), WORDS, heads, labels)


@pytest.mark.parametrize(
    ("kind", "rule", "words"),
    [
        ("mask", {"label": "obj", "direction": "right"}, (3,)),
        ("mask", {"label": "nsubj", "upos": "PRON", "allow": True}, (1,)),
        ("mask", {"label": "nsubj", "feats": "Case=Nom", "head-upos": "VERB"}, (1,)),
        ("mask", {"label": ["!root"], "distance": [2, 9]}, (4,)),
        ("mask", {"label": "root", "root": True}, (2,)),
        ("at-most-one", {"label": ["nsubj", "obj"]}, (1, 3)),
        ("leaf", {"label": "root"}, None),
        ("below", {"upos": "VERB", "deny": ["obj"]}, (3, 2)),
        ("below", {"upos": "VERB", "deny": ["obj"], "unless": ["nsubj"]}, ()),
        ("below", {"upos": "VERB", "deny": ["obj"], "unless": ["root"]}, (3, 2)),
        ("no-gaps", {"label": "punct"}, (4, 3)),
        ("no-gaps", {"label": "obj"}, ()),
        ("no-crossing", {"label": "punct"}, ()),
    ],
)
def test_a_rule_and_the_words_that_break_it(kind: str, rule: dict[str, object], words: tuple[int, ...] | None) -> None:
    """A conflict's words are those whose arcs break the rule, not those that might have excused it."""
    found = places({kind: [{"name": "it", **rule}]})
    if words is None:
        assert [each.words for each in found] == [(1, 2), (3, 2), (4, 2)]
    else:
        assert found == ([Violation("it", words[0], words)] if words else [])


def test_crossing_arcs() -> None:
    found = places({"no-crossing": ["punct"]}, [3, 0, 2, 2], ["punct", "root", "obj", "obl"])
    assert found == [Violation("no-crossing punct", 1, (1, 2))]


def test_spans_and_rules_of_ones_own() -> None:
    """Whatever a function names; a stretch of words of which two have their heads outside."""
    rules = Ruleset("mine", (Function("long", lambda heads, labels: (4, 1) if labels[3] == "punct" else None),))
    spanned = Words((), WORDS.upos, WORDS.feats, spans=((3, 4), (1, 2)))
    assert broken(rules, spanned, HEADS, LABELS) == [Violation("long", 4, (4, 1)), Violation("spans", 3, (3, 4))]


def test_every_word_too_many_is_a_place() -> None:
    """Of three words of a stretch with their heads outside, of three subjects of a verb."""
    spanned = Words((), WORDS.upos, WORDS.feats, spans=((1, 3),))
    assert [each.words for each in broken(Ruleset("none", ()), spanned, [4, 4, 4, 0], LABELS)] == [(1, 2), (1, 3)]
    found = places({"at-most-one": ["nsubj"]}, [4, 4, 4, 0], ["nsubj", "nsubj", "nsubj", "root"])
    assert [each.words for each in found] == [(1, 2), (1, 3)]


def test_what_is_not_known_breaks_nothing() -> None:
    """A word without a label has none of those that a rule names, `!these` neither; one without UPOS is left out."""
    assert not places({"mask": [{"label": ["!nsubj", "!root"]}]}, labels=["nsubj", "root", "", ""])
    assert not places({"mask": [{"label": "obj", "upos": "NOUN", "allow": True}]})
    assert places({"mask": [{"distance": [2, 9], "label": []}]}, labels=["", "", "", ""])


@pytest.mark.parametrize(
    ("heads", "labels", "problem"),
    [
        ([2, 0, 2], LABELS, "3 heads given for a sentence of 4 words"),
        (HEADS, LABELS[:1], "1 label given for a sentence of 4 words"),
    ],
)
def test_another_number_of_heads_or_labels(heads: list[int], labels: list[str], problem: str) -> None:
    with pytest.raises(DeptreeError, match=problem):
        places({"leaf": ["punct"]}, heads, labels)


@pytest.mark.parametrize(
    ("heads", "found"),
    [
        ([2, 0, 2, 2], []),
        ([2, 0, 3, 2], [("head-self-loop", 3)]),
        ([2, 0, 5, -1], [("unknown-head", 3), ("invalid-head", 4)]),
        ([0, 0, 2, 0], [("multiple-roots", 1, 2, 4)]),
        ([2, 1, 4, 3], [("non-tree", 1, 2), ("non-tree", 3, 4)]),
        ([4, 0, 1, 3], [("non-tree", 1, 3, 4)]),
        ([-1, -1, -1, -1], [("invalid-head", word) for word in (1, 2, 3, 4)]),
        ([-1, 4, 2, 2], [("invalid-head", 1), ("non-tree", 2, 4)]),
    ],
)
def test_what_is_no_tree(heads: list[int], found: list[tuple[str, int]]) -> None:
    """Each cycle is a place, and so are all roots together; what hangs on a cycle is not named again."""
    nothing = Ruleset("none", ())
    expected = [(name, words[0], tuple(words)) for name, *words in found]
    assert broken(nothing, WORDS, heads, LABELS) == expected
    several = broken(nothing, WORDS, heads, LABELS, MULTI_ROOT)
    assert several == [each for each in expected if each[0] != "multiple-roots"]


def test_trees_of_another_space() -> None:
    """Crossing arcs are named after the space, at each of the words whose arc is crossed."""
    nothing = Ruleset("none", ())
    crossed = [("projective", 1, (1, 2)), ("projective", 2, (2, 1))]
    assert broken(nothing, WORDS, [3, 4, 4, 0], LABELS, PROJECTIVE) == crossed
    assert broken(nothing, WORDS, [3, 4, 4, 0], LABELS) == []
    assert broken(nothing, WORDS, [3, 4, 9, 0], LABELS, PROJECTIVE) == [("unknown-head", 3, (3,)), *crossed]


def test_what_heads_that_are_missing_would_decide_is_left_out() -> None:
    """A label by itself, a part of speech and dependents are known; heads, excuses and what stands in gaps are not."""
    arcs = {"mask": [{"name": "no", "label": "obj"}, {"name": "root-is-not-0", "label": "root", "root": False}]}
    assert places(arcs, [-1, 3, 0, 2], ["obj", "root", "root", "root"]) == [
        ("invalid-head", 1, (1,)),
        ("no", 1, (1,)),
        ("root-is-not-0", 2, (2,)),
        ("root-is-not-0", 4, (4,)),
    ]
    excused = {"below": [{"name": "no", "upos": "VERB", "deny": ["obj"], "unless": ["cop"]}]}
    for label, is_decided in (("nsubj", True), ("cop", False)):
        found = places(excused, [9, 0, 2, 2], [label, "root", "obj", "cop:x" if is_decided else "punct"])
        assert [each.rule for each in found] == ["unknown-head"]  # excused, or it may be
    assert places(excused, [9, 0, 2, 2], ["nsubj", "root", "obj", "punct"])[1:] == [("no", 3, (3, 2))]
    gaps = {"no-gaps": [{"name": "no", "label": "flat"}]}
    assert places(gaps, [0, -1, 1, 1], ["root", "flat", "flat", "det"]) == [("invalid-head", 2, (2,))]
    assert ("no", 3, (3, 2)) in places(gaps, [0, -1, 1, 1], ["root", "det", "flat", "det"])


def test_functions_are_asked_about_trees_only() -> None:
    rules = Ruleset("mine", (Function("all", lambda heads, labels: (1,)),))
    assert [each.rule for each in broken(rules, WORDS, HEADS, LABELS)] == ["all"]
    assert [each.rule for each in broken(rules, WORDS, [2, 1, 2, 2], LABELS)] == ["non-tree"]


def test_what_is_broken_without_a_head_is_so_with_any_head() -> None:
    """Random rules of every kind on random heads: whatever heads the words get that have none, the rule is broken."""
    rng, found = np.random.default_rng(20261126), 0
    for seed in range(500):
        case = random_case(SINGLE_ROOT, seed)
        n = case.words.n
        heads = [int(rng.choice(range(-1, n + 2))) for _ in range(n)]
        labels = [str(rng.choice([*filter(None, case.names), "det"])) for _ in range(n)]
        rules = {each.rule for each in broken(case.rules, case.known, heads, labels)} - TREES
        known = [0 <= head <= n and head != word for word, head in enumerate(heads, 1)]
        places_of = [[head] if is_known else range(n + 1) for head, is_known in zip(heads, known, strict=True)]
        for full in product(*places_of):
            if not any(head == word for word, head in enumerate(full, 1)):
                assert rules <= {each.rule for each in broken(case.rules, case.known, full, labels)}
        found += bool(rules) and not all(known)
    assert found > 90


# Beside the validator.

# Rules of ours, and tests of the validator, of which several are one.
AS_ONE = {
    "rel-upos-fixed-head": "rel-upos-fixed",
    "leaf-det-possessive": "leaf-det",
    "punct-is-nonproj": "punct-nonproj",
    "punct-causes-nonproj": "punct-nonproj",
}
NAMES = {AS_ONE.get(rule.name, rule.name) for rule in read_rules("ud").rules}


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


def test_each_error_of_their_level_3_has_a_rule_or_is_in_the_table_of_exceptions() -> None:
    level3 = pytest.importorskip("udtools.level3", reason="udtools is not installed")
    errors = re.findall(r"\bError\([^()]*testid=['\"]([a-z0-9-]+)['\"]", inspect.getsource(level3))
    assert {"rel-upos-det", "goeswith-lemma"} <= set(errors)
    manual = (Path(__file__).parents[3] / "docs" / "commands.md").read_text(encoding="utf-8")
    table = re.search(r"with these exceptions:\n\n(.*?)\n\n", manual, re.S)[1]
    assert [each for each in errors if each not in NAMES | AS_ONE.keys() and f"`{each}`" not in table] == []


# What one side only may find, and in which sentences. See the table in docs/commands.md.
ONLY_OURS: dict[str, Callable[[Sentence], bool]] = {
    "punct-nonproj": lambda sentence: any(sentence.pairs("punct")),
    "rel-upos-advmod": has_goeswith,
    "obl-should-be-nmod": has_ext_pos,
    "leaf-goeswith": tolerated_below_goeswith,
    "goeswith-missing-typo": lambda sentence: any(head == 0 for _, head in sentence.pairs("goeswith")),
}
ONLY_THEIRS: dict[str, Callable[[Sentence], bool]] = {
    "obl-should-be-nmod": has_ext_pos,
    "goeswith-gap": lambda sentence: any(word < head for word, head in sentence.pairs("goeswith")),
    "goeswith-missing-typo": lambda sentence: not sentence.words.has_feats,
}


def of_the_validator(text: str) -> set[tuple[str, str]]:
    """The errors up to level 3, (sentence, our rule), for which there are rules of ours."""
    udtools = pytest.importorskip("udtools", reason="udtools is not installed")
    validator = udtools.Validator(lang="ud", level=3, output=None)
    state = validator.validate_file_handle(io.StringIO(text))
    error = udtools.incident.IncidentType.ERROR
    errors = [each for each in state.error_tracker if each.get_type() is error]
    return {(each.sentid, name) for each in errors if (name := AS_ONE.get(each.testid, each.testid)) in NAMES}


def sentences_of(text: str) -> Iterator[Sentence]:
    for block in read_blocks(io.BytesIO(text.encode()), "x"):
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
    """All gold trees of both languages: the same errors, but for crossed punctuation, which is stricter on purpose."""
    both, counts = compare(gold_of(treebank))
    assert both == (2 if treebank.name == "real_ru" else 0)
    assert counts.keys() <= {"punct-nonproj"}
    assert counts["punct-nonproj"] < 15


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
    assert missed <= (set() if trees else {"punct-nonproj", "too-many-objects"})  # rare among gold trees
    assert sum(counts.values()) < 0.02 * both


def _random(block: Block, rng: np.random.Generator, labels: list[str], changed: float, trees: bool) -> str:
    """The sentence with other labels on this share of its words."""
    heads = _random_heads(rng, block.n) if trees else [head or 0 for head in block.heads]
    own = [
        labels[rng.integers(len(labels))] if rng.random() < (changed if head else changed / 10) else label
        for head, label in zip(heads, block.deprels, strict=True)
    ]
    return with_tree(
        block,
        heads,
        ["root" if not head and rng.random() < 0.9 else label for head, label in zip(heads, own, strict=True)],
    )


def _random_heads(rng: np.random.Generator, n: int) -> list[int]:
    """A tree with one root: each word below one that came before it in a random order."""
    order, heads = (rng.permutation(n) + 1).tolist(), [0] * n
    for place, word in enumerate(order):
        heads[word - 1] = order[rng.integers(place)] if place else 0
    return heads


def with_tree(block: Block, heads: Sequence[int], labels: Sequence[str]) -> str:
    columns = {"head": [str(head) for head in heads], "deprel": labels, "deps": ["_"] * block.n}
    for name, values in columns.items():
        block = block.with_column(name, values)
    return block.raw.decode()

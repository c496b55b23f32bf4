"""Rules about gaps by dominance, and our rules beside the validator of Universal Dependencies, sentence by sentence."""

from __future__ import annotations

import inspect
import io
import re
from importlib.resources import files
from typing import NamedTuple

import numpy as np
import pytest

from deptree_cli.core.oracle import all_trees
from deptree_cli.core.rules import LabelledTree, OutOfGaps, ProjectiveArcs, Words
from deptree_cli.core.ruleset import Ruleset, broken
from deptree_cli.core.spaces import MULTI_ROOT
from deptree_cli.io.conllu.blocks import Block, read_blocks_or_errors
from deptree_cli.io.rules.reading import read_rules, words_of
from tests.tree_files import tree_text

GAPS = (ProjectiveArcs("punct-is-nonproj", ("punct",)), OutOfGaps("punct-causes-nonproj", ("punct",)))
NAMES = tuple(rule.name for rule in GAPS)


def test_words_in_gaps_are_those_that_the_validator_names():
    """All trees of up to five words, with one root or several, and longer ones at random; by its own two functions."""
    utils = pytest.importorskip("udtools.utils", reason="udtools is not installed")
    document = pytest.importorskip("udapi.core.document", reason="udapi is not installed")
    rng, count = np.random.default_rng(7), 0
    trees = [heads for n in range(1, 6) for heads in all_trees(n, MULTI_ROOT).tolist()]
    trees += [random_heads(rng, int(rng.integers(6, 13))) for _ in range(400)]
    parsed = document.Document()
    parsed.from_conllu_string("".join(tree_text(heads, ["punct"] * len(heads)) for heads in trees))
    for bundle, heads in zip(parsed.bundles, trees, strict=True):
        labels = rng.choice(["punct", "dep"], len(heads), p=[0.9, 0.1]).tolist()
        marks = [node for node in bundle.get_tree().descendants if labels[node.ord - 1] == "punct"]
        tests = zip(NAMES, (utils.get_gap, utils.get_caused_nonprojectivities), strict=True)
        expected = {(name, node.ord) for name, test in tests for node in marks if test(node)}
        words = Words(("dep", "punct"), [None] * len(heads), [frozenset()] * len(heads))
        found = [(each.rule, each.word) for each in broken(Ruleset("x", GAPS), words, heads, labels, MULTI_ROOT)]
        assert len(found) == len(set(found))
        assert set(found) == expected, (heads, labels)
        count += len(found)
    assert count > 1000


def random_heads(rng, n):
    order, heads = (rng.permutation(n) + 1).tolist(), [0] * n
    for place, word in enumerate(order):
        heads[word - 1] = order[rng.integers(place)] if place else 0
    return heads


# Rules of ours, and tests of the validator, of which several are one.
AS_ONE = {"rel-upos-fixed-head": "rel-upos-fixed", "leaf-det-possessive": "leaf-det"}
OURS = {AS_ONE.get(rule.name, rule.name) for rule in read_rules("ud").rules}


class Annotated(NamedTuple):
    block: Block
    words: Words
    tree: LabelledTree

    def pairs(self, label):
        """The words with a label, whatever its subtype, with their heads."""
        for word, (head, own) in enumerate(zip(self.tree.heads, self.block.deprels, strict=True), 1):
            if own.partition(":")[0] == label:
                yield word, head


def sentences_of(text):
    for block in read_blocks_or_errors(io.BytesIO(text.encode()), "x", feats=True):
        heads = [head for head in block.heads if head is not None]
        yield Annotated(block, words_of(block, block.n, None), LabelledTree(heads, [0] * block.n))


def tolerated_below_goeswith(sentence):
    below = [child for word, _ in sentence.pairs("goeswith") for child in sentence.tree.children.get(word, [])]
    return any(sentence.block.deprels[child - 1].partition(":")[0] in ("advmod", "punct") for child in below)


def has_ext_pos(sentence):
    heads = {head for _, head in sentence.pairs("obl") if head}
    return any(f"ExtPos={sentence.words.upos[head - 1]}" in sentence.words.feats[head - 1] for head in heads)


def test_each_error_of_their_level_3_has_a_rule_or_is_among_the_exceptions():
    level3 = pytest.importorskip("udtools.level3", reason="udtools is not installed")
    errors = re.findall(r"\bError\([^()]*testid=['\"]([a-z0-9-]+)['\"]", inspect.getsource(level3))
    assert {"rel-upos-det", "goeswith-lemma"} <= set(errors)
    rules = files("deptree_cli.io.rules").joinpath("ud.toml").read_text(encoding="utf-8")
    head = rules.partition("\nname = ")[0]
    exceptions = re.findall(r"[\w-]+", head.partition("# Differences from the validator:\n")[2])
    assert set(errors) <= OURS | AS_ONE.keys() | set(exceptions)


# What one side only may find, and in which sentences. See the head of `ud.toml`.
ONLY_OURS = {
    "rel-upos-advmod": lambda sentence: any(
        sentence.block.deprels[head - 1].startswith("advmod") for _, head in sentence.pairs("goeswith") if head
    ),
    "obl-should-be-nmod": has_ext_pos,
    "leaf-goeswith": tolerated_below_goeswith,
    "goeswith-missing-typo": lambda sentence: any(head == 0 for _, head in sentence.pairs("goeswith")),
}
ONLY_THEIRS = {
    "obl-should-be-nmod": has_ext_pos,
    "goeswith-gap": lambda sentence: any(word < head for word, head in sentence.pairs("goeswith")),
}


def of_the_validator(text):
    udtools = pytest.importorskip("udtools", reason="udtools is not installed")
    validator = udtools.Validator(lang="ud", level=3, output=None)
    state = validator.validate_file_handle(io.StringIO(text))
    error = udtools.incident.IncidentType.ERROR
    errors = [each for each in state.error_tracker if each.get_type() is error]
    return {(each.sentid, name) for each in errors if (name := AS_ONE.get(each.testid, each.testid)) in OURS}


def compare(text):
    sentences = {each.block.sent_id: each for each in sentences_of(text)}
    ours = {
        (name, AS_ONE.get(found.rule, found.rule))
        for name, each in sentences.items()
        for found in broken(read_rules("ud"), each.words, each.tree.heads, each.block.deprels)
    }
    theirs = of_the_validator(text)
    for found, reasons in ((ours - theirs, ONLY_OURS), (theirs - ours, ONLY_THEIRS)):
        assert [each for each in found if each[1] not in reasons or not reasons[each[1]](sentences[each[0]])] == []
    return len(ours & theirs), len(ours - theirs)


@pytest.fixture(params=["real_ru", "real_en"])
def gold(shared, request):
    return (shared / request.param / "gold.conllu").read_text(encoding="utf-8")


@pytest.mark.slow("process")
def test_gold_trees_break_what_they_break_for_the_validator(gold, request):
    assert compare(gold) == (2 if "real_ru" in request.node.name else 0, 0)


@pytest.mark.slow("process")
@pytest.mark.parametrize(("changed", "trees"), [(1.0, True), (0.3, False)], ids=["random trees", "other labels"])
def test_random_trees_break_what_they_break_for_the_validator(gold, changed, trees):
    rng = np.random.default_rng(20261124)
    blocks = [each.block for each in sentences_of(gold)][::2]
    names = {label for block in blocks for label in block.deprels} | {"goeswith", "fixed", "clf", "nsubj:outer", "root"}
    wrong = {"dobj", "auxpass:x", "Obj", "obl:Foo", "obl:a:b", "root:", "ROOT", "root:x"}
    labels = sorted((names | wrong) - {"orphan"})  # below ROOT the validator stumbles over it
    text = "".join(randomised(block, rng, labels, changed, trees) for block in blocks)
    both, only_ours = compare(text)
    assert both > 900
    missed = OURS - {name for _, name in of_the_validator(text)}
    assert missed <= (set() if trees else {*NAMES, "too-many-objects"})  # rare among gold trees
    assert only_ours < 0.02 * both


def randomised(block, rng, labels, changed, trees):
    heads = random_heads(rng, block.n) if trees else [head or 0 for head in block.heads]
    own = [
        labels[rng.integers(len(labels))] if rng.random() < (changed if head else changed / 10) else label
        for head, label in zip(heads, block.deprels, strict=True)
    ]
    own = ["root" if not head and rng.random() < 0.9 else label for head, label in zip(heads, own, strict=True)]
    for name, values in {"head": list(map(str, heads)), "deprel": own, "deps": ["_"] * block.n}.items():
        block = block.with_column(name, values)
    return block.raw.decode()

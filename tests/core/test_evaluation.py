"""Counts of trees by hand, broken down by classes; bootstrap intervals and the paired test against enumeration.

Random files beside the script of the shared task: tests/io/evaluation.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, norm
from scipy.stats import t as student

from deptree_cli.core import evaluation
from deptree_cli.core.evaluation import CLASSES, METRICS, by_class, in_order
from deptree_cli.core.intervals import bootstrap, f1, percentiles, randomisation_test
from tests.tree_files import cells, comparison, tree_text, word

# She(2) saw(0) the(4) man(2) .(2)
LABELS = ["nsubj", "root", "det", "obj", "punct"]
GOLD = tree_text([2, 0, 4, 2, 2], LABELS)


def test_by_hand():
    """A wrong head, a right head with a wrong label that makes a functional word one with content, a subtype."""
    system = tree_text([2, 0, 2, 2, 2], ["nsubj:outer", "root", "nmod", "obl", "punct"])
    found = cells(comparison(GOLD, system))
    assert [found[name][:3] for name in ("UAS", "LAS", "CLAS")] == [(4, 5, 5), (3, 5, 5), (2, 3, 4)]
    assert found["MLAS"] == found["BLEX"] == (2, 3, 4, 3)
    assert found["Tokens"] == (5, 5, 5, 0)
    assert found["Sentences"] == (1, 1, 1, 0)
    changed = tree_text([2, 0, 2, 2, 2], LABELS), GOLD.replace("3\tw\t_\t_", "3\tw\t_\tDET")
    lost = [cells(comparison(GOLD, each)) for each in changed]  # function words are part of MLAS
    assert [(each["MLAS"][0], each["CLAS"][0]) for each in lost] == [(1, 3), (2, 3)]


def test_punctuation():
    """Gold punctuation is out with what is aligned to it; a word of the system's that has no counterpart is out if the
    system calls it so; another that the system alone calls so is counted, on both sides."""
    gold = word(1, "a", 0, "root") + word(2, "...", 1, "punct") + word(3, "!", 1, "punct") + "\n"
    system = word(1, "a", 0, "root") + word(2, "..", 1, "punct") + word(3, ".", 1) + word(4, "!", 1, "obj") + "\n"
    assert cells(comparison(gold, system, no_punct=True))["UAS"] == (1, 1, 2, 1)
    assert cells(comparison(gold, system))["UAS"] == (2, 3, 4, 2)
    gold = word(1, "a", 0, "root") + word(2, "b", 1, "obj") + "\n"
    assert cells(comparison(gold, gold.replace("obj", "punct"), no_punct=True))["UAS"] == (2, 2, 2, 2)


def test_relations_and_features_are_those_of_the_shared_task():
    udeval = pytest.importorskip("udtools.udeval", reason="udtools is not installed")
    found = evaluation.CONTENT, evaluation.FUNCTIONAL, evaluation.UNIVERSAL_FEATURES
    assert found == (udeval.CONTENT_DEPRELS, udeval.FUNCTIONAL_DEPRELS, udeval.UNIVERSAL_FEATURES)
    assert len(METRICS) == 15
    given = "Foo=Bar", "_", "Number=Sing|Case=Nom|Number[psor]=Sing"
    assert [evaluation.universal_features(each) for each in given] == ["", "", "Case=Nom|Number=Sing"]
    assert evaluation.universal("nsubj:pass") == "nsubj"


@pytest.mark.quick
@pytest.mark.parametrize("root", [2, 4, 6, -1, "_", "x"])
def test_heads_that_are_no_words_are_wrong(root):
    found = cells(comparison(GOLD, tree_text([2, root, 4, 2, 2], LABELS)))
    assert found["UAS"] == found["LAS"] == (4, 5, 5, 5)
    assert found["CLAS"] == found["MLAS"] == (2, 3, 3, 3)


# The arc from word 4 to word 2 spans word 3, which is below word 1.
CROSSING = [0, 4, 1, 1], ["root", "case", "obj", "obj"]
FLAT = [0, 1, 1, 1], ["root", "obj", "obj", "obl"]


def of_classes(kind, gold=CROSSING, system=FLAT):
    return of_texts(kind, tree_text(*gold), tree_text(*system))


def of_texts(kind, gold, system):
    kinds, compared = [CLASSES.get(kind)], comparison(gold, system)
    (found,) = by_class(compared, kinds, compared.gold.words, compared.system.words)
    return {each[1:]: [counter[each] for counter in found] for each in in_order(found, kinds)}


@pytest.mark.quick
@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        ("label", "obj LAS 1 2 2, case LAS 0 1 0, root LAS 1 1 1, obl LAS 0 0 1"),
        ("arc-length", "root UAS 1 1 1 LAS 1 1 1, 1 UAS 0 0 1 LAS 0 0 1, 2 UAS 1 2 1 LAS 1 2 1, 3 UAS 1 1 1 LAS 0 1 1"),
        ("projectivity", "projective UAS 3 3 4 LAS 2 3 4, non-projective UAS 0 1 0 LAS 0 1 0"),
    ],
)
def test_rows_of_classes(kind, rows):
    """Right words, gold words, the system's. Labels by their frequency in the gold tree; those of the system too."""
    found = {}
    for (name, metric), counts in of_classes(kind).items():
        found[name] = f"{found.get(name, name)} {metric} {' '.join(map(str, counts))}"
    assert ", ".join(found.values()) == rows


@pytest.mark.parametrize("lost", [-1, 3, 9])
def test_words_without_an_arc(lost):
    """A system's head that is no word, or the word itself, is no arc; crossing arcs are those of trees only."""
    system = [0, 1, lost, 1], FLAT[1]
    assert of_classes("arc-length", CROSSING, system)["none", "UAS"] == [0, 0, 1]
    rows = of_classes("projectivity", CROSSING, system)
    assert rows["none", "UAS"] == [0, 0, 2]  # the right ones are in their gold classes
    assert rows["projective", "UAS"] == [2, 3, 2]
    assert of_classes("sentence-length", CROSSING, system)["1-10", "UAS"] == [2, 4, 4]


@pytest.mark.parametrize(("n", "name"), [(1, "1-10"), (10, "1-10"), (11, "11-20"), (50, "41-50"), (51, "51+")])
def test_sentence_lengths(n, name):
    chain = range(n), ["dep"] * n
    assert of_classes("sentence-length", chain, chain) == {(name, "UAS"): [n, n, n], (name, "LAS"): [n, n, n]}


@pytest.mark.parametrize("kind", CLASSES.names)
def test_classes_divide_the_words(kind):
    random = np.random.default_rng(3)
    trees = [(random.integers(0, range(1, 13)).tolist(), random.choice(["a", "b"], 12).tolist()) for _ in range(40)]
    for pair in zip(trees[::2], trees[1::2], strict=True):
        for metric in CLASSES.get(kind).metrics:
            rows = np.array([row for (_, each), row in of_classes(kind, *pair).items() if each == metric])
            assert (rows[:, :1] <= rows[:, 1:]).all()
            assert rows[:, 1:].sum(axis=0).tolist() == [12, 12]


def test_a_right_word_is_in_the_class_of_its_gold_arc():
    gold = word(1, "a", 3, "det") + word(2, "bc", 3, "amod") + word(3, "d", 0, "root") + "\n"
    system = word(1, "a", 4, "det") + word(2, "b", 4) + word(3, "c", 4) + word(4, "d", 0, "root") + "\n"
    rows = of_texts("arc-length", gold, system)
    assert rows["2", "UAS"] == [1, 1, 2]
    assert rows["1", "UAS"] == [0, 1, 1]
    assert ("3", "UAS") not in rows


# The difficulty of a sentence, of which the words of a corpus are not independent: the share of right words is 0.8.
EASY = 8, 2


def corpora(random, size, sentences, gain=0.0):
    """Two systems' counts of sentences of 5 to 25 words, (size, sentences, 2, 1, 3); the second is better by a gain."""
    words = random.integers(5, 26, (size, sentences))
    shares = random.beta(*EASY, (size, sentences))
    right = [random.binomial(words, np.minimum(shares + more, 1)) for more in (0.0, gain)]
    return np.stack([np.stack([each, words, words], axis=-1) for each in right], axis=2)[:, :, :, None]


@pytest.mark.slow("statistics")
@pytest.mark.parametrize(("sentences", "seed"), [(200, 1), (10, 10)])
def test_intervals_cover(sentences, seed):
    """400 corpora: 380 of the 95 % intervals should cover 0.8; 4 standard deviations are 17.4.

    Intervals of 200 sentences that take words for independent cover less, and so do plain percentiles of 10 sentences:
    in less than 92 % (368), where ours are in more.
    """
    random, covered = np.random.default_rng(seed), np.zeros(3, dtype=int)
    for counts in corpora(random, 400, sentences)[:, :, 0]:
        drawn = bootstrap(counts, 400, random)
        share, words = f1(counts.sum(axis=0)), counts[:, 0, 1].sum()
        error = 1.96 * np.sqrt(share * (1 - share) / words)
        plain = np.quantile(drawn, [0.025, 0.975], axis=0)
        ends = percentiles(drawn, 0.95, sentences), plain, (share - error, share + error)
        covered += [low[0] <= 0.8 <= high[0] for low, high in ends]
    ours, plain, by_words = covered
    assert (362 if sentences == 200 else 368) <= ours <= 397
    assert by_words < 362 if sentences == 200 else plain < 368


@pytest.mark.parametrize("units", [2, 5, 30])
def test_percentiles_of_few_units_are_expanded(units):
    """Those of Student's t, farther out by sqrt(n / (n - 1)) (Hesterberg 2015, section 5.3)."""
    ends = norm.cdf(np.sqrt(units / (units - 1)) * student.ppf([0.1, 0.9], units - 1))
    found = percentiles(np.linspace(0, 1, 100_001), 0.8, units)
    assert [*found] == pytest.approx(ends)


def test_resampled_scores_are_those_of_drawn_sentences():
    """Of three sentences 27 draws are equally likely: each score as often as it should be (5 standard errors)."""
    counts = np.array([[[1, 2, 2]], [[3, 4, 6]], [[0, 5, 1]]])
    exact = np.array([f1(counts[list(draw)].sum(axis=0))[0] for draw in product(range(3), repeat=3)])
    found = bootstrap(counts, 5000, np.random.default_rng(2))[:, 0]
    for value in np.unique(exact.round(12)):
        share = np.isclose(exact, value).mean()
        assert np.isclose(found, value).mean() == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / 5000))


def test_units_of_the_same_counts_are_drawn_together():
    """30 right words and 10 wrong ones, each a unit: the right ones drawn are binomial (each share to 5 standard errors
    of 5,000 draws); so is the swapped difference of a system with 30 right ones and one with 24 of these."""
    counts = np.array([[[1, 1, 1]]] * 30 + [[[0, 1, 1]]] * 10)
    found = np.rint(40 * bootstrap(counts, 5000, np.random.default_rng(20))[:, 0]).astype(int)
    shares = binom.pmf(np.arange(41), 40, 0.75)
    width = 5 * np.sqrt(shares * (1 - shares) / 5000) + 1e-3
    assert (np.abs(np.bincount(found, minlength=41) / 5000 - shares) < width).all()
    other = counts.copy()
    other[:6, 0, 0] = 0
    exact = binom.pmf([0, 6], 6, 0.5).sum()
    p = randomisation_test(counts[:, 0], other[:, 0], 5000, np.random.default_rng(21))
    assert p == pytest.approx(exact, abs=5 * np.sqrt(exact * (1 - exact) / 5000))


def test_p_values_are_those_of_all_swaps():
    """Of 8 sentences there are 256 ways to swap: 5 standard errors of 5,000 draws."""
    first, second = corpora(np.random.default_rng(3), 1, 8, gain=0.05)[0].transpose(1, 0, 2, 3)
    swaps = np.array(list(product([False, True], repeat=8)))[:, :, None, None]
    one, other = (f1(np.where(swaps, *pair).sum(axis=1)) for pair in ((first, second), (second, first)))
    exact = (abs(one - other) >= abs(f1(second.sum(axis=0)) - f1(first.sum(axis=0)))).mean()
    found = randomisation_test(first, second, 5000, np.random.default_rng(4))[0]
    assert 0.05 < exact < 0.95
    assert found == pytest.approx(exact, abs=5 * np.sqrt(exact * (1 - exact) / 5000))


def test_the_test_keeps_its_level():
    """600 pairs of equally good systems: 30 p-values up to 0.05 are expected; 4 standard deviations are 21."""
    random = np.random.default_rng(5)
    p = [randomisation_test(*pair.transpose(1, 0, 2, 3), 199, random)[0] for pair in corpora(random, 600, 40)]
    assert 9 <= np.sum(np.array(p) <= 0.05) <= 51


def test_the_test_finds_a_difference():
    """3 points over 300 sentences are found in at least 45 of 50 pairs, and the p-value is never 0."""
    random = np.random.default_rng(6)
    pairs = corpora(random, 50, 300, gain=0.03)
    p = np.array([randomisation_test(*pair.transpose(1, 0, 2, 3), 199, random)[0] for pair in pairs])
    assert (p <= 0.05).sum() >= 45
    assert p.min() >= 1 / 200


def test_equal_systems_do_not_differ_and_without_words_a_score_is_0():
    counts = corpora(np.random.default_rng(7), 1, 30)[0][:, 0]
    assert randomisation_test(counts, counts, 99, np.random.default_rng(8)).tolist() == [1.0]
    assert f1(np.array([0, 0, 0])) == 0.0

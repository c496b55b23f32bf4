"""Surprisals, joint probabilities and sentences that are drawn: those of small parsers, of which all is enumerated."""

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import PROJECTIVE
from deptree_cli.hpyp.model import parsing
from deptree_cli.hpyp.model.parsing import Evidence, Joint, evidence, generated, joint
from tests.hpyp.reference import SHIFT, Configuration, Enumeration, static_derivation
from tests.hpyp.toys import FIRST, Toy, check_law, sentence_of, trained_of


def test_means_are_of_probabilities():
    """Not of their logarithms, whose mean is not that of an unbiased estimate; a single filter knows no error."""
    found = Evidence(np.log([[0.5, 0.5], [0.5, 0.25], [0.5, 0.0625]]))
    assert 2.0 ** found.log2[-1] == pytest.approx((0.5 + 0.25 + 0.0625) / 3)
    np.testing.assert_allclose(found.surprisals, [1, -found.log2[-1] - 1])
    alone = Evidence(np.log([[0.5, 0.125, 0.0625]]))
    np.testing.assert_allclose(alone.surprisals, [1, 2, 1])
    assert alone.surprisal_errors is alone.error is None


def test_probabilities_that_no_float_holds():
    found = Evidence(np.array([[-2000.0, -4000.0], [-2001.0, -4000.0]]))
    assert np.isfinite(found.surprisals).all()
    assert (found.surprisal_errors > 0).all()


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("filters", [2, 5])
def test_errors_are_standard_deviations(filters):
    """H0: the mean square of the errors is the variance of what is estimated.

    4,000 experiments with log-evidences of words that vary by 0.05 nats: a mean square of so many has a relative
    standard deviation of sqrt(2 / 4000) = 0.022 (two filters), the variance the same; 0.15 is 4.8 of them together.
    """
    steps = np.random.default_rng(5).normal(-1.0, 0.05, (4000, filters, 3))
    found = [Evidence(each) for each in steps.cumsum(axis=2)]
    varies = np.var([each.surprisals for each in found], axis=0)
    told = np.mean([np.square(each.surprisal_errors) for each in found], axis=0)
    np.testing.assert_allclose(told, varies, rtol=0.15)
    whole = np.mean([np.square(each.error) for each in found])
    assert whole == pytest.approx(np.var([each.log2[-1] for each in found]), rel=0.15)


@pytest.mark.parametrize(
    ("known", "predicts"), [("all tags", False), ("all tags", True), ("some tags", False), ("no tags", False)]
)
def test_surprisals_of_a_small_parser(known, predicts):
    """H0: surprisals are the exact ones, those of all derivations, but for their errors.

    40 runs of 8 filters of 300 particles: the mean of each surprisal is within 5 standard errors (once in 1.7 million),
    and 1 % of a bit for the bias of logarithms. A tag that the parser does not know is summed out, all others are not.
    """
    toy = Toy(3)
    words, tags = toy.sentence(3, known)
    exact = Enumeration(toy.reference, words, toy.candidates([0, 0, 0] if predicts else tags))
    trained, rng = trained_of(toy), np.random.default_rng(8)
    runs = [evidence(trained, sentence_of(words, tags), rng, 300, predicts, filters=8) for _ in range(40)]
    found = np.array([run.surprisals for run in runs])
    distance = np.abs(found.mean(axis=0) + np.diff(np.log2([1, *exact.prefix_evidences, exact.evidence])))
    assert (distance < 5 * found.std(axis=0) / np.sqrt(40) + 0.01).all()
    assert found.std() > 0


def check_joint(toy, words, tags, tree, projective=None):
    """The bits of actions, tags and words are those of the reference's derivation."""
    found = joint(trained_of(toy), sentence_of(words, tags, tree))
    actions = static_derivation(projective or tree, toy.labels)
    assert found.bits == pytest.approx(-toy.reference.log_probs(words, tags, actions) / np.log(2))
    assert (found.bits > 0).tolist() == [True, True, toy.lexicalised]
    assert found.lifted == bool(projective)


@pytest.mark.parametrize("lexicalised", [True, False])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_the_bits_of_every_tree(n, lexicalised):
    toy = Toy(9, lexicalised=lexicalised)
    for heads in all_trees(n, PROJECTIVE).tolist():
        tree = tuple((head, int(toy.rng.integers(1, toy.labels + 1))) for head in heads)
        check_joint(toy, *toy.sentence(n), tree)


def test_crossing_arcs_are_lifted():
    """2 -> 4 crosses 3 -> 1; the shorter one, of the leftmost dependent, hangs on the head's head afterwards."""
    toy = Toy(9)
    check_joint(toy, *toy.sentence(4), ((3, 1), (3, 2), (0, 1), (2, 2)), ((3, 1), (3, 2), (0, 1), (3, 2)))


def test_what_has_no_joint_probability():
    """Words that were never seen have one."""
    toy = Toy(9)
    trained, (words, tags) = trained_of(toy), toy.sentence(2)
    for no_tree in ((), ((0, 1), (0, 1)), ((2, 1), (1, 1))):
        assert joint(trained, sentence_of(words, tags, no_tree)) == "no_tree"
    known = sentence_of(words, tags, ((0, 1), (1, 2)))
    assert np.isfinite(joint(trained, replace(known, forms=("new", "new"))).bits).all()
    assert isinstance(joint(trained, known), Joint)
    assert joint(trained, replace(known, deprels=("l0", "new"))) == "unseen_label"
    assert joint(trained, replace(known, deprels=("l0", "_"))) == "no_tree"
    for unknown in ("new", "_"):
        assert joint(trained, replace(known, tags=(unknown, known.tags[1]))) == "unknown_tag"


LONGEST = 2


def shares(probs, possible):
    total = sum(probs[outcome] for outcome in possible)
    return {outcome: probs[outcome] / total for outcome in possible}


def outcomes(toy):
    """All sentences of at most two words with their tags and trees, and their probabilities."""
    own, probs = toy.reference, defaultdict(float)

    def go_on(at, words, tags, prob):
        if at.stack == (0,) and words:
            probs[words, tags, at._replace(n=len(words)).tree()] += prob
            return
        actions = shares(own.action(at.context(own.action_elements, words, tags)), at.legal())
        for action, share in actions.items():
            if action != SHIFT:
                go_on(at.after(action), words, tags, prob * share)
            elif len(words) < LONGEST:
                shift(at, words, tags, prob * share)

    def shift(at, words, tags, prob):
        of_tags = own.tag(at.context(own.tag_elements, words, tags))
        for tag, tag_share in shares(of_tags, range(FIRST, toy.tags)).items():
            of_words = own.word(at.context(own.word_elements, words, (*tags, tag)))
            for word, share in shares(of_words, range(FIRST, toy.words)).items():
                go_on(at.after(SHIFT), (*words, word), (*tags, tag), prob * tag_share * share)

    go_on(Configuration(LONGEST + 1, toy.labels, single_root=False), (), (), 1.0)
    return probs


def key(sentence):
    """What two equal sentences have in common."""
    return sentence.forms, sentence.tags, tuple(sentence.heads.tolist()), sentence.deprels


@pytest.mark.slow("statistics")
def test_sentences_have_their_probabilities_among_those_that_are_short_enough(monkeypatch):
    """H0: sentences with tags and trees are drawn by the model given that they have at most two words; two trials are
    in vain with the square of the probability of longer ones.

    10,000 sentences; chi-square over all of them, those expected fewer than five times pooled; p < 1e-6 by chance.
    """
    monkeypatch.setattr(parsing, "TRIALS", 2)
    toy = Toy(5)
    probs = {key(sentence_of(*outcome)): prob for outcome, prob in outcomes(toy).items()}
    longer, in_vain = 1 - sum(probs.values()), "x: 2 sentences in a row had more than 2 words"
    probs = {each: prob * (1 + longer) for each, prob in probs.items()} | {in_vain: longer**2}
    trained, rng, found = trained_of(toy), np.random.default_rng(3), Counter()
    for _ in range(10_000):
        try:
            found[key(generated(trained, "x", rng, LONGEST))] += 1
        except DeptreeError as error:
            found[str(error).partition(".")[0]] += 1
    check_law(found, probs)


def test_long_sentences_are_trees():
    """Of many lengths, with words and tags of the parser; a parser without words leaves them open."""
    for lexicalised in (True, False):
        trained, rng = trained_of(Toy(6, lexicalised=lexicalised)), np.random.default_rng(1)
        found = [generated(trained, "x", rng, 60) for _ in range(100)]
        for sentence in found:
            sentence.check_tree()
            assert set(sentence.tags) <= set(trained.symbols.tags.symbols)
            assert set(sentence.forms) <= (set(trained.symbols.lexicon.vocabulary.symbols) or {"_"})
        assert len({sentence.n for sentence in found}) > 3
        assert found[0].sent_id == "x"

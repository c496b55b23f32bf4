"""Training: what sits where after every iteration, text without trees, going on, and states that are kept."""

from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.hpyp.files.model_file import read_model, write_model
from deptree_cli.hpyp.kernels.configurations import WORDS
from deptree_cli.hpyp.model.parsing import evidence, filtered, parse
from deptree_cli.hpyp.model.process import Process
from deptree_cli.hpyp.model.sentences import LEXICALISED, UNLEXICALISED, Contexts, kept_iterations
from deptree_cli.hpyp.model.training import SAMPLED, STATIC, Training, TrainingSettings, check_targets, contexts_of
from tests.hpyp.reference import SHIFT, Configuration, posterior, static_derivation
from tests.hpyp.toys import TREEBANK, UNLABELLED, annotated, begun, check_law, run, same, seating_of

ORACLES = pytest.mark.parametrize("oracle", [STATIC, SAMPLED])
CONTEXTS = pytest.mark.parametrize("contexts", [LEXICALISED, UNLEXICALISED], ids=["lexicalised", "unlexicalised"])


def parts(sentences, tags, actions):
    """Each sentence with its tags and its actions."""
    cuts = np.cumsum([0, *(sentence.n for sentence in sentences)]).tolist()
    for sentence, first, last in zip(sentences, cuts, cuts[1:], strict=False):
        yield sentence, tags[first:last].tolist(), actions[2 * first : 2 * last].tolist()


def check_seating(training):
    """Seated are exactly the events of derivations, which are of the trees, and the words in parses of text."""
    trained, actions = training.trained(), training._actions
    symbols, contexts = trained.symbols, trained.symbols.contexts
    expected = [Counter() for _ in trained.processes]

    def follow(words, tags, own, counts_all):
        at = Configuration(len(words), len(symbols.labels))
        for action in own:
            assert action in at.legal()
            events = [(contexts.action, action)]
            if action == SHIFT:
                events += [(contexts.tag, tags[at.shifted]), (contexts.word, words[at.shifted])]
            for number, (elements, dish) in enumerate(events[: len(expected)]):
                expected[number][at.context(elements, words, tags), dish] += counts_all or number == WORDS
            at = at.after(action)
        return at.tree()

    all_tags = np.concatenate([symbols.tags_of(sentence) for sentence in TREEBANK])
    for sentence, tags, own in parts(TREEBANK, all_tags, actions):
        labels = [symbols.labels.index(label) + 1 for label in sentence.deprels]
        tree = tuple(zip(sentence.heads.tolist(), labels, strict=True))
        assert follow(symbols.words_of(sentence).tolist(), tags, own, True) == tree
        assert training.progress.oracle == SAMPLED or tuple(own) == static_derivation(tree, len(symbols.labels))
    if trained.parses is not None:
        for sentence, tags, own in parts(UNLABELLED, *trained.parses):
            follow(symbols.words_of(sentence).tolist(), tags, own, False)
    for snapshot, dishes, events in zip(trained.processes, symbols.dishes, expected, strict=True):
        assert snapshot.is_sound(dishes)
        seating, length = seating_of(Process.restored(snapshot).restaurants), len(snapshot.discounts) - 1
        assert {event: sum(sizes) for event, sizes in seating if len(event[0]) == length} == +events


@ORACLES
@CONTEXTS
def test_the_events_of_derivations_are_seated(oracle, contexts):
    training, seen = begun(oracle, contexts), []
    for _ in range(7):
        training.iterate()
        check_seating(training)
        seen.append(tuple(training._actions.tolist()))
    assert len({*seen}) > 3 if oracle == SAMPLED else len({*seen}) == 1
    assert seen[0] == tuple(begun()._actions.tolist())  # drawn from the second iteration on


@pytest.mark.slow("statistics")
@ORACLES
def test_iterations_have_the_enumerated_posterior_of_seatings(oracle, monkeypatch):
    """H0: tables are draws from their posterior, discounts and strengths held fixed, in iterations of training itself.

    The seven words of one sentence, in two levels of restaurants. 2,000 seatings, five iterations apart, which so are
    nearly independent; chi-square, customers and tables expected fewer than five times pooled; p < 1e-6 by chance. The
    sentence has one derivation, so that the sampled oracle draws nothing else.
    """
    monkeypatch.setattr("deptree_cli.hpyp.model.training.resample_levels", lambda *_: None)
    chain = [annotated("a/X:root:0 a/X:x:1 a/Y:x:2 b/X:x:3 a/X:x:4 a/Y:x:5 b/Y:x:6")]
    short = Contexts(action=("s1.t",), tag=(), word=("b.t",))
    training = Training(chain, short, TrainingSettings(1, oracle, "upos"))
    found, hyper = Counter(), ((0.3, 0.8), (1.5, 0.4))
    process, treebank = training._processes[WORDS], training._treebank
    process.restaurants.discounts[:], process.restaurants.strengths[:] = hyper
    contexts = contexts_of(treebank, training.symbols, treebank.tags, training._actions)[WORDS].tolist()
    events = [(tuple(each), dish) for each, dish in zip(contexts, treebank.words.tolist(), strict=True)]

    def counts(seating):  # what predictions depend on
        return tuple((event, sum(sizes), len(sizes)) for event, sizes in seating)

    probs = defaultdict(float)
    for seating, prob in posterior(round(1 / process.restaurants.base[0]), *hyper, events).items():
        probs[counts(seating)] += prob
    assert len(probs) > 20
    for _ in range(2000):
        for _ in range(5):
            training.iterate()
        found[counts(seating_of(process.restaurants))] += 1
    check_law(found, probs)


def test_discounts_are_drawn_from_the_second_iteration_on_and_every_fifth_where_derivations_are_too():
    for oracle, at in ((STATIC, [2, 3, 4, 5, 6]), (SAMPLED, [6])):
        training, before, changed = begun(oracle), 0.8, []
        for iteration in range(1, 7):
            training.iterate()
            now = training.trained().processes[0].discounts[0]
            changed += [iteration] if now != before else []
            before = now
        assert changed == at


@ORACLES
def test_text_changes_the_words_alone(oracle):
    training = begun(oracle, text=UNLABELLED)
    before = run(training, 6)
    for passes in (1, 2, 3):
        after = run(training, 6, passes)
        check_seating(training)
        for old, new in zip(before.processes[:2], after.processes[:2], strict=True):
            assert all(np.array_equal(array, new.arrays()[key]) for key, array in old.arrays().items())
        assert len(after.progress.text_log_likelihoods) == passes
    assert after.parses.tags.min() >= 2
    with pytest.raises(ValueError, match="no text"):
        begun().read()


def test_the_first_pass_parses():
    """Its derivations are those of the trees that the search finds with as many particles, tags predicted."""
    training = begun(text=UNLABELLED)
    before = run(training, 4)
    for sentence, tags, actions in parts(UNLABELLED, *run(training, 4, 1).parses):
        found = parse(before, sentence, 100, True)
        assert [before.symbols.tags.symbol(tag) for tag in tags] == list(found.tags)
        tree = Configuration(sentence.n, len(before.symbols.labels)).after(*actions).tree()
        assert [head for head, _ in tree] == found.heads.tolist()


@ORACLES
@CONTEXTS
def test_a_treebank_of_one_word(oracle, contexts):
    one = [annotated("sleep/VERB:root:0")]
    training = Training(one, contexts, TrainingSettings(1, oracle, "upos"), one if contexts.word else [])
    trained = run(training, 6, 2 if contexts.word else 0)
    assert parse(trained, one[0]).heads.tolist() == [0]


@pytest.mark.parametrize("passes", [0, 1])
def test_going_on_from_what_does_not_add_up(passes):
    """Kernels would send away customers who are not there: every change of one number that is in use is found before.

    What `is_sound` finds is never read from a file.
    """
    text = UNLABELLED if passes else []
    half = run(begun(SAMPLED, text=text), 3, passes)
    rng, refusals = np.random.default_rng(5), 0
    for number, process in enumerate(half.processes):
        used, nodes = np.flatnonzero(process.seated), np.flatnonzero(process.customers)[1:]
        for name, places in {"seated": used, "served": used, "places": used, "dishes": used, "parents": nodes}.items():
            for at in rng.choice(places, 8):
                array = getattr(process, name).copy()
                array[at] += 1 if array[at] < 2 else rng.choice([-1, 1])
                damaged = replace(process, **{name: array})
                if damaged.is_sound(half.symbols.dishes[number]):
                    other = replace(half, processes=(*half.processes[:number], damaged, *half.processes[number + 1 :]))
                    with pytest.raises(DeptreeError, match="damaged"):
                        begun(SAMPLED, text=text, trained=other)
                    refusals += 1
    assert refusals > 20


def test_going_on_from_derivations_that_are_none():
    half = run(begun(SAMPLED, text=UNLABELLED), 3, 1)
    damaged = [replace(half, derivations=half.derivations[:-2])]
    for at, value in ((0, 1), (1, 99), (3, -1), (-1, 0)):
        actions, parsed = half.derivations.copy(), half.parses.actions.copy()
        actions[at] = parsed[at] = value
        damaged += [replace(half, derivations=actions), replace(half, parses=half.parses._replace(actions=parsed))]
    for other in damaged:
        with pytest.raises(DeptreeError, match="damaged"):
            begun(SAMPLED, text=UNLABELLED, trained=other)


KEPT = kept_iterations(2, 3)


def trained_up_to(last, before=None):
    training = begun(trained=before)
    for _ in range(training.progress.iterations, last):
        training.iterate(KEPT)
    return training.trained()


@pytest.fixture(scope="module")
def three():
    return trained_up_to(KEPT[-1])


def test_states_are_those_of_shorter_trainings(three):
    assert len(three.states) == 3
    for state, iterations in zip(three.states, KEPT, strict=True):
        for own, other in zip(state.processes, run(begun(), iterations).processes, strict=True):
            assert np.array_equal(own.seated, other.seated)
            assert np.array_equal(own.discounts, other.discounts)


@pytest.mark.parametrize("stop", [1, 2, 3, 7, 8])
def test_going_on_keeps_the_same(three, stop, tmp_path):
    """Through a file, byte for byte."""
    half, whole, again = (str(tmp_path / name) for name in ("half", "whole", "again"))
    write_model(half, trained_up_to(stop), "")
    write_model(whole, three, "")
    write_model(again, trained_up_to(KEPT[-1], read_model(half)[0]), "")
    assert Path(again).read_bytes() == Path(whole).read_bytes()
    assert same(read_model(whole)[0], three)
    assert [each.iterations for each in read_model(whole)[0].earlier] == [*KEPT[:-1]]


def test_other_states_are_refused(three):
    check_targets(three, KEPT, 0)
    check_targets(run(begun(), 2), KEPT, 0)
    for before, kept in ((three, kept_iterations(3, 3)), (three, kept_iterations(12, 1)), (run(begun(), 4), KEPT)):
        with pytest.raises(DeptreeError, match="kept states"):
            check_targets(before, kept, 0)


def test_evidence_is_the_mean_of_the_states(three):
    """Of every beginning of a sentence, so that the states may take turns to be the better one."""
    sentence = TREEBANK[0]
    alone = [filtered(state, sentence, np.random.default_rng(1), 5000) for state in three.states]
    means = np.mean(np.exp([each.log_evidence.cumsum() for each in alone]), axis=0)
    found = evidence(three, sentence, np.random.default_rng(2), 5000, filters=2)
    np.testing.assert_allclose(2.0**found.log2, means, rtol=0.1)
    spread = np.exp([each.log_evidence.sum() for each in alone])
    assert spread.max() > 1.2 * means[-1]


def test_every_state_has_its_share_of_the_trees(three):
    """Marginals of 5,000 particles: means of the states', off by their Monte Carlo error.

    2,000 draws: arcs' shares are within 5 standard errors, 0.056 at most, of the marginals that they are drawn from.
    """
    sentence = TREEBANK[0]
    found = filtered(three, sentence, np.random.default_rng(1), 5000, draws=2000)
    alone = [filtered(state, sentence, np.random.default_rng(2), 5000).marginals for state in three.states]
    np.testing.assert_allclose(found.marginals, np.mean(alone, axis=0), atol=0.03)
    assert found.deprels.shape == (2000, sentence.n)
    drawn = np.zeros_like(found.marginals)
    np.add.at(drawn, (found.heads[found.drawn], np.arange(1, sentence.n + 1)), 1 / 2000)
    np.testing.assert_allclose(drawn, found.marginals, atol=0.056)


def test_the_tree_that_most_states_agree_with(three):
    for sentence in TREEBANK:
        alone = [parse(state, sentence, 100) for state in three.states]
        heads = np.array([each.heads for each in alone])
        agreeing = (heads[:, None] == heads).sum(axis=(1, 2))
        assert parse(three, sentence, 100).log_prob == alone[int(agreeing.argmax())].log_prob

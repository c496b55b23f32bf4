"""Training: what sits where after every iteration, derivations that are drawn, text without trees, and going on."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from deptree_cli.hpyp.kernels.configurations import WORDS
from deptree_cli.hpyp.model.parsing import parse
from deptree_cli.hpyp.model.process import Process, Snapshot
from deptree_cli.hpyp.model.sentences import LEXICALISED, UNLEXICALISED, Contexts
from deptree_cli.hpyp.model.training import (
    SAMPLED,
    STATIC,
    Trained,
    Training,
    TrainingSettings,
    contexts_of,
    digest_of,
    text_of,
)
from tests.hpyp.kernels.processes import prefixes_of, seating_of
from tests.hpyp.model.reference_hpyp import Event, Posterior, counts
from tests.hpyp.model.reference_parser import Configuration, oracle_derivations
from tests.hpyp.model.small_treebank import TREEBANK, UNLABELLED, annotated, begun, run
from tests.pearson import chi_square


def customers(snapshot: Snapshot) -> dict[tuple[tuple[int, ...], int], int]:
    """How many customers sit in each context of full length, by the dish."""
    now = Process.restored(snapshot).restaurants
    prefixes = prefixes_of(now)
    length = len(snapshot.discounts) - 1
    found = zip(snapshot.places.tolist(), snapshot.dishes.tolist(), snapshot.seated.tolist(), strict=True)
    return {
        (prefixes[place], dish): seated for place, dish, seated in found if seated and len(prefixes[place]) == length
    }


def expected_customers(trained: Trained, actions: list[int], text: bool) -> list[dict]:
    """The same by the reference's configurations, which follow these actions."""
    symbols, contexts = trained.symbols, trained.symbols.contexts
    found: list[dict] = [{} for _ in trained.processes]

    def count(process: int, context: tuple[int, ...], dish: int) -> None:
        found[process][context, dish] = found[process].get((context, dish), 0) + 1

    def follow(words: list[int], tags: list[int], own: list[int], counts_all: bool) -> None:
        configuration = Configuration(len(words), len(symbols.labels))
        for action in own:
            assert action in configuration.legal()
            shifted = configuration.shifted
            if counts_all:
                count(0, configuration.context(contexts.action, words, tags), action)
            if action == 0 and counts_all:
                count(1, configuration.context(contexts.tag, words, tags), tags[shifted])
            if action == 0 and len(found) == 3:
                count(2, configuration.context(contexts.word, words, tags), words[shifted])
            configuration = configuration.after(action)
        assert configuration.legal() == []

    at = 0
    for sentence in TREEBANK:
        words, tags = symbols.words_of(sentence).tolist(), symbols.tags_of(sentence).tolist()
        follow(words, tags, actions[2 * at : 2 * (at + sentence.n)], True)
        at += sentence.n
    if text and trained.parses is not None:
        at, all_tags, all_actions = 0, trained.parses.tags.tolist(), trained.parses.actions.tolist()
        for sentence in UNLABELLED:
            words = symbols.words_of(sentence).tolist()
            follow(words, all_tags[at : at + sentence.n], all_actions[2 * at : 2 * (at + sentence.n)], False)
            at += sentence.n
    return found


def check_seating(trained: Trained, actions: list[int]) -> None:
    """Exactly the events of these derivations, and of the parses of text, are seated; and restaurants add up."""
    expected = expected_customers(trained, actions, trained.parses is not None)
    assert [customers(snapshot) for snapshot in trained.processes] == expected
    for snapshot, dishes in zip(trained.processes, trained.symbols.dishes, strict=True):
        assert snapshot.is_sound(dishes)
        now = Process.restored(snapshot).restaurants
        seating_of(now)  # which checks sums of customers and tables


def actions_of(training: Training) -> list[int]:
    """The derivations that a training is at."""
    return training._actions.tolist()


@pytest.mark.parametrize("oracle", [STATIC, SAMPLED])
@pytest.mark.parametrize("contexts", [LEXICALISED, UNLEXICALISED], ids=["lexicalised", "unlexicalised"])
def test_the_events_of_derivations_are_seated(oracle: str, contexts: Contexts) -> None:
    training, seen = begun(oracle, contexts), set()
    for _ in range(7):
        training.iterate()
        check_seating(training.trained(), actions_of(training))
        seen.add(tuple(actions_of(training)))
    assert len(seen) > 2 if oracle == SAMPLED else len(seen) == 1


SHORT = Contexts(action=("s1.t",), tag=(), word=("b.t",))
CHAIN = [annotated("a/X:root:0 a/X:x:1 a/Y:x:2 b/X:x:3 a/X:x:4 a/Y:x:5 b/Y:x:6", 1)]
HYPER = (0.3, 0.8), (1.5, 0.4)


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("oracle", [STATIC, SAMPLED])
def test_iterations_have_the_enumerated_posterior_of_seatings(oracle: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """H0: tables are draws from their posterior, discounts and strengths held fixed, in iterations of training itself.

    The seven words of one sentence, in two levels of restaurants. 2,000 seatings, five iterations apart, which so are
    nearly independent; chi-square, tables expected fewer than five times pooled; p < 1e-6 by chance. The sentence has
    one derivation, so that the sampled oracle draws nothing else.
    """
    monkeypatch.setattr("deptree_cli.hpyp.model.training.resample_levels", lambda *_: None)
    training, found = Training(CHAIN, SHORT, TrainingSettings(1, oracle, "upos")), Counter[object]()
    process = training._processes[WORDS]
    process.restaurants.discounts[:], process.restaurants.strengths[:] = HYPER
    treebank = training._treebank
    contexts = contexts_of(treebank, training.symbols, treebank.tags, training._actions)[WORDS].tolist()
    events: list[Event] = [(tuple(each), dish) for each, dish in zip(contexts, treebank.words.tolist(), strict=True)]
    probs = Posterior(round(1 / process.restaurants.base[0]), *HYPER, events).count_probs()
    assert len(probs) > 20
    for _ in range(2000):
        for _ in range(5):
            training.iterate()
        found[counts(seating_of(process.restaurants))] += 1
    assert set(found) <= set(probs)
    assert chi_square(np.array([found[tables] for tables in probs]), np.array(list(probs.values())))[2] > 1e-6


def test_static_derivations_make_arcs_as_soon_as_they_can() -> None:
    """Of all derivations of a tree in the reference, the one in which reductions come first."""
    training = begun()
    labels = {label: number for number, label in enumerate(training.trained().symbols.labels)}
    actions, at = actions_of(training), 0
    for sentence in TREEBANK:
        tree = tuple(
            (head, labels[label] + 1) for head, label in zip(sentence.heads.tolist(), sentence.deprels, strict=True)
        )
        own = tuple(actions[2 * at : 2 * (at + sentence.n)])
        assert own == max(map(tuple, oracle_derivations(tree, len(labels))), key=lambda one: [a != 0 for a in one])
        at += sentence.n


def test_drawn_derivations_are_of_their_trees_and_differ() -> None:
    training = begun(SAMPLED)
    labels = {label: number for number, label in enumerate(training.trained().symbols.labels)}
    static, seen = actions_of(training), set()
    for _ in range(6):
        training.iterate()
        actions, at = actions_of(training), 0
        seen.add(tuple(actions))
        for sentence in TREEBANK:
            configuration = Configuration(sentence.n, len(labels))
            for action in actions[2 * at : 2 * (at + sentence.n)]:
                configuration = configuration.after(action)
            expected = zip(sentence.heads.tolist(), sentence.deprels, strict=True)
            assert configuration.tree() == tuple((head, labels[label] + 1) for head, label in expected)
            at += sentence.n
    assert tuple(static) in seen  # after the first iteration
    assert len(seen) > 3


def test_discounts_are_drawn_from_the_second_iteration_on_and_every_fifth_where_derivations_are_too() -> None:
    for oracle, at in ((STATIC, [2, 3, 4, 5, 6]), (SAMPLED, [6])):
        training, before, changed = begun(oracle), 0.8, []
        for iteration in range(1, 7):
            training.iterate()
            now = training.trained().processes[0].discounts[0]
            changed += [iteration] if now != before else []
            before = now
        assert changed == at


def test_a_parser_learns() -> None:
    trained = run(begun(), 10)
    assert trained.progress.log_likelihoods[-1] > trained.progress.log_likelihoods[0]
    for sentence in TREEBANK:
        found = parse(trained, sentence)
        assert (found.heads.tolist(), found.deprels) == (sentence.heads.tolist(), sentence.deprels)


@pytest.mark.parametrize("oracle", [STATIC, SAMPLED])
def test_text_changes_the_words_alone(oracle: str) -> None:
    training = begun(oracle, text=UNLABELLED)
    before = run(training, 6)
    for passes in (1, 2, 3):
        after = run(training, 6, passes)
        check_seating(after, actions_of(training))
        for old, new in zip(before.processes[:2], after.processes[:2], strict=True):
            assert all(np.array_equal(array, new.arrays()[key]) for key, array in old.arrays().items())
        assert len(after.progress.text_log_likelihoods) == passes
    assert after.parses is not None
    assert after.parses.tags.min() >= 2


def test_the_first_pass_parses() -> None:
    """Its derivations are those of the trees that the search finds with as many particles, tags predicted."""
    training = begun(text=UNLABELLED)
    before = run(training, 4)
    parses = run(training, 4, 1).parses
    assert parses is not None
    at = 0
    for sentence in UNLABELLED:
        found = parse(before, sentence, 100, True)
        assert [before.symbols.tags.symbol(tag) for tag in parses.tags[at : at + sentence.n]] == list(found.tags)
        configuration = Configuration(sentence.n, len(before.symbols.labels))
        for action in parses.actions[2 * at : 2 * (at + sentence.n)].tolist():
            configuration = configuration.after(action)
        assert [head for head, _ in configuration.tree()] == found.heads.tolist()
        at += sentence.n


def test_words_of_text_are_in_the_vocabulary() -> None:
    more = [annotated("zebra zebra", 1)]
    assert "zebra" in begun(text=more).trained().symbols.lexicon.vocabulary
    assert "zebra" not in begun().trained().symbols.lexicon.vocabulary


def test_derivations_of_every_tree_and_nothing_else_are_taken() -> None:
    training = begun()
    treebank = training._treebank
    with pytest.raises(ValueError, match="damaged"):
        contexts_of(treebank, training.symbols, treebank.tags, np.zeros(3, dtype=np.int32))


def test_text_in_numbers() -> None:
    symbols = begun(text=UNLABELLED).trained().symbols
    text = text_of(UNLABELLED, symbols)
    assert (len(text.cuts), text.cuts.tolist()[:3]) == (13, [0, 6, 7])
    assert digest_of(text) != digest_of(text_of(UNLABELLED[1:], symbols))


def test_there_is_text_to_read_or_not() -> None:
    with pytest.raises(ValueError, match="no text"):
        begun().read()


@pytest.mark.parametrize("oracle", [STATIC, SAMPLED])
@pytest.mark.parametrize("contexts", [LEXICALISED, UNLEXICALISED], ids=["lexicalised", "unlexicalised"])
def test_a_treebank_of_one_word(oracle: str, contexts: Contexts) -> None:
    one = [annotated("sleep/VERB:root:0", 1)]
    training = Training(one, contexts, TrainingSettings(1, oracle, "upos"), one if contexts.word else [])
    trained = run(training, 6, 2 if contexts.word else 0)
    assert parse(trained, one[0]).heads.tolist() == [0]

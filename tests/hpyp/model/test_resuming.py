"""Training that goes on: the same in every number as if it had never stopped, or refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.hpyp.model.sentences import LEXICALISED, UNLEXICALISED, Contexts
from deptree_cli.hpyp.model.training import SAMPLED, STATIC, Progress, Training, TrainingSettings, check_targets
from tests.hpyp.model.small_treebank import TREEBANK, UNLABELLED, begun, run, same


@pytest.mark.parametrize("oracle", [STATIC, SAMPLED])
@pytest.mark.parametrize("contexts", [LEXICALISED, UNLEXICALISED], ids=["lexicalised", "unlexicalised"])
@pytest.mark.parametrize("stop", range(1, 7))
def test_going_on_is_as_if_nothing_had_happened(oracle: str, contexts: Contexts, stop: int) -> None:
    whole = run(begun(oracle, contexts), 7)
    half = run(begun(oracle, contexts), stop)
    assert same(run(begun(oracle, contexts, trained=half), 7), whole)
    assert not same(half, whole)


@pytest.mark.parametrize("oracle", [STATIC, SAMPLED])
@pytest.mark.parametrize(("stop", "passes"), [(3, 0), (5, 0), (5, 1), (5, 2)])
def test_going_on_with_text(oracle: str, stop: int, passes: int) -> None:
    whole = run(begun(oracle, text=UNLABELLED), 5, 3)
    half = run(begun(oracle, text=UNLABELLED), stop, passes)
    assert same(run(begun(oracle, text=UNLABELLED, trained=half), 5, 3), whole)


def test_another_seed_is_another_parser() -> None:
    assert not same(run(begun(seed=3), 3), run(begun(seed=4), 3))


def refused(training: Callable[[], object], says: str) -> None:
    with pytest.raises(DeptreeError, match=says):
        training()


def test_going_on_with_something_else() -> None:
    half = run(begun(), 2)
    refused(lambda: begun(trained=half, seed=4), "trained with `seed=3`")
    refused(lambda: begun(SAMPLED, trained=half), 'trained with `oracle="static"`')
    refused(lambda: begun(contexts=UNLEXICALISED, trained=half), "other contexts")
    refused(lambda: begun(text=UNLABELLED, trained=half), "trained without `unlabelled`")
    refused(
        lambda: Training(TREEBANK, LEXICALISED, TrainingSettings(3, STATIC, "xpos"), trained=half),
        'trained with `column="upos"`',
    )
    settings = TrainingSettings(3, STATIC, "upos")
    refused(lambda: Training(TREEBANK[1:], LEXICALISED, settings, trained=half), "other data")
    renamed = [replace(sentence, tags=tuple(tag.lower() for tag in sentence.tags)) for sentence in TREEBANK]
    refused(lambda: Training(renamed, LEXICALISED, settings, trained=half), "other data")
    read = run(begun(text=UNLABELLED), 2, 1)
    refused(lambda: begun(text=UNLABELLED[:-1], trained=read), "other data")
    refused(lambda: begun(trained=read), "trained with `unlabelled`")


@pytest.mark.parametrize("passes", [0, 1])
def test_going_on_from_what_does_not_add_up(passes: int) -> None:
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
                    processes = (*half.processes[:number], damaged, *half.processes[number + 1 :])
                    other = replace(half, processes=processes)
                    refused(lambda other=other: begun(SAMPLED, text=text, trained=other), "damaged")
                    refusals += 1
    assert refusals > 20


def test_going_on_from_derivations_that_are_none() -> None:
    half = run(begun(SAMPLED, text=UNLABELLED), 3, 1)
    assert half.derivations is not None
    assert half.parses is not None
    for at, value in ((0, 1), (1, 99), (3, -1), (-1, 0)):
        actions = half.derivations.copy()
        actions[at] = value
        refused(lambda a=actions: begun(SAMPLED, text=UNLABELLED, trained=replace(half, derivations=a)), "damaged")
        actions = half.parses.actions.copy()
        actions[at] = value
        parses = half.parses._replace(actions=actions)
        refused(lambda r=parses: begun(SAMPLED, text=UNLABELLED, trained=replace(half, parses=r)), "damaged")
    refused(
        lambda: begun(SAMPLED, text=UNLABELLED, trained=replace(half, derivations=half.derivations[:-2])), "damaged"
    )


def test_targets() -> None:
    progress = Progress(1, STATIC, "upos", "x", 9, 0, (1.0, 2.0), "y", 4, (3.0,))
    done = replace(run(begun(), 1), progress=progress)
    check_targets(done, [2], 1)
    check_targets(done, [2], 5)
    for iterations, passes, says in [(1, 1, "`iterations=2`"), (2, 0, "`passes=1`"), (3, 1, "after `iterations=2`")]:
        refused(lambda i=iterations, p=passes: check_targets(done, [i], p), says)
    check_targets(replace(done, progress=replace(progress, text_log_likelihoods=())), [3], 0)

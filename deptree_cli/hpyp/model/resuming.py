"""Training that goes on where it stopped: only with the same data and settings, and from a model that adds up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deptree_cli.core.errors import ITERATIONS, RESUME, STATES, UNLABELLED, DeptreeError, Setting
from deptree_cli.hpyp.model.process import Paths
from deptree_cli.hpyp.model.snapshot import Snapshot, keys_of
from deptree_cli.hpyp.model.symbols import Symbols
from deptree_cli.hpyp.model.trained import Progress, Trained


def check_resumable(trained: Trained, symbols: Symbols, wanted: Progress) -> None:
    """Make sure that training can go on from a parser.

    Args:
        symbols: of the treebank and the text that are given now.
        wanted: the seed, the oracle, ... that are asked for now.

    Raises:
        DeptreeError: the parser was trained with other settings, or on other data.
    """
    had = trained.progress
    for name, before, now in [
        ("column", had.tagset, wanted.tagset),
        ("oracle", had.oracle, wanted.oracle),
        ("seed", had.seed, wanted.seed),
    ]:
        if before != now:
            had_set = Setting(name, before)
            raise _refused(f"the model was trained with {had_set}", "Use that", had_set)
    if trained.symbols.contexts != symbols.contexts:
        raise _refused("the model was trained with other contexts", "Use the same contexts")
    if bool(had.text_digest) != bool(wanted.text_digest):
        how = "with" if had.text_digest else "without"
        raise _refused(f"the model was trained {how} {UNLABELLED}", "Do this again", UNLABELLED)
    if not is_of(trained, symbols, wanted):
        raise _refused("the model was trained on other data", "Use the same treebank and text")


def is_of(trained: Trained, symbols: Symbols, wanted: Progress) -> bool:
    """Whether a parser was trained on this data: the same words, tags, trees and text, in the same order."""
    return _data(trained.symbols, trained.progress) == _data(symbols, wanted)


def check_targets(progress: Progress, iterations: int, passes: int) -> None:
    """Make sure that there is a way from where training is to so many iterations and passes.

    Raises:
        DeptreeError: it has already gone farther, or has left the treebank behind.
    """
    for done, wanted, option in [(progress.iterations, iterations, "iterations"), (progress.passes, passes, "passes")]:
        if done > wanted:
            reached = Setting(option, done)
            raise _refused(f"the model is already at {reached}", "Pass this number or more", reached)
    if progress.passes and progress.iterations < iterations:
        reached = Setting("iterations", progress.iterations)
        problem = f"the model read its text after {reached}, and no iterations can follow"
        raise _refused(problem, "Pass this number", reached)


def check_kept(trained: Trained | None, kept: Sequence[int]) -> None:
    """Make sure that a parser to go on from, if there is one, has kept the states after these iterations so far.

    Raises:
        DeptreeError: it has kept others, or not all.
    """
    if trained is None:
        return
    had = [state.iterations for state in trained.earlier]
    if had != [each for each in kept if each < trained.progress.iterations]:
        problem = f"the model kept states after iterations {had or 'none'}, which does not match these options"
        raise _refused(problem, f"Pass the same {ITERATIONS} and {STATES}", ITERATIONS, STATES)


def _refused(problem: str, remedy: str, *settings: Setting) -> DeptreeError:
    """What to say where training cannot go on: the remedy, or to begin anew."""
    return DeptreeError(problem, f"{remedy}, or train again without {RESUME}", options=[RESUME, *settings])


def _data(symbols: Symbols, progress: Progress) -> tuple[Any, ...]:
    numbered = symbols.lexicon.vocabulary, symbols.tags, symbols.labels
    return progress.tagset, progress.digest, progress.text_digest, numbered


def check_seated(process: Snapshot, seated: Sequence[Paths]) -> None:
    """Make sure that exactly the customers of these events are seated: kernels send away whom they are told to.

    Raises:
        ValueError: others are, or restaurants do not have the tables of those below as customers.
    """
    size = len(process.places)
    expected = np.zeros(size)
    for paths in seated:
        deepest = paths.entries[:, -1]
        expected += np.bincount(deepest, minlength=size)[:size] if deepest.max() < size else np.nan
    below = np.flatnonzero(process.places > 0)
    above = keys_of(process.parents[process.places[below]], process.dishes[below])
    order = np.argsort(process.entry_keys)
    keys = process.entry_keys[order]
    places = np.minimum(np.searchsorted(keys, above), size - 1)
    expected += np.bincount(order[places], process.served[below], size)
    if not np.array_equal(keys[places], above) or not np.array_equal(expected, process.seated):
        raise ValueError("its customers are not those of the treebank")

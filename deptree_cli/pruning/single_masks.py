"""Expectations by one run of a program: under no mask, or under a fixed one, which is biased by what it prunes."""

from __future__ import annotations

import numpy as np

from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.monte_carlo import MonteCarloEstimate
from deptree_cli.pruning.chain import start
from deptree_cli.pruning.program import AnyCellProgram, AnyProgram, Mask
from deptree_cli.pruning.settings import Settings


def exact(program: AnyProgram, rng: np.random.Generator, settings: Settings) -> MonteCarloEstimate:
    """Work out expectations with nothing pruned.

    Raises:
        DeptreeError: there is no structure.
    """
    log_z, chart = program.inside(program.everything())
    if log_z == -np.inf:
        raise program.no_structure()
    return MonteCarloEstimate(program.outside(chart), log_partition=log_z)


def fixed(program: AnyProgram, rng: np.random.Generator, settings: Settings) -> MonteCarloEstimate:
    """Work out expectations with as many of the confident variables pinned as go together.

    Raises:
        DeptreeError: there is no structure.
    """
    confident = program.confident()
    selected = np.zeros(program.variables(), dtype=np.bool_)
    selected[confident] = True
    return _under(program, program.compile(selected, start(program, confident, rng)))


def tic_tac_toe(program: AnyCellProgram, rng: np.random.Generator, settings: Settings) -> MonteCarloEstimate:
    """Work out expectations over states whose merit is near that of the best in their cell (Zhang and Gildea 2005).

    Raises:
        DeptreeError: no structure is left.
    """
    merits = program.merits()
    return _under(program, program.keep(merits >= _best(merits) - settings.margin))


def _best(merits: Float) -> Float:
    """The best merit of each cell among those in question, (cells, 1)."""
    found: Float = np.where(np.isfinite(merits), merits, -np.inf).max(axis=1, keepdims=True)
    return np.where(np.isfinite(found), found, np.finfo(float).max)


def _under(program: AnyProgram, mask: Mask) -> MonteCarloEstimate:
    log_z, chart = program.inside(mask)
    if log_z == -np.inf:
        raise DeptreeError("the pruning mask removes every structure", "Use a larger margin")
    return MonteCarloEstimate(program.outside(chart))

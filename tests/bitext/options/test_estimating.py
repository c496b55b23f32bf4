"""Ctrl-C as a wish: the first one is noted, the second one is for whoever listened before."""

from __future__ import annotations

import os
import signal

import pytest

from deptree_cli.bitext.options import Estimating
from deptree_cli.cli.run import Run
from deptree_cli.pruning.methods import METHODS, Settings


def new() -> Estimating:
    return Estimating(METHODS.get("randomized"), Settings(), Run())


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_the_first_is_noted_and_the_second_goes_through() -> None:
    interrupt, before = new(), signal.getsignal(signal.SIGINT)
    with interrupt.listening():
        assert not interrupt.was_stopped
        press()
        assert interrupt.was_stopped
        with pytest.raises(KeyboardInterrupt):
            press()
    assert signal.getsignal(signal.SIGINT) is before


def test_nobody_listens_outside() -> None:
    interrupt = new()
    with interrupt.listening():
        pass
    with pytest.raises(KeyboardInterrupt):
        press()
    assert not interrupt.was_stopped


def test_items_up_to_the_wish() -> None:
    interrupt, seen = new(), []
    with interrupt.listening():
        for item in interrupt.until_stopped(iter(range(5))):
            seen.append(item)
            if item == 2:
                press()
    assert seen == [0, 1, 2]

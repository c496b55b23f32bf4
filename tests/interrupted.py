"""Other work in the middle of a function, as of another thread that is scheduled there: at each of its lines."""

from __future__ import annotations

import sys
from itertools import count
from typing import TypeVar

Found = TypeVar("Found")


def at_every_line(function, ask, meanwhile, first):
    """Yield what `ask` returns where `meanwhile` is done before the function's first line, its second, and so on.

    first: what is done before each, undisturbed.
    """
    for wanted in count(1):
        seen = 0
        first()

        def local(frame, event, _, wanted=wanted):
            nonlocal seen
            seen += event == "line"
            if event == "line" and seen == wanted:
                meanwhile()
            return local

        before = sys.gettrace()
        sys.settrace(lambda frame, *_, local=local: local if frame.f_code is function.__code__ else None)
        try:
            found = ask()
        finally:
            sys.settrace(before)
        if seen < wanted:
            return
        yield found

"""``python -m deptree_cli``, and the command `deptree`."""

from __future__ import annotations

import gc
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line as a process of its own: with standard streams that can be relied on, ending on signals."""
    from deptree_cli.cli.signals import end_on_signals, leave_in_peace

    end_on_signals()  # first of all: the imports below take a while
    gc.set_threshold(20_000)  # what commands make has few cycles: to look for them took 7 % of long streams
    from deptree_cli.cli.signals import keep_warnings_back, repair

    repair()
    keep_warnings_back()
    from deptree_cli.cli.app import main as run

    try:
        run()
    finally:
        leave_in_peace()


if __name__ == "__main__":
    main()

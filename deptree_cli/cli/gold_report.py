"""What --gold finds beside a run's results: where that goes, a file, standard output, or a table on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import click

from deptree_cli.cli.binding import bound
from deptree_cli.cli.params import OUTPUT
from deptree_cli.cli.run_options import RunOptions
from deptree_cli.cli.sections import Decorator, option
from deptree_cli.io.encoders.base import Row
from deptree_cli.io.files.output import Output
from deptree_cli.io.files.streams import STDIN
from deptree_cli.io.json_lines import dump


@dataclass(frozen=True)
class GoldReport:
    """Where a comparison with gold heads or links goes.

    Attributes:
        path: of a file for it, as JSON; `-` is standard output. Without one it is a table on stderr.
        plot: the path of a picture of calibration, None for no picture.
        asked: the option that asks for one of these, for messages; empty if none does.
    """

    path: str | None = None
    plot: str | None = None
    asked: str = ""

    def check(self, has_gold: bool) -> None:
        """Raise where nothing is compared, and for a picture that cannot be drawn."""
        if self.asked and not has_gold:
            raise click.UsageError(f"{self.asked} needs something to compare with. Add --gold FILE.")
        if self.plot:
            from deptree_cli.io.pictures.plots import check_plot  # where there is something to draw

            check_plot(self.plot)

    def takes_output(self, run: RunOptions) -> bool:
        """Whether standard output is for this, and results have no file: then they are only counted."""
        return self.path == STDIN and run.output is None

    @contextmanager
    def opened(self, signature: str = "") -> Iterator[Callable[[Iterable[Row]], None]]:
        """Open the file, to which what was found is written, behind the signature if there is one."""
        with Output(self.path) if self.path else nullcontext() as out:

            def write(rows: Iterable[Row]) -> None:
                for row in [{"signature": signature}] * bool(signature) + [*rows]:
                    if out:
                        out.write(dump(row))

            yield write


def _report(*, report: str | None, plot: str | None = None) -> GoldReport:
    asked = "--report" if report else "--plot" if plot else ""
    return GoldReport(report, plot, asked)


def report_options(results: str, plot: bool = True) -> Decorator[Any]:
    """Give a command --report (and --plot) as one `report: GoldReport`; `results`: what goes to -o then."""
    help_text = f"Write the --gold report as JSON; - is stdout ({results} then need -o)."
    options = [
        option("--report", type=OUTPUT, help=help_text),
    ]
    if plot:
        options.append(
            option("--plot", type=OUTPUT, help="Draw the calibration of arc probabilities (.svg, .png, .pdf).")
        )
    return bound("report", options, _report)

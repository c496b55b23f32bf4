"""Options of temperatures: one number, or what `deptree calibrate` found."""

from __future__ import annotations

from dataclasses import dataclass

import click

from deptree_cli.cli.binding import bound
from deptree_cli.cli.options import positive
from deptree_cli.cli.params import INPUT
from deptree_cli.cli.sections import reading_option
from deptree_cli.io.scores.calibrated import Calibrated, read_calibrated


@dataclass(frozen=True)
class Tempering:
    """What log-scores are divided by.

    Attributes:
        temperature: of arcs and, without a calibration, of labels.
        calibrated: what was read from --calibrated, if that is given.
    """

    temperature: float = 1.0
    calibrated: Calibrated | None = None

    @property
    def label_temperature(self) -> float | None:
        """That of labels, None if it is that of arcs; a calibration without labels leaves them as they are."""
        return None if self.calibrated is None else self.calibrated.of_labels

    @property
    def is_asked(self) -> bool:
        """Whether an option changes something."""
        return self.temperature != 1 or self.calibrated is not None

    def signature_fields(self, labels: bool) -> dict[str, object]:
        """What of this a run must repeat to give the same result, with `labels` or without."""
        numbers = {"temperature": self.temperature, "labeltemperature": self.label_temperature if labels else None}
        return {name: None if number in (None, 1) else repr(number) for name, number in numbers.items()}


NO_TEMPERING = Tempering()


def _tempering(*, temperature: float, calibrated: str | None) -> Tempering:
    if calibrated is None:
        return Tempering(temperature)
    if temperature != 1:
        raise click.UsageError("--temperature and --calibrated both set a temperature. Remove one.")
    found = read_calibrated(calibrated)
    return Tempering(found.temperature, found)


temperature_option = reading_option(
    "--temperature", type=float, default=1.0, callback=positive, help="Divide log-scores by this.  [default: 1]"
)

_CALIBRATED = reading_option(
    "--calibrated", type=INPUT, help="Divide log-scores by the temperatures in FILE (see deptree calibrate)."
)

# Gives a command both, as one `tempering: Tempering`.
tempering_options = bound("tempering", [temperature_option, _CALIBRATED], _tempering)

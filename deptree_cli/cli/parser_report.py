"""How parsed trees compare with known ones: accuracy, calibration and speed, for people and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from time import monotonic
from typing import Any

from deptree_cli.cli.gold_report import GoldReport
from deptree_cli.cli.parsed import Parsed
from deptree_cli.cli.report import table, talk
from deptree_cli.cli.run_options import RunOptions
from deptree_cli.cli.unknown_tags import named
from deptree_cli.core.calibration import Calibration
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.hpyp.accuracy import ALL, WORDS_ONLY, Accuracy
from deptree_cli.io.pictures.plots import plot_calibration


class Report:
    """Everything that is counted while sentences pass."""

    def __init__(self) -> None:
        self._accuracy = Accuracy()
        self._calibration = Calibration()
        self._unseen: dict[str, Counter[str]] = {"labels": Counter(), "tags": Counter()}
        self._sentences = 0
        self._seconds = 0.0

    def counted(self, parsed: Iterator[Parsed]) -> Iterator[Parsed]:
        """The sentences as they pass.

        Raises:
            DeptreeError: at the end, if no head is known.
        """
        start = 0.0
        for each in parsed:
            start = start or monotonic()  # with the first result: what is loaded and compiled before it is no parsing
            self._sentences += 1
            self._seconds = monotonic() - start
            if each.compared:
                compared = each.compared
                self._accuracy += compared.accuracy
                if len(compared.probs):
                    self._calibration.add(compared.probs, compared.right)
                self._unseen["labels"].update(compared.unseen_labels)
                self._unseen["tags"].update(compared.unseen_tags)
            yield each
        if not self._accuracy.words[ALL]:
            raise DeptreeError("no word of --gold has a known head", "Give sentences with HEADs")

    def summary(self) -> dict[str, Any]:
        """All numbers by name but the speed, which would be another in the next run."""
        found = {"sentences": self._sentences, **self._accuracy.attachment()}
        found["without_punctuation"] = self._accuracy.attachment(WORDS_ONLY)
        if self._accuracy.tag_accuracy is not None:
            found["tag_accuracy"] = self._accuracy.tag_accuracy
        if self._calibration.words.any():
            found["calibration"] = self._calibration.summary()
        return found

    def show(self, to: GoldReport, run: RunOptions) -> None:
        """Show all that is asked for: JSON or tables on stderr, and a picture."""
        to.write(self.summary())
        if not to.path and not run.quiet:
            self._talk()
        for what, counts in self._unseen.items():
            if counts and not run.quiet:
                talk(f"{what} of --gold that the model does not know, which count as wrong: {named(counts)}")
        if to.plot:
            found = self._calibration
            plot_calibration(found.rows(), f"expected calibration error {found.error:.3f}", to.plot)

    def _talk(self) -> None:
        rows = [("all words", ALL), ("without those of label punct", WORDS_ONLY)]
        shares = [(title, self._accuracy.attachment(which)) for title, which in rows]
        table(
            "attachment scores",
            ["", "words", "UAS", "LAS"],
            ([title, found["words"], *map(_digits, (found["uas"], found["las"]))] for title, found in shares),
        )
        found = self._calibration
        if found.words.any():
            columns = ["probability", "words", "confidence", "accuracy"]
            table("calibration of heads", columns, found.rows())
            words = counted(int(found.words.sum()), "word")
            talk(f"expected calibration error {found.error:.4f} over {words} (probabilities by the filter)")
        if self._accuracy.tag_accuracy is not None:
            talk(f"tag accuracy {self._accuracy.tag_accuracy:.4f} over {counted(self._accuracy.tagged, 'word')}")
        if self._sentences > 1:
            speed = (self._sentences - 1) / max(self._seconds, 1e-9)
            talk(f"{counted(self._sentences, 'sentence')}, {speed:.3g} a second")


def _digits(share: float | None) -> str | None:
    return None if share is None else f"{share:.4f}"

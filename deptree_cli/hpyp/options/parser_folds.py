"""What becomes of parsed sentences beside their trees: a file of scores, and a comparison with gold trees."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic
from typing import Any, NamedTuple

from deptree_cli.cli.calibrating import calibration_tables, draw_calibration, no_known_heads
from deptree_cli.cli.folds import Fold
from deptree_cli.cli.other_tags import named
from deptree_cli.cli.report import talk
from deptree_cli.cli.tables import Table
from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import counted
from deptree_cli.hpyp.model.accuracy import ALL, WORDS_ONLY
from deptree_cli.hpyp.model.annotated import Annotated
from deptree_cli.hpyp.model.comparison import Compared, Comparison
from deptree_cli.io.encoders.arrays import SentenceScores
from deptree_cli.io.encoders.base import Write


class ScoredWords(NamedTuple):
    """A sentence with scores, (n+1, n+1), and what the user must hear of these."""

    words: Annotated
    scores: Float
    notices: tuple[str, ...]


class ScoresBeside(Fold[ScoredWords]):
    """Writes the scores of sentences as these pass."""

    attribute = "beside"

    def __init__(self, write: Write, quiet: bool) -> None:
        self._write = write
        self._quiet = quiet

    def add(self, counts: ScoredWords) -> None:
        words = counts.words
        for notice in () if self._quiet else counts.notices:
            talk(f"{words.sent_id}: {notice}")
        self._write(SentenceScores(words.sent_id, counts.scores, words.forms))


class ParserReport(Fold[Compared]):
    """How parsed trees compare with gold ones: accuracy, calibration and speed."""

    attribute = "compared"

    def __init__(self) -> None:
        self._found = Comparison()
        self._start = self._seconds = 0.0

    def add(self, counts: Compared) -> None:
        self._start = self._start or monotonic()  # with the first: what is loaded and compiled before is no parsing
        self._seconds = monotonic() - self._start
        self._found.add(counts)

    def check(self) -> None:
        if self._found.is_empty:
            raise no_known_heads()

    def rows(self) -> list[dict[str, Any]]:
        return [self._found.row()]

    def tables(self) -> Iterator[Table | str]:
        found, accuracy = self._found, self._found.accuracy
        rows = []
        for title, which in (("all words", ALL), ("without those of label punct", WORDS_ONLY)):
            shares = accuracy.attachment(which)
            rows.append([title, shares["words"], *map(_digits, (shares["uas"], shares["las"]))])
        yield Table("attachment scores", ["", "words", "UAS", "LAS"], rows)
        if found.calibration.words.any():
            yield from calibration_tables(found.calibration, " (probabilities by the filter)")
        if accuracy.tag_accuracy is not None:
            yield f"tag accuracy {accuracy.tag_accuracy:.4f} over {counted(accuracy.tagged, 'word')}"
        if found.sentences > 1:
            speed = (found.sentences - 1) / max(self._seconds, 1e-9)
            yield f"{counted(found.sentences, 'sentence')}, {speed:.3g} a second"

    def lines(self) -> Iterator[str]:
        for what, counts in self._found.unseen.items():
            if counts:
                yield f"{what} of --gold that the model does not know, which count as wrong: {named(counts)}"

    def draw(self, path: str) -> None:
        draw_calibration(self._found.calibration, path)


def _digits(share: float | None) -> str | None:
    return None if share is None else f"{share:.4f}"

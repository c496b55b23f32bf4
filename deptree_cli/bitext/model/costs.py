"""What sums over the alignments of a sentence pair cost, and how they are divided where that is much."""

from __future__ import annotations

from collections.abc import Iterator

from deptree_cli.bitext.model.progress import tell

# Nanoseconds as measured, of both orders: of two source spans that are joined, of two rows of target spans, and of two
# of their items. They are about right on any machine of today.
JOIN, ROW, PRODUCT = 100.0, 8.0, 0.5

# What takes fewer seconds is done in one piece.
LONG = 1.0

# The sides of a pair change places where that saves so many seconds, and more than half of them.
WORTH_TURNING = 0.01


def chart_size(p: int, q: int) -> int:
    """How many bytes the chart of p by q words takes, three tables of float64 over bispans."""
    return 3 * 8 * (p * (p + 1) // 2) * (q * (q + 1) // 2)


def seconds(p: int, q: int) -> float:
    """About how long it takes to fill the chart of p by q words; to go back through it takes as long again."""
    return _filling(q, p) if is_turned(p, q) else _filling(p, q)


def is_turned(p: int, q: int) -> bool:
    """Whether the chart of p by q words is that of the target words by the source words.

    The grammar takes both sides alike, but every join of source spans costs something, however few target words there
    are. Pairs of about the same lengths stay as they are, and with them the last digits of their sums.
    """
    as_it_is, turned = _filling(p, q), _filling(q, p)
    return as_it_is > max(2 * turned, turned + WORTH_TURNING)


def _filling(p: int, q: int) -> float:
    return 1e-9 * p**3 / 6 * (JOIN + ROW * q**2 / 2 + PRODUCT * q**3 / 6)


def pieces(p: int, q: int, what: str, backwards: bool = False) -> Iterator[tuple[int, int]]:
    """Ranges of lengths of source spans, to be filled one after another; who watches is told how far that has come.

    Args:
        p, q: of the chart, which is as it is.
        what: what is worked out, and of which words, for who watches.
    """
    if _filling(p, q) < LONG:
        yield 1, p + 1
        return
    done, joins = 0, max((p**3 - p) // 6, 1)
    for size in range(p, 0, -1) if backwards else range(1, p + 1):
        tell(f"{what}: {done / joins:.0%}")
        yield size, size + 1
        done += (p + 1 - size) * (size - 1)

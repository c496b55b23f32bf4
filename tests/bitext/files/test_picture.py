"""What a picture of a sentence pair shows."""

from __future__ import annotations

import numpy as np

from deptree_cli.bitext.commands.show import AlignmentPicture


def picture(p: int, q: int, words: tuple[list[str], list[str]] = ([], [])) -> AlignmentPicture:
    """Links along the diagonal, each with a probability of .25 and the next word's of .75."""
    probabilities = np.zeros((p, q))
    targets = np.full(p, -1, np.int32)
    for word in range(min(p, q)):
        targets[word] = word
        probabilities[word, word] = 0.25
        probabilities[word, (word + 1) % q] += 0.625
    return AlignmentPicture("de-1", words, probabilities, targets, "best alignment")


def test_words_as_they_can_be_shown() -> None:
    drawn = picture(2, 1, (["a\x1b[0m", "\x00"], ["ж\u202e"]))
    assert (drawn.source, drawn.target) == (["a[0m", "_"], ["ж"])


def test_numbers_count_from_0_as_in_links() -> None:
    drawn = picture(2, 3)
    assert (drawn.source, drawn.target) == (["0", "1"], ["0", "1", "2"])

"""The sentence pairs of this folder with their links, invented for this project, and the rule that scores them."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Pair:
    """A German sentence, its English translation, and the links in the Pharaoh format: ``?`` for possible ones."""

    name: str
    german: str
    english: str
    links: str

    @property
    def source(self) -> list[str]:
        return self.german.split()

    @property
    def target(self) -> list[str]:
        return self.english.split()

    def linked(self, marks: str) -> list[tuple[int, int]]:
        """The links with one of these marks, as (German word, English word)."""
        found = [(link.partition(mark), mark) for link in self.links.split() for mark in marks if mark in link]
        return [(int(source), int(target)) for (source, _, target), _ in found]


PAIRS = [
    Pair("de-1", "das Haus am Fluss ist alt", "the house by the river is old", "0-0 1-1 2-2 2?3 3-4 4-5 5-6"),
    # the whole sentence turns round
    Pair("de-2", "heute regnet es hier nicht", "here it does not rain today", "0-5 1-4 1?2 2-1 3-0 4-3"),
    # two articles, each of which may be the other one's translation
    Pair("de-3", "die Katze jagt die Maus", "the mouse runs from the cat", "0-4 1-5 2?2 3-0 4-1"),
    Pair("de-4", "ich habe den Brief gestern gelesen", "I read the letter yesterday", "0-0 1?1 2-2 3-3 4-4 5-1"),
    Pair("de-5", "dann gehen wir gern spazieren", "then we like to take a walk", "0-0 1?4 2-1 3-2 4-6"),
]

# Pairs of words that translate each other, wherever they stand, and those that may.
LEXICON = {(pair.source[i], pair.target[j]) for pair in PAIRS for i, j in pair.linked("-")}
MAYBE = {(pair.source[i], pair.target[j]) for pair in PAIRS for i, j in pair.linked("?")} - LEXICON


def bigrams(word: str) -> set[str]:
    """The pairs of neighbouring letters of a word between two spaces."""
    padded = f" {word.lower()} "
    return {padded[i : i + 2] for i in range(len(padded) - 1)}


def likeness(one: str, other: str) -> float:
    """The share of bigrams that two words have in common (Dice's coefficient): cognates look alike."""
    return 2 * len(bigrams(one) & bigrams(other)) / (len(bigrams(one)) + len(bigrams(other)))


def log_scores(pair: Pair, likes: float, stays: float) -> Matrix:
    """Log-scores of links `(German words, English words)`, in eighths, which every format writes exactly.

    Against 0 for two words left unlinked: 6 for a translation, 1 for what may be one, -4 for anything else; more by
    `likes` the more alike the words are, less by `stays` the further apart they stand in their sentences.
    """
    source, target = pair.source, pair.target
    scores = np.empty((len(source), len(target)), np.float32)
    for i, german in enumerate(source):
        for j, english in enumerate(target):
            known = 6 if (german, english) in LEXICON else 1 if (german, english) in MAYBE else -4
            apart = abs((i + 0.5) / len(source) - (j + 0.5) / len(target))
            scores[i, j] = round(8 * (known + likes * likeness(german, english) - stays * apart)) / 8
    return scores


def write_bitext(folder: Path) -> None:
    """The pairs with log-scores of both directions, their words and their links."""
    scores: dict[str, Any] = {pair.name: log_scores(pair, likes=2.0, stays=0.75) for pair in PAIRS}
    reverse: dict[str, Any] = {pair.name: log_scores(pair, likes=1.0, stays=1.25).T.copy() for pair in PAIRS}
    np.savez(folder / "bitext.npz", **scores)
    np.savez(folder / "bitext_reverse.npz", **reverse)
    with (folder / "bitext.jsonl").open("w", encoding="utf-8", newline="\n") as lines:
        for pair in PAIRS:
            words = {"source": pair.source, "target": pair.target}
            record = {"sent_id": pair.name, **words, "scores": scores[pair.name].tolist()}
            lines.write(json.dumps(record, ensure_ascii=False) + "\n")
    text = "".join(f"{pair.german} ||| {pair.english}\n" for pair in PAIRS)
    (folder / "bitext.txt").write_text(text, encoding="utf-8", newline="\n")
    links = "".join(f"{pair.links}\n" for pair in PAIRS)
    (folder / "bitext_gold.align").write_text(links, encoding="utf-8", newline="\n")

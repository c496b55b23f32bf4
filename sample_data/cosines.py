"""Write cosine similarities of the words of two sentence pairs as JSON Lines, for `deptree bitext`.

The vectors count the letters and short strings of letters in a word, which tell related words of two languages; those
of a multilingual language model take their place where there is one. Both kinds have a direction that all words share:
without their mean similarities are negative where words are less alike than most.
"""

from __future__ import annotations

import json

import numpy as np

PAIRS = {
    "es-1": (
        "la nueva constitución garantiza la libertad de expresión",
        "the new constitution guarantees liberty of expression",
    ),
    "es-2": ("el banco central modificó ayer sus objetivos", "yesterday the central bank modified its objectives"),
}
VOCABULARY = sorted({word for pair in PAIRS.values() for sentence in pair for word in sentence.split()})


def substrings(word: str) -> list[str]:
    """All of one to four letters, the ends of the word marked."""
    marked = f"<{word}>"
    return [marked[i : i + n] for n in range(1, 5) for i in range(len(marked) - n + 1)]


def vectors() -> dict[str, np.ndarray]:
    """A unit vector for each word."""
    strings = sorted({each for word in VOCABULARY for each in substrings(word)})
    found = np.array([[substrings(word).count(each) for each in strings] for word in VOCABULARY], dtype=np.float64)
    found -= found.mean(axis=0)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return dict(zip(VOCABULARY, found, strict=True))


if __name__ == "__main__":
    VECTORS = vectors()
    for name, sentences in PAIRS.items():
        source, target = (sentence.split() for sentence in sentences)
        x, y = (np.array([VECTORS[word] for word in words]) for words in (source, target))
        row = {"sent_id": name, "scores": (x @ y.T).round(4).tolist(), "source": source, "target": target}
        print(json.dumps(row, ensure_ascii=False))

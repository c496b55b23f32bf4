"""Small files of the names that example lines read, for `warm`: the sample data are not installed with the package."""

from __future__ import annotations

from pathlib import Path

import numpy as np

# Ids that example lines name stand first. Scores are ordinary ones but for those of the last two, which leave the range
# of float64.
IDS, LENGTHS = ("en-1", *"abcdefg"), (2, 1, 3, 6, 9, 14, 6, 9)
PAIRS = {"de-3": (2, 3), "a": (4, 5), "b": (6, 7)}
TAGS, LABELS = ("DET", "NOUN", "VERB"), ("det", "nsubj", "root")
TREES = ("sentences", "gold", "broken", "treebank")


def write_examples(folder: Path) -> None:
    """Write them; a model and what else commands write themselves is not among them."""
    random = np.random.Generator(np.random.PCG64(1))
    matrices = [*(random.normal(size=(n + 1, n + 1)) for n in LENGTHS[:-2]), *map(_saturated, LENGTHS[-2:])]
    as_natasha = {name: each.T[1:] for name, each in zip(IDS, matrices, strict=True)}
    np.savez(folder / "scores.npz", allow_pickle=False, **as_natasha)
    np.savez(
        folder / "bitext.npz", allow_pickle=False, **{name: random.normal(size=each) for name, each in PAIRS.items()}
    )
    words = "".join(f"{'w ' * source}|||{' w' * target}\n" for source, target in PAIRS.values())
    (folder / "bitext.txt").write_text(words)
    (folder / "bitext_gold.align").write_text("0-0\n" * len(PAIRS))
    for name in TREES:
        (folder / f"{name}.conllu").write_text("".join(map(_sentence, IDS, LENGTHS)))


def _saturated(n: int) -> np.ndarray:
    """Log-scores of pairs of words that all but choose each other, which elimination cannot do in float64; of long
    sentences one arc is forbidden."""
    log_scores = np.full((n + 1, n + 1), -30.0)
    log_scores[1:2, 3:4] = -np.inf
    for word in range(1, n, 2):
        log_scores[word, word + 1] = log_scores[word + 1, word] = 0.0
    return log_scores


def _sentence(sent_id: str, n: int) -> str:
    """Words of which each governs the one before it, the last one is the root."""
    kinds = [2 if word == n else word % 2 for word in range(1, n + 1)]
    words = [
        f"{word}\tw{word % 4}\t_\t{TAGS[kind]}\t_\t_\t{(word + 1) % (n + 1)}\t{LABELS[kind]}\t_\t_\n"
        for word, kind in enumerate(kinds, start=1)
    ]
    return f"# sent_id = {sent_id}\n{''.join(words)}\n"

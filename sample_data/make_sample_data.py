"""Write every data file of this folder; running it again writes the same bytes.

    python sample_data/make_sample_data.py [FOLDER]

The sentences and their trees are in `sample_sentences.py`. The scores imitate the raw logits of a graph-based parser:
the gold head of a word stands out, and in each sentence one attachment is a close call. Sentence pairs are in
`bitext_sentences.py`.
"""

import json
import math
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
from bitext_sentences import write_bitext
from numpy.typing import NDArray
from sample_sentences import SAMPLES, Sample

Matrix = NDArray[np.floating]

FUNCTION_WORDS = {"ADP", "AUX", "DET", "PART", "SCONJ"}


def conllu_block(sample: Sample, gold: bool) -> str:
    """One sentence in CoNLL-U, with its tree or with HEAD and DEPREL left open."""
    lines = [f"# sent_id = {sample.sent_id}", *(f"# {comment}" for comment in sample.comments)]
    for number, form, lemma, upos, feats, head, deprel, misc in sample.rows:
        tree = [head, deprel] if gold else ["_", "_"]
        lines.append("\t".join([number, form, lemma, upos, "_", feats, *tree, "_", misc]))
    return "\n".join(lines) + "\n\n"


def to_eighths(x: float) -> float:
    """Three decimals write an eighth exactly and float32 holds it exactly, so every format gives the same number."""
    return round(8 * x) / 8


def unlikely_logit(rng: random.Random, upos: list[str], dep: int, head: int) -> float:
    """The logit of an arc that nobody would draw: worse for far heads, function words and punctuation."""
    logit = rng.uniform(-9, 0) - 0.25 * abs(head - dep)
    if upos[head] == "PUNCT":
        logit -= 4
    elif upos[head] in FUNCTION_WORDS:
        logit -= 2
    return max(logit, -15.0)


def sample_logits(sample: Sample) -> Matrix:
    """Logits `(n+1, n+1)`, row = dependent, column = head, node 0 = ROOT.

    Row 0 and the diagonal hold numbers too, as they do in a parser's memory; a reader has to ignore them.
    """
    # random.Random and not numpy's generator: only the former promises the same stream in every version
    rng = random.Random(sample.sent_id)
    upos = ["ROOT", *(row[3] for row in sample.words)]
    nodes = range(len(upos))
    logits = np.array(
        [[to_eighths(unlikely_logit(rng, upos, dep, head)) for head in nodes] for dep in nodes], np.float32
    )
    for dep, head in enumerate(sample.heads, start=1):
        logits[dep, head] = to_eighths(rng.uniform(4, 9))
        if dep in sample.other_heads:
            logits[dep, sample.other_heads[dep]] = logits[dep, head] - sample.margin
    return logits


# What a parser knows; the first is for padding and never a label of a word.
LABELS = ["<pad>", *sorted({row[6] for sample in SAMPLES for row in sample.words})]

# What a noun is called by what governs it.
NOMINAL = {"nmod", "obl", "obj"}


def label_logits(sample: Sample) -> Matrix:
    """Conditional label logits `(n, n+1, labels)`: the gold label stands out, but nouns under nouns are nmod."""
    rng = random.Random(f"labels of {sample.sent_id}")
    upos = ["ROOT", *(row[3] for row in sample.words)]
    logits = np.empty((len(sample.words), len(upos), len(LABELS)), np.float32)
    for dep, row in enumerate(sample.words, start=1):
        for head in range(len(upos)):
            label = "nmod" if row[6] in NOMINAL and upos[head] in ("NOUN", "PROPN") else row[6]
            logits[dep - 1, head] = [to_eighths(rng.uniform(-9, 0)) for _ in LABELS]
            logits[dep - 1, head, LABELS.index("obl" if label == "obj" else "obj")] = to_eighths(rng.uniform(0, 2))
            logits[dep - 1, head, LABELS.index(label)] = to_eighths(rng.uniform(3, 6))
    return logits


def pad_batch(squares: list[Matrix]) -> Matrix:
    """Squares of different sizes in one array `(batch, m, m)`, filled up with -inf."""
    size = max(len(square) for square in squares)
    batch = np.full((len(squares), size, size), -np.inf, np.float32)
    for row, square in zip(batch, squares, strict=True):
        row[: len(square), : len(square)] = square
    return batch


def head_probabilities(logits: Matrix) -> Matrix:
    """Weights `(n+1, n+1)`, row = head, column = dependent: every word's logits as probabilities of its heads."""
    weights = np.zeros(logits.shape)
    for dep in range(1, len(logits)):
        exps = [0.0 if head == dep else math.exp(logit) for head, logit in enumerate(logits[dep])]
        # six digits, because the last bits of exp differ between machines
        weights[:, dep] = [float(f"{x / math.fsum(exps):.6g}") for x in exps]
    return weights


def figure1_weights() -> Matrix:
    """Stanojevic 2022, Figure 1, head-dep: three equally likely single-root trees, two of them rooted in A."""
    root, a, b, c = range(4)
    weights = np.zeros((4, 4))
    for head, dep in [(root, a), (b, a), (a, b), (c, b), (root, c), (a, c)]:
        weights[head, dep] = 0.5
    return weights


def saturated_weights() -> Matrix:
    """Head-dep weights of six words in three pairs that choose each other: what Koo et al.'s inverse cannot bear.

    The remaining 1e-12 of words 3 to 6 goes to the other pair among them but for a ten-thousandth, so whatever enters
    these four is as small as the rounding of a column sum. Word 1 stays outside: in the Laplacian its column sum plays
    no part, and a saturated group around it would hide the error.
    """
    rest = 1e-12
    partners = {1: 2, 2: 1, 3: 4, 4: 3, 5: 6, 6: 5}
    weights = np.zeros((7, 7))
    for dep, partner in partners.items():
        others = [head for head in range(7) if head not in (dep, partner)]
        shares = [(1 + (3 * head + 5 * dep) % 7) * (10_000 if min(head, dep) >= 3 else 1) for head in others]
        weights[others, dep] = [rest * share / sum(shares) for share in shares]
        weights[partner, dep] = 1 - rest
    return weights


def second_order_scores(sample: Sample) -> dict[str, Matrix]:
    """Log-scores of the arcs of the telescope sentence, head-dep, and of parts of its trees: the man has the telescope.

    With grandparent `(grandparent, head, dependent)` and sibling `(head, sibling, dependent)`, all 0 but one each.
    """
    nodes = len(sample.words) + 1
    grandparent, sibling = np.zeros((2, nodes, nodes, nodes), np.float32)
    saw, man, telescope = 2, 4, 7
    grandparent[saw, man, telescope] = 1.5
    sibling[saw, man, telescope] = -0.5
    key = sample.sent_id
    return {key: sample_logits(sample).T.copy(), f"{key}.grandparent": grandparent, f"{key}.sibling": sibling}


def write_sentences(folder: Path) -> None:
    for name, gold in [("sentences.conllu", False), ("gold.conllu", True)]:
        text = "".join(conllu_block(sample, gold) for sample in SAMPLES)
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    lengths = "".join(f"{len(sample.words)}\n" for sample in SAMPLES)
    (folder / "lengths.txt").write_text(lengths, encoding="utf-8", newline="\n")


def write_scores(folder: Path) -> None:
    """The same logits in every container; dropping row 0 of a square leaves the rectangle `(n, n+1)`."""
    squares = [sample_logits(sample) for sample in SAMPLES]
    rectangles: dict[str, Any] = {sample.sent_id: square[1:] for sample, square in zip(SAMPLES, squares, strict=True)}
    np.savez(folder / "scores.npz", **rectangles)
    np.save(folder / "scores.npy", pad_batch(squares))
    with (folder / "scores_stream.npy").open("wb") as stream:
        for square in squares:
            np.save(stream, square)
    with (folder / "scores.jsonl").open("w", encoding="utf-8", newline="\n") as lines:
        for sample, square in zip(SAMPLES, squares, strict=True):
            forms = [row[1] for row in sample.words]
            record = {"sent_id": sample.sent_id, "forms": forms, "scores": square[1:].tolist()}
            lines.write(json.dumps(record, ensure_ascii=False) + "\n")


def write_labels(folder: Path) -> None:
    tensors: dict[str, Any] = {sample.sent_id: label_logits(sample) for sample in SAMPLES}
    np.savez(folder / "label_scores.npz", **tensors)
    (folder / "labels.json").write_text(json.dumps(LABELS) + "\n", encoding="utf-8", newline="\n")


def write_single_sentences(folder: Path) -> None:
    np.save(folder / "one.npy", head_probabilities(sample_logits(SAMPLES[0])))
    np.save(folder / "figure1.npy", figure1_weights())
    np.save(folder / "saturated.npy", saturated_weights())
    parts: dict[str, Any] = second_order_scores(SAMPLES[0])
    np.savez_compressed(folder / "second_order.npz", **parts)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_sentences(folder)
    write_scores(folder)
    write_labels(folder)
    write_single_sentences(folder)
    write_bitext(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)

"""The sample data, and how commands are told to read it: most tests of commands begin with these words."""

from __future__ import annotations

from pathlib import Path

DATA = Path(__file__).parents[1] / "sample_data"
SCORES = (DATA / "scores.npz", "--from", "natasha")
SENTENCES = ("--conllu", DATA / "sentences.conllu")
LABELS = ("--labels", DATA / "labels.json", "--label-scores", DATA / "label_scores.npz")
FIGURE1 = (DATA / "figure1.npy", "--from", "head-dep")

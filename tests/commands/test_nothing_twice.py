"""No command factorises a sentence, or looks back over the factors, more often than its result needs.

A distribution keeps what was worked out; whoever makes a new one where there is one already pays again. Here kernel
calls are counted, in this process, over the eight sentences of the sample data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from deptree_cli.core.audit import ENUMERATED_N
from deptree_cli.kernels import questions
from tests.every_command import ENTRIES, example
from tests.sample import DATA, LABELS, SCORES
from tests.tree_files import read_blocks

SENTENCES, GOLD = ("--conllu", DATA / "sentences.conllu"), ("--conllu", DATA / "gold.conllu")
OTHER = ("--other", DATA / "scores.npz")
FEATURES = ("--features", DATA / "label_scores.npz")
MANY = ("-k", 20, "--seed", 7)

ALL = 8  # sentences
with (DATA / "gold.conllu").open("rb") as file:
    LONG = sum(block.n > ENUMERATED_N for block in read_blocks(file, "gold"))  # which check-bias does not enumerate
PAIRED = 4  # arcs of those that are expected five times in twenty trees, and five times not, less each word's likeliest
R = 15  # features of an arc in label_scores.npz

# Command line, then how often: eliminations or charts (log Z), looks back (marginals), covariances (gradients).
CASES = [
    ("sample {scores} -k 20", ALL, 0, 0),  # log Z, and the root's marginals without the others
    ("sample {scores} --sampler wilson-rc -o out.npz", 0, 0, 0),  # neither probabilities nor the root's marginals
    ("sample {scores} --sampler wilson --multi-root -o out.npz", 0, 0, 0),
    ("sample {scores} --projective", ALL, 0, 0),
    ("swor {scores} -k 3", ALL, ALL, 0),  # words are drawn in the order of their certainty: marginals
    ("swor {scores} --mass 0.9 {labels} --labelled", ALL, ALL, 0),
    ("swor {scores} -k 3 --sampler trie", 2 * ALL, 0, 0),  # log Z, and the root's log-marginals in wide numbers
    ("swor {scores} -k 3 --sampler beam", 2 * ALL, 0, 0),
    ("decode {scores}", ALL, ALL, 0),  # log Z and entropy
    ("decode {scores} --method mbr", ALL, ALL, 0),
    ("decode {scores} -k 20 {sentences} --projective", ALL, ALL, 0),
    ("decode {scores} -o out.npz", 0, 0, 0),
    ("marginals {scores}", ALL, ALL, 0),
    ("marginals {scores} {gold} {labels}", ALL, ALL, 0),
    ("score {scores} {data}/gold.conllu", ALL, 0, 0),
    ("eval {data}/gold.conllu {data}/gold.conllu", 0, 0, 0),
    ("eval {data}/gold.conllu --scores {scores}", ALL, ALL, ALL),
    ("agree {data}/gold.conllu {data}/gold.conllu --scores {scores}", ALL, ALL, 0),
    ("repair {data}/broken.conllu", 0, 0, 0),
    ("repair {data}/gold.conllu --scores {scores} {labels} --worth 0", ALL, 0, 0),
    ("partition {scores}", 3 * ALL, 0, 0),  # with one root, with several, and without crossing arcs
    ("partition {scores} --projective", 3 * ALL, 0, 0),
    ("expect entropy {scores}", ALL, ALL, 0),
    ("expect entropy {scores} --grad", ALL, ALL, ALL),
    ("expect renyi {scores} --order 2", 2 * ALL, 0, 0),  # log Z of the distribution and of its power
    ("expect renyi {scores} --order 2 --grad", 2 * ALL, 2 * ALL, 0),
    ("expect renyi {scores} --order 1 --grad", ALL, ALL, ALL),
    ("expect kl {scores} {other} --grad", 2 * ALL, 2 * ALL, ALL),
    ("expect cross-entropy {scores} {other} --grad", 2 * ALL, 2 * ALL, ALL),
    ("expect attachment {scores} {gold} --grad", ALL, ALL, ALL),
    ("expect features {scores} {features} --grad", ALL, ALL, R * ALL),  # a gradient for each
    ("expect covariance {scores} {features}", ALL, 0, R * ALL),
    ("expect ge {scores} {features} --target target.txt --grad", ALL, ALL, ALL),
    ("combine {scores}", 0, 0, 0),  # scores are added up
    ("combine {scores} --method mixture", ALL, ALL, 0),
    ("doubt {scores} --conllu {data}/gold.conllu {labels} --per sentence", ALL, ALL, 0),
    ("inspect {scores} --multi-root", 2 * ALL, ALL, 0),
    ("inspect {scores} {gold}", 4 * ALL, ALL, 0),  # and one more layout that a rectangle may have: ROOT last
    ("check-bias {scores} -k 20 --seed 7", ALL, LONG, LONG + PAIRED),  # the log-probability's variance, pairs of arcs
    ("check-bias {scores} -k 20 --seed 7 --sampler wilson-rc", ALL, LONG, LONG + PAIRED),  # its bias: root marginals
    ("check-bias {scores} --samples drawn.jsonl", ALL, LONG, LONG + PAIRED),
    ("show {scores} --sentence ru-1 {gold} {labels} --format text", 1, 1, 0),
    ("report {scores} {gold} -o out.html", 2 * ALL, ALL, 0),  # and the mass of trees without crossing arcs
    ("convert {scores} -o out.npz --to torch-struct,weight", 0, 0, 0),
    ("estimate draws.jsonl", 0, 0, 0),
    ("dump natasha {data}/sentences.conllu", 0, 0, 0),
]


def arguments(line: str) -> list[str]:
    """The words of a command line, its names filled in."""
    groups = {"scores": SCORES, "sentences": SENTENCES, "gold": GOLD, "other": OTHER, "features": FEATURES}
    named = {name: " ".join(map(str, words)) for name, words in (groups | {"labels": LABELS}).items()}
    return line.format(**named, data=DATA).split()


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """How often each kernel was called since; those on dual numbers are parts of a covariance."""
    counts: Counter[str] = Counter()

    def counted(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
        """Of a question: once for each sentence."""

        def ask(items: Any, pivots: Any, packed: Any, log_z: Any, is_swept: bool, *others: Any) -> Any:
            of_duals, size = " of duals" * (name == "covariances"), len(packed[2])
            counts[f"forth{of_duals}"] += 0 if is_swept and not of_duals else size
            counts[f"back{of_duals}"] += size if of_duals or (name == "sums" and len(others[0][0])) else 0
            return kernel(items, pivots, packed, log_z, is_swept, *others)

        return ask

    for name in ("sums", "samples", "covariances"):
        monkeypatch.setattr(questions, name, counted(name, getattr(questions, name)))
    return counts


@pytest.mark.parametrize(("line", "eliminations", "looks_back", "covariances"), CASES, ids=[case[0] for case in CASES])
def test_kernels_are_called_as_often_as_needed(
    deptree, done, put, calls, line, eliminations, looks_back, covariances
) -> None:
    if line.startswith("dump"):
        pytest.importorskip("slovnet", reason="natasha is not installed")
    put("target.txt", "1\n" * R)
    for command, name in (("sample", "drawn.jsonl"), ("swor", "draws.jsonl")):
        if name in line:
            put(name, done(command, *SCORES, *MANY).out)
    calls.clear()
    ran = deptree(*arguments(line), "-q")
    assert ran.code == (3 if line.startswith("check-bias") else 0), ran.err  # twenty trees leave it undecided
    assert calls["forth"] == eliminations
    assert calls["back"] == looks_back
    assert {calls[f"{name} of duals"] for name in ("forth", "back")} == {covariances}


@pytest.mark.parametrize("name", [name for name, entry in ENTRIES.items() if entry.reads == "scores"])
def test_no_line_to_try_sums_again_and_again(deptree, calls, monkeypatch, tmp_path, name) -> None:
    """But that of `calibrate`, which does at other temperatures."""
    for path in DATA.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    ran = deptree(*example(name), "-q")
    assert ran.code in (0, 1), ran.err
    assert calls["forth"] <= 4 * ALL or name == "calibrate"

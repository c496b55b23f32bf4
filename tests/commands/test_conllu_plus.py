"""CoNLL-U Plus in every command that reads sentences: the results are those of the same sentences as CoNLL-U."""

from __future__ import annotations

from pathlib import Path

import pytest

from deptree_cli.hpyp import Parser
from tests.every_command import COMMANDS
from tests.plus import from_plus, to_plus

DATA = Path(__file__).parents[2] / "sample_data"
GOLD = (DATA / "gold.conllu").read_text(encoding="utf-8")
SCORES = "scores.npz --from natasha"
WORDS = f"{SCORES} --conllu words.conllup"

# Lines whose sentences, words.conllup, are CoNLL-U in the first run and CoNLL-U Plus in the second.
LINES = [
    f"sample {WORDS} -k 2 --seed 1",
    f"sample {WORDS} --fix-heads --seed 1",
    f"swor {WORDS} -k 2 --seed 1",
    f"decode {WORDS}",
    f"decode {WORDS} -k 2 --deps basic --jobs 2",
    f"decode {WORDS} --rules ud --deps keep",
    f"marginals {WORDS}",
    f"marginals {WORDS} --tsv",
    f"score {SCORES} words.conllup",
    "eval words.conllup words.conllup --seed 1",
    "agree words.conllup words.conllup",
    "check words.conllup",
    "repair words.conllup --projective",
    f"doubt {WORDS} --format conllu --top 3",
    f"doubt {WORDS} --json",
    f"partition {WORDS} --fix-heads",
    f"expect risk {SCORES} --gold words.conllup",
    f"calibrate {SCORES} --gold words.conllup",
    "combine scores.npz:natasha words.conllup --conllu words.conllup",
    f"check-bias {SCORES} --samples words.conllup",
    "estimate words.conllup",
    f"inspect {WORDS} --json",
    f"show {WORDS} --sentence en-1",
    f"report {WORDS} -o report.html",
    f"convert {WORDS} -o out.jsonl",
    f"diff {SCORES} scores.npz --conllu words.conllup --seed 1",
    "hpyp train words.conllup -m out.npz --iterations 1 --seed 1",
    "hpyp parse model.npz words.conllup --particles 5",
    "hpyp parse model.npz words.conllup --particles 5 --tags predict -k 2 --seed 1",
    "hpyp surprisal model.npz words.conllup --particles 5 --seed 1",
    "hpyp perplexity model.npz words.conllup --particles 5 --seed 1",
]

# What makes sentences for commands that read samples.
DRAWN = {
    "estimate": f"swor {SCORES} --conllu gold.conllu -k 3 --seed 1",
    "check-bias": f"sample {SCORES} --conllu gold.conllu -k 50 --seed 1",
}

# Those that read no sentences, and `dump`, whose reader is tested in tests/io/parsers.
OTHERS = {"dump", "warm", "hpyp generate", "hpyp describe", "bitext expectations", "bitext align", "bitext show"}


def test_every_command_is_here():
    assert {name for name in COMMANDS for line in LINES if line.startswith(f"{name} ")} | OTHERS == set(COMMANDS)


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("plus") / "model.npz"
    Parser.train(DATA / "gold.conllu", iterations=1, seed=1).save(path)
    return path.read_bytes()


@pytest.fixture
def read(put, model):
    put("scores.npz", (DATA / "scores.npz").read_bytes())
    put("model.npz", model)


@pytest.mark.parametrize("line", LINES)
def test_the_same_results(deptree, done, put, read, line):
    put("gold.conllu", GOLD)
    drawn = DRAWN.get(line.split()[0])
    text = done(*drawn.split()).out.decode() if drawn else GOLD

    def ran(text):
        put("words.conllup", text)
        return deptree(*line.split()), [each.read_bytes() for each in Path.cwd().glob("out.*")]

    plain, files = ran(text)
    plus, others = ran(to_plus(text))
    assert (plus.code, plus.err, others) == (plain.code, plain.err, files)
    assert plain.code < 2, plain.err
    text = plus.out.decode()
    assert (from_plus(text) if text.startswith("# global") else text) == plain.out.decode()
    assert text.startswith("# global") == (b"\t_\t" in plain.out and b"sent_id\t" not in plain.out)

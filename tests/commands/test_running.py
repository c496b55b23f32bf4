"""``deptree dump`` and ``estimate`` run as the commands that read scores do: workers, shards, bad sentences skipped."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.io.parsers import adapter_of
from tests.sample import DATA, SCORES

CONLLU = DATA / "gold.conllu"
BLOCKS = CONLLU.read_text(encoding="utf-8").rstrip("\n").split("\n\n")
NAMES = ["en-1", "en-2", "en-3", "en-4", "cs-1", "cs-2", "ru-1", "ru-2"]

SHARDS = [1, 3, 8, 9]


def sent_ids(rows: list[dict]) -> list[str]:
    return list(dict.fromkeys(row["sent_id"] for row in rows))


@pytest.fixture
def draws(done, put) -> str:
    """Three trees of each sentence; every second one has come before under its name."""
    rows = done("swor", *SCORES, "-k", 3, "--seed", 7).out.splitlines(keepends=True)
    return put("draws.jsonl", b"".join([*rows, *rows[3:6], *rows[9:12]]))


def test_draws_that_are_skipped_are_named_and_counted(deptree, done, put):
    """A sentence without its last tree, one whose numbers are none, and sound ones before, between and behind."""
    rows = done("swor", *SCORES, "-k", 3, "--seed", 7).out.splitlines(keepends=True)
    rows[9] = rows[9].replace(b'"log_prob":-', b'"log_prob":', 1)
    del rows[5]
    put("draws.jsonl", b"".join(rows))
    refused = deptree("estimate", "draws.jsonl", "-o", "out.jsonl")
    assert (refused.code, refused.out) == (2, b"")
    assert all(line.startswith("deptree: deptree|estimate|") for line in refused.said[:-1])
    assert refused.said[-1].startswith("deptree: draws.jsonl:5 (en-2): the sentence's last tree, which carries tau,")
    assert not Path("out.jsonl").exists()
    ran = deptree("estimate", "draws.jsonl", "--on-error", "skip")
    assert ran.code == 1
    assert sent_ids(ran.rows) == [name for name in NAMES if name not in ("en-2", "en-4")]
    skipped = [line for line in ran.said if "skipped: " in line]
    assert "draws.jsonl:5 (en-2): " in skipped[0]
    assert "draws.jsonl:9 (en-4): log_prob is not the logarithm" in skipped[1]
    assert ran.said[-1] == "deptree: 2 sentences skipped"
    put("sound.jsonl", b"".join(row for row in rows if b'"en-2"' not in row and b'"en-4"' not in row))
    assert ran.out == done("estimate", "sound.jsonl").out


@pytest.fixture
def natasha(tmp_path, monkeypatch):
    """Where it is installed; in an empty folder."""
    pytest.importorskip("slovnet", reason="natasha is not installed")
    monkeypatch.chdir(tmp_path)


FILES = ("-o", "s.npz", "--to-conllu", "s.conllu", "--to-label-scores", "l.npz", "--to-labels", "l.json", "--batch", 3)


def written() -> list[bytes]:
    """The bytes of every file of `FILES`."""
    return [Path(name).read_bytes() for name in FILES[1:8:2]]


@pytest.mark.slow("process")
@pytest.mark.usefixtures("natasha")
def test_dumps_by_two_workers(done):
    done("dump", "natasha", CONLLU, *FILES)
    expected = written()
    done("dump", "natasha", CONLLU, *FILES, "--jobs", 2)
    assert written() == expected
    text = ("dump", "natasha", DATA / "paragraphs.txt", "--batch", 2)
    assert done(*text, "--jobs", 2).out == done(*text).out


@pytest.mark.slow("process")
@pytest.mark.usefixtures("natasha")
@pytest.mark.parametrize("shards", SHARDS)
@pytest.mark.parametrize("size", [1, 3])
def test_dumps_in_shards(done, shards, size):
    """Sentences keep their names, and their bytes, whatever batches they come in."""
    for path in (CONLLU, DATA / "paragraphs.txt"):
        whole = done("dump", "natasha", path, "--no-header").rows
        for i in range(1, min(shards, len(whole)) + 1):
            ran = done("dump", "natasha", path, "--batch", size, "--shard", f"{i}/{shards}")
            assert ran.rows[1:] == whole[i - 1 :: shards]
            assert shards == 1 or f"|shard:{i}/{shards}|" in ran.signature


@pytest.mark.slow("process")
@pytest.mark.usefixtures("natasha")
@pytest.mark.parametrize("size", [1, 3, 32])
def test_blocks_that_are_skipped_are_named_and_counted(deptree, done, size):
    broken = [block.replace("3\tn't", "4\tn't").replace("2\tflower\tflower", "2\tflower") for block in BLOCKS]
    Path("bad.conllu").write_text("\n\n".join(broken) + "\n\n", encoding="utf-8")
    lines = Path("bad.conllu").read_text(encoding="utf-8").splitlines()
    assert lines[18 - 1].startswith("4\tn't")
    assert lines[39 - 1].startswith("2\tflower\tVERB")
    Path("good.conllu").write_text("\n\n".join(BLOCKS[i] for i in (0, 2, 4, 5, 6, 7)) + "\n\n", encoding="utf-8")
    done("dump", "natasha", "good.conllu", *FILES[:-1], size)
    expected = written()
    ran = deptree("dump", "natasha", "bad.conllu", *FILES[:-1], size, "--on-error", "skip")
    assert (ran.code, written()) == (1, expected)
    skipped = [line.split("skipped: ")[1].split(": ")[0] for line in ran.said if "skipped: " in line]
    assert skipped == ["bad.conllu:18 (en-2)", "bad.conllu:39 (en-4)"]
    assert ran.said[-1] == "deptree: 2 sentences skipped"


class Failing:
    """A parser that gives no numbers for sentences of three words, and scores that count the words for others."""

    labels = ("x", "y")

    def scores(self, batch, labelled):
        """Square, like supar's."""
        sizes = [len(words) + 1 for words in batch]
        arcs = [np.full((size, size), np.nan if size == 4 else size, dtype=np.float32) for size in sizes]
        return [(each, np.zeros((*each.shape, 2), dtype=np.float32) if labelled else None) for each in arcs]


@pytest.fixture
def failing(tmp_path, monkeypatch):
    """In place of supar; in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("deptree_cli.io.parsers.adapters.load_supar", lambda model: Failing())
    adapter_of.cache_clear()
    yield
    adapter_of.cache_clear()


@pytest.mark.usefixtures("failing")
@pytest.mark.parametrize("workers", [(), ("--jobs", 2)], ids=["one", "two"])
@pytest.mark.parametrize("size", [1, 4, 32])
def test_sentences_that_a_parser_cannot_score(deptree, size, workers):
    """en-4 has three words; the others of its batch come through, into every file."""
    dump = ("dump", "supar", CONLLU, "--model", "m", *FILES[:-1], size, *workers)
    refused = deptree(*dump)
    assert refused.code == 2
    assert "en-4: supar gave scores that are not numbers" in refused.said[-1]
    assert list(Path.cwd().iterdir()) == []
    ran = deptree(*dump, "--on-error", "skip")
    sound = [name for name in NAMES if name != "en-4"]
    assert ran.code == 1
    assert [line for line in ran.said if "skipped" in line] == [
        "deptree: skipped: en-4: supar gave scores that are not numbers. Check its model.",
        "deptree: 1 sentence skipped",
    ]
    with np.load("s.npz") as scores, np.load("l.npz") as labels:
        assert list(scores) == list(labels) == sound
        assert all((scores[name] == len(scores[name])).all() for name in scores)
    assert Path("s.conllu").read_text(encoding="utf-8").count("# sent_id") == 7
    assert json.loads(Path("l.json").read_bytes()) == ["x", "y"]

"""No command writes over what it reads, nor two results into one file; nothing is written before that is known."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.sample import DATA, SCORES

LABELS = (DATA / "label_scores.npz", "--from", "natasha", "--labels", DATA / "labels.json")


@pytest.fixture
def files(put) -> None:
    put("a.jsonl", (DATA / "scores.jsonl").read_bytes())
    put("g.conllu", (DATA / "gold.conllu").read_bytes())
    put("l.json", (DATA / "labels.json").read_bytes())
    Path("link.jsonl").symlink_to("a.jsonl")


COMMANDS = [
    "convert a.jsonl --from natasha -o a.jsonl",
    "convert a.jsonl --from natasha -o link.jsonl",
    "convert link.jsonl --from natasha -o ./a.jsonl",
    "sample a.jsonl --from natasha --conllu g.conllu -o g.conllu",
    "swor a.jsonl --from natasha -o a.jsonl",
    "marginals a.jsonl --from natasha -o a.jsonl",
    "partition a.jsonl --from natasha -o a.jsonl",
    "expect entropy a.jsonl --from natasha -o a.jsonl",
    "diff g.conllu g.conllu -o g.conllu",
    "inspect a.jsonl --from natasha -o a.jsonl",
    "check-bias a.jsonl --from natasha -o a.jsonl",
    "estimate a.jsonl -o a.jsonl",
    "show a.jsonl --from natasha -o a.jsonl",
    "calibrate a.jsonl --from natasha --gold g.conllu -o a.jsonl",
    "calibrate a.jsonl --from natasha --gold g.conllu -o g.conllu",
    f"convert {LABELS[0]} --from natasha --labels l.json --to-labels s -o s",
    f"convert {LABELS[0]} --from natasha --labels l.json --to-labels l.json -o s.jsonl",
    "dump natasha g.conllu -o g.conllu",
    "dump natasha g.conllu -o s.jsonl --to-conllu s.jsonl",
    "dump natasha g.conllu -o s.jsonl --to-labels t --to-label-scores t",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_refused_before_anything_is_written(command, deptree, files, tmp_path) -> None:
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    ran = deptree(*command.split())
    assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1), ran.err
    assert re.search("would (overwrite|write the same file)", ran.err)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    "line",
    [
        "deptree convert a.jsonl --from natasha >> a.jsonl",
        "deptree convert - --from natasha < a.jsonl >> a.jsonl",
        "deptree convert - --from natasha < a.jsonl -o a.jsonl",
        "deptree decode a.jsonl --from natasha -o - >> a.jsonl",
    ],
)
def test_through_the_shell(line, shell, files, tmp_path) -> None:
    ran = shell(line)
    assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1), ran.err
    assert (tmp_path / "a.jsonl").read_bytes() == (DATA / "scores.jsonl").read_bytes()


def test_a_link_that_leads_nowhere(deptree, done, put, tmp_path) -> None:
    put("x", b"")
    Path("good").symlink_to("new.jsonl")
    Path("bad").symlink_to(tmp_path / "missing" / "new.jsonl")
    done("partition", *SCORES, "-o", "good")
    assert Path("good").is_symlink()
    assert len(Path("new.jsonl").read_bytes().splitlines()) == 8
    ran = deptree("partition", *SCORES, "-o", "bad", "-q")
    assert (ran.code, len(ran.said)) == (2, 1)
    assert f"Create {tmp_path / 'missing'} first" in ran.err


WRITERS = [
    ("sample", "-k", 2, "--seed", 7, "x.jsonl"),
    ("sample", "-k", 2, "--seed", 7, "--conllu", DATA / "gold.conllu", "x.conllu"),
    ("marginals", "x.jsonl"),
    ("marginals", "x.npz"),
    ("partition", "x.jsonl"),
    ("convert", "x.jsonl"),
    ("convert", "--to", "log", "x.npy"),
    ("convert", "x.npz"),
]


@pytest.mark.parametrize("command", WRITERS, ids=lambda command: f"{command[0]} {command[-1]}")
def test_gz_compresses(command, done, put) -> None:
    import gzip

    put("unrelated", b"")
    *options, name = command[1:]
    done(command[0], *SCORES, *options, "-o", name)
    for _ in range(2):
        done(command[0], *SCORES, *options, "-o", f"{name}.gz")
        packed = Path(f"{name}.gz").read_bytes()
        assert gzip.decompress(packed) == Path(name).read_bytes()
        assert packed[3:8] == bytes(5)  # no name, no date
    assert Path(f"{name}.gz").read_bytes() == packed


def test_a_suffix_that_a_format_overrides(done, put) -> None:
    put("unrelated", b"")
    done("sample", *SCORES, "--format", "jsonl", "-o", "x.csv")
    assert len(Path("x.csv").read_bytes().splitlines()) == 8


@pytest.mark.parametrize("space", [b" ", b"\n\n", b" \t\r\n" * 100_000, b"\xef\xbb\xbf\n"])
def test_white_space_is_an_empty_file(space, deptree, put) -> None:
    put("w", space)
    for args, stdin in ((("w",), b""), (("-",), space)):
        ran = deptree("partition", *args, stdin=stdin)
        assert (ran.code, len(ran.said)) == (2, 1)
        assert "the file is empty" in ran.err
    ran = deptree("decode", *SCORES, "--conllu", "w")
    assert ran.code == 2
    assert "w: the file is empty" in ran.err

"""Files that commands read and write: several as one, none written over, compressed, and read back by others."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.hpyp.commands.parse import WRITTEN
from deptree_cli.io.scores.containers import CONTAINERS, NEVER, Container
from deptree_cli.io.scores.files import ScoreFiles, ScoreSource, ScoreStream
from deptree_cli.io.scores.layout import layout
from deptree_cli.io.scores.meta import WRITE_SCORES, Meta
from deptree_cli.io.signature import signature
from tests.commands.readers import OF_PAIRS, PAGES, READERS, SQUARES, numbers, put_files
from tests.commands.readers import line as reading_line
from tests.commands.sessions import hold_session
from tests.every_command import ENTRIES
from tests.io.written import write_scores
from tests.lines import table
from tests.sample import DATA

LINES = (DATA / "scores.jsonl").read_bytes().splitlines(keepends=True)
GOLD = (DATA / "gold.conllu").read_text(encoding="utf-8")
MANY = "a.jsonl b.npz --from natasha"
ONE = "$DATA/scores.jsonl --from natasha"
SENTENCES = "--conllu a.conllu --conllu b.conllu"


@pytest.fixture
def parts(put) -> None:
    """The sample data in two parts, in different containers."""
    put("a.jsonl", b"".join(LINES[:3]))
    with np.load(DATA / "scores.npz") as scores:
        put("b.npz", {key: scores[key] for key in list(scores)[3:]})
    blocks = [f"{block}\n\n" for block in GOLD.rstrip("\n").split("\n\n")]
    put("a.conllu", "".join(blocks[:3]))
    put("b.conllu", "".join(blocks[3:]))


@pytest.mark.parametrize(
    "line",
    [
        *("sample {} -k 3 --seed 7", "swor {} -k 3 --seed 7", "decode {}", "marginals {}", "partition {}"),
        *("partition {} --summary", "expect entropy {}", "check-bias {} -k 50 --seed 7", "inspect {}"),
    ],
)
@pytest.mark.parametrize("jobs", [1, 2])
def test_several_files_are_as_one(deptree, parts, line: str, jobs: int) -> None:
    many, one = deptree(f"{line.format(MANY)} --jobs {jobs}"), deptree(line.format(ONE))
    if line.startswith("inspect"):  # one part is of float32, the other of numbers in JSON
        assert many.rows[0].pop("type") != one.rows[0].pop("type")
    else:
        assert (many.code, many.out) == (one.code, one.out), many.err


@pytest.mark.parametrize("line", ["sample {} --seed 7", "decode {}", "marginals {}"])
def test_several_files_with_sentences(done, parts, line: str) -> None:
    many = done(f"{line.format(MANY)} {SENTENCES} --no-header").out
    assert many == done(f"{line.format(ONE)} --conllu $GOLD --no-header").out


def test_several_files_with_gold(done, parts) -> None:
    many = done(f"expect attachment {MANY} --gold a.conllu --gold b.conllu").out
    assert many == done(f"expect attachment {ONE} --gold $GOLD").out


def test_running_numbers_go_on(done, put) -> None:
    put("a.npy", np.ones((2, 3, 3)))
    put("b.npy", np.ones((3, 3)))
    assert [row["sent_id"] for row in done("partition a.npy b.npy --from head-dep").rows] == ["1", "2", "3"]


def test_a_session_of_several_files_that_do_not_go_together(deptree, golden, done, parts, put) -> None:
    """Nothing is written before all files can be read."""
    done("convert a.jsonl --from natasha --to spacy -o spacy.jsonl -q")
    put("square.npy", np.ones((3, 3)))
    hold_session(deptree, golden, "several_files.txt")


def test_skipping_goes_on_in_the_next_file(deptree, parts, put) -> None:
    put("bad.jsonl", LINES[0] + b'{"sent_id": "x", "scores": [[1]]}\n')
    ran = deptree("partition bad.jsonl b.npz --from natasha --on-error skip")
    assert (ran.code, [row["sent_id"] for row in ran.rows][:2]) == (1, ["en-1", "en-4"])


def test_how_far_they_are_read_counts_bytes(parts) -> None:
    """A file of which half is read counts for half of its bytes, those before it for all of theirs."""
    stream = ScoreStream([ScoreFiles(ScoreSource(part)) for part in ("a.jsonl", "b.npz")], layout("natasha"))
    first, second = (Path(part).stat().st_size for part in ("a.jsonl", "b.npz"))
    seen = [stream.share() for _ in iter(stream)]
    assert seen == sorted(seen)
    rest = len(LINES) - 3
    assert seen[3:] == pytest.approx([(first + second * (i + 1) / rest) / (first + second) for i in range(rest)])


@pytest.fixture
def files(put) -> None:
    put("a.jsonl", (DATA / "scores.jsonl").read_bytes())
    put("g.conllu", GOLD)
    put("l.json", (DATA / "labels.json").read_bytes())
    Path("link.jsonl").symlink_to("a.jsonl")


OVERWRITING = """
    convert a.jsonl --from natasha -o a.jsonl
    convert a.jsonl --from natasha -o link.jsonl
    convert link.jsonl --from natasha -o ./a.jsonl
    sample a.jsonl --from natasha --conllu g.conllu -o g.conllu
    swor a.jsonl --from natasha -o a.jsonl
    marginals a.jsonl --from natasha -o a.jsonl
    partition a.jsonl --from natasha -o a.jsonl
    expect entropy a.jsonl --from natasha -o a.jsonl
    diff g.conllu g.conllu -o g.conllu
    inspect a.jsonl --from natasha -o a.jsonl
    check-bias a.jsonl --from natasha -o a.jsonl
    estimate a.jsonl -o a.jsonl
    show a.jsonl --from natasha -o a.jsonl
    calibrate a.jsonl --from natasha --gold g.conllu -o a.jsonl
    calibrate a.jsonl --from natasha --gold g.conllu -o g.conllu
    convert $DATA/label_scores.npz --from natasha --labels l.json --to-labels s -o s
    convert $DATA/label_scores.npz --from natasha --labels l.json --to-labels l.json -o s.jsonl
    dump natasha g.conllu -o g.conllu
"""


@pytest.mark.parametrize(("line", "_"), table(OVERWRITING))
def test_no_file_is_written_over(line: str, _, refused, files, tmp_path) -> None:
    """Neither what is read nor another result; nothing is written before that is known."""
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert re.search("would (overwrite|write the same file)", refused(line).err)
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
def test_nor_through_the_shell(line, shell, files) -> None:
    ran = shell(line)
    assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1), ran.err
    assert Path("a.jsonl").read_bytes() == (DATA / "scores.jsonl").read_bytes()


def test_a_link_that_leads_nowhere(refused, done, put, tmp_path) -> None:
    put("x", b"")
    Path("good").symlink_to("new.jsonl")
    Path("bad").symlink_to(tmp_path / "missing" / "new.jsonl")
    done("partition $SCORES -o good")
    assert Path("good").is_symlink()
    assert len(Path("new.jsonl").read_bytes().splitlines()) == 8
    refused("partition $SCORES -o bad -q", f"Create {tmp_path / 'missing'} first")


@pytest.mark.parametrize(
    "line",
    [
        *("sample $SCORES -k 2 --seed 7 -o x.jsonl", "sample $SCORES -k 2 --seed 7 --conllu $GOLD -o x.conllu"),
        *("marginals $SCORES -o x.jsonl", "marginals $SCORES -o x.npz", "partition $SCORES -o x.jsonl"),
        *("convert $SCORES -o x.jsonl", "convert $SCORES --to log -o x.npy", "convert $SCORES -o x.npz"),
    ],
)
def test_gz_compresses(line: str, done) -> None:
    done(line)
    packed = []
    for _ in range(2):
        done(f"{line}.gz")
        packed.append(Path(f"{line.split()[-1]}.gz").read_bytes())
    assert gzip.decompress(packed[0]) == Path(line.split()[-1]).read_bytes()
    assert packed[0][3:8] == bytes(5)  # no name, no date
    assert packed[0] == packed[1]


def test_a_suffix_that_a_format_overrides(done) -> None:
    done("sample $SCORES --format jsonl -o x.csv")
    assert len(Path("x.csv").read_bytes().splitlines()) == 8


@pytest.mark.parametrize("space", [b" ", b"\n\n", b" \t\r\n" * 100_000, b"\xef\xbb\xbf\n"], ids=["1", "2", "3", "4"])
def test_white_space_is_an_empty_file(space, refused, put) -> None:
    put("w", space)
    for line in ("partition w", "partition -", "decode $SCORES --conllu w"):
        refused(f"{line} -q", f"{'standard input' if '-' in line.split() else 'w'}: the file is empty", stdin=space)


WORDS = (DATA / "sentences.conllu").read_text(encoding="utf-8")


def test_a_session_of_sentences_that_cannot_be_used(deptree, golden, put, tmp_path) -> None:
    """Each with its line, quietly and not; no file comes or goes."""
    lines = WORDS.splitlines(keepends=True)
    lines[5] = lines[5].replace("\t_\t_\t_\t_\n", "\t9\t_\t_\t_\n")
    put("beyond.conllu", "".join(lines))
    put("shorter.conllu", WORDS.replace("8\t.\t.\tPUNCT\t_\t_\t_\t_\t_\t_\n", "", 1))
    put("bytes.conllu", b"# sent_id = \xff\n1" + b"\t_" * 9)
    before = sorted(tmp_path.iterdir())
    hold_session(deptree, golden, "sentences.txt")
    assert sorted(tmp_path.iterdir()) == before


BASE = ("base.npz", "--from", "supar")
WRITTEN_TO = [each for each in CONTAINERS if each.write]


@dataclass(frozen=True)
class Writer:
    """How a command writes two sentences, or why not, and how its arrays are read; None if they are no scores."""

    write: Callable[[Any, str], str]
    read: tuple[str, ...] | None = None


def by(*line: Any) -> Callable[[Any, str], str]:
    return lambda deptree, path: deptree(*line, "-q", "-o", path).err


def with_meta(meta: Meta, first: int, deptree: Any, path: str) -> str:
    """As commands do that need a parser or a model; `first`: the first of the rows that are written."""
    try:
        with write_scores(path, meta) as write:
            for name, each in SQUARES.items():
                write(name, each[first:])
    except DeptreeError as error:
        return str(error)
    return ""


PARSED, DUMPED = Meta.of(signature("hpyp parse", WRITTEN)), Meta.of(signature("dump", {"from": "natasha"}))
WRITERS = {
    "convert": Writer(by("convert", *BASE), ("--from", "synjax")),
    "combine": Writer(by("combine", *BASE), ("--from", "synjax")),
    "hpyp parse": Writer(partial(with_meta, PARSED, 0), ("--from", "synjax", "--projective")),
    "dump": Writer(partial(with_meta, DUMPED, 1), ("--from", "natasha")),
    "marginals": Writer(by("marginals", *BASE), ("--from", "supar,weight")),
    "combine --method mixture": Writer(by("combine", *BASE, "--method", "mixture")),
    "sample": Writer(by("sample", *BASE, "-k", 4, "--seed", 1)),
    "decode": Writer(by("decode", *BASE, "-k", 3)),
    "bitext expectations": Writer(by("bitext", "expectations", "base.npz")),
}
LISTED = {name.split(" --")[0] for name in WRITERS}
WRITERS |= {
    name: Writer(by(name, *BASE)) for name, entry in ENTRIES.items() if entry.writes == "arrays" and name not in LISTED
}


def test_what_writes_scores_is_here() -> None:
    assert set(WRITE_SCORES) <= LISTED


@pytest.fixture(scope="module")
def expected() -> dict[tuple[str, str], list[float]]:
    """The numbers that a reader writes of a writer's arrays, told how to read them; filled in by the tests."""
    return {}


@pytest.mark.parametrize("container", WRITTEN_TO, ids=lambda each: each.name)
@pytest.mark.parametrize("name", WRITERS)
def test_what_is_written_is_read_right_or_refused(deptree, put, expected, name, container) -> None:
    """By every command that reads scores. A `.npy` says nothing of itself: there a line says what is assumed."""
    put_files(put)
    writer, path = WRITERS[name], f"written{container.suffixes[0]}"
    if problem := writer.write(deptree, path):
        assert "cannot store that these scores are read with" in problem
        assert writer.read
        assert not container.keeps_meta(True)
        return
    told = () if container.keeps_meta(True) else writer.read or ()
    votes = {"combine"} if container.name == "jsonl" and not holds_arrays_of(name, container) else set()
    for reader in (each for each in READERS if each not in votes):  # lines with trees are votes
        ran = deptree(*reading_line(reader, path), *(told if reader not in OF_PAIRS else ()))
        right = writer.read and reader not in OF_PAIRS and holds_arrays_of(name, container)
        if right and reader not in PAGES:
            assert numbers(ran) == pytest.approx(reference(deptree, expected, name, reader), rel=1e-6, abs=1e-9), reader
        elif right or (container.keeps == NEVER and ran.code != 2):
            assert right or "given: reading as" in ran.err, reader
        else:
            assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1), (reader, ran.err)


def holds_arrays_of(name: str, container: Container) -> bool:
    """Whether a command's results are arrays there, and not lines of JSON."""
    return container.holds_arrays or name in WRITE_SCORES


def reference(deptree, expected, name: str, reader: str) -> list[float]:
    """What a reader makes of the same arrays without a word on how they were made, told how to read them."""
    if (name, reader) not in expected:
        WRITERS[name].write(deptree, "noted.npz")
        with np.load("noted.npz") as arrays:
            np.savez("bare.npz", **arrays)
        expected[name, reader] = numbers(deptree(*reading_line(reader, "bare.npz"), *WRITERS[name].read, "-q"))
    return expected[name, reader]


def test_names_that_are_no_text_are_written_out(refused) -> None:
    refused("partition a\udcff\x1b[1m.npz", r"deptree: a\xff\x1b[1m.npz: no such file")

"""Damaged files by the thousand, and what such tests found.

Each run on a damaged file ends in a result or in one line and exit status 2: never in a traceback, a hang or a
gigabyte. Some hundred runs go with the other tests; DEPTREE_FUZZ=20000 makes it as many, and the number of a run is its
seed.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import resource
import shutil
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from random import Random

import numpy as np
import pytest

from deptree_cli.commands import expect
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.conllu import blocks
from deptree_cli.io.conllu.blocks import split_chunks
from deptree_cli.io.pictures.arcs import fitted
from deptree_cli.io.scores import reading
from tests.bounded import bounded
from tests.commands.damage import damaged
from tests.sample import DATA
from tests.tree_files import read_blocks

RUNS = int(os.environ.get("DEPTREE_FUZZ", "400"))
SECONDS = 20
UNSIGNED = re.compile(rb"deptree\|[^\n\"]*")  # signatures name files
GIGABYTE = 1 << 20  # in the unit of ru_maxrss

# Commands that read a damaged file {}, and what is added to some of them.
OF_SCORES = """
    sample {} -k 2; sample {} -k 9 --unique; sample {} -k 2 -o out.npz; sample {} --conllu gold.conllu --fix-heads;
    sample {} --conllu gold.conllu -k 2; sample {} --conllu nameless.conllu; swor {} -k 3; swor {} --mass 0.5;
    swor {} -k 3 --conllu sentences.conllu; decode {}; decode {} -k 2; marginals {}; marginals {} -o out.npz;
    decode {} --method mbr --conllu gold.conllu; calibrate {} --gold gold.conllu;
    marginals {} --conllu gold.conllu; marginals {} --conllu nameless.conllu -o out.npz; partition {} --summary;
    expect entropy {} --grad; expect risk {} --conllu gold.conllu; inspect {} --json; partition {};
    inspect {} --conllu gold.conllu; check-bias {} -k 40; check-bias {} --samples drawn.conllu; show {};
    show {} -o x.txt -k 3; convert {}; convert {} --to spacy -o out.npz; convert {} --to weight -o out.safetensors"""
OF_SENTENCES = """
    sample scores.npz --conllu {} -k 2; sample scores.npz --conllu {} --fix-heads --deps basic;
    sample scores.jsonl --conllu {} -k 3 --deps keep; swor scores.npz --conllu {} -k 3; decode scores.npz --conllu {};
    calibrate scores.npz --gold {}; marginals scores.npz --conllu {};
    marginals scores.npz --conllu {} --fix-heads -o out.npz; inspect scores.npz --conllu {};
    expect attachment scores.npz --conllu {}; show scores.npz --conllu {}; show scores.npz --conllu {} --format text;
    check-bias scores.npz --samples {}; partition scores_stream.npy --conllu {}"""
OF_LABELS = """
    sample label_scores.npz --labels {} -k 2; decode label_scores.npz --labels {}; show label_scores.npz --labels {};
    swor label_scores.npz --labels {} -k 3 --labelled; marginals label_scores.npz --labels {};
    show label_scores.npz --labels {} --format text;
    sample scores.npz --labels {} --label-scores label_scores.npz --conllu gold.conllu"""
OF_LABELLED = """
    sample {} --labels labels.txt -k 2; decode {} --labels labels.txt --conllu gold.conllu;
    marginals {} --labels labels.txt -o out.npz; marginals {} --labels labels.txt;
    sample scores.npz --labels labels.txt --label-scores {}; decode scores.npz --labels labels.txt --label-scores {};
    expect features scores.npz --features {}; expect covariance scores.npz --features {}"""
OF_DRAWS = "estimate {}; estimate {} --quantity arcs"
RUNNING = "--on-error skip; --on-error skip; --shard 2/3"
MORE = """
    --on-error skip; --on-error skip; --multi-root; --temperature 0.01; --temperature 1e6; --shard 2/3;
    --from weight; --from diagonal; --from last; --from head-dep"""


CONTAINERS = [
    ("scores.npy", "npy", OF_SCORES, "--from supar --lengths lengths.txt"),
    ("scores_stream.npy", "npy", OF_SCORES, "--from supar"),
    ("scores.npz", "npz", OF_SCORES, "--from natasha"),
    ("scores.jsonl", "json", OF_SCORES, "--from natasha"),
    ("converted.jsonl", "json", OF_SCORES, ""),
    ("scores.safetensors", "safetensors", OF_SCORES, "--from natasha"),
    ("scores_stream.npy.gz", "npy.gz", OF_SCORES, "--from supar"),
    ("scores.jsonl.gz", "json.gz", OF_SCORES, "--from natasha"),
    ("gold.conllu", "conllu", OF_SENTENCES, "--from natasha"),
    ("gold.conllu.gz", "conllu.gz", OF_SENTENCES, "--from natasha"),
    ("lengths.txt", "text", "partition scores.npy --lengths {}", "--from supar"),
    ("labels.txt", "text", OF_LABELS, "--from natasha"),
    ("numbers.json", "json", OF_LABELS, "--from natasha"),
    ("label_scores.npz", "npz", OF_LABELLED, "--from natasha"),
    ("target.txt", "text", "expect ge scores.npz --features label_scores.npz --target {}", "--from natasha"),
    ("drawn.conllu", "conllu", "check-bias scores.npz --samples {}", "--from natasha"),
    ("drawn.jsonl", "json", "check-bias scores.npz --samples {}", "--from natasha"),
    ("swor.conllu", "conllu", OF_DRAWS, ""),
    ("swor.jsonl", "json", OF_DRAWS, ""),
]


@pytest.fixture
def folder(tmp_path, monkeypatch, done):
    monkeypatch.chdir(tmp_path)
    for path in DATA.glob("*.*"):
        shutil.copy(path, path.name)
    nameless = re.sub(r"# sent_id.*\n", "", Path("sentences.conllu").read_text(encoding="utf-8"))
    Path("nameless.conllu").write_text(nameless, encoding="utf-8")
    Path("target.txt").write_text("0.5\n1\n-2e1\n" * 5, encoding="utf-8")
    labels = json.loads(Path("labels.json").read_text(encoding="utf-8"))
    Path("labels.txt").write_text("\n".join(labels) + "\n", encoding="utf-8")
    Path("numbers.json").write_text(json.dumps({name: number for number, name in enumerate(labels)}), encoding="utf-8")
    for name in ("scores_stream.npy", "scores.jsonl", "gold.conllu"):
        Path(f"{name}.gz").write_bytes(gzip.compress(Path(name).read_bytes(), mtime=0))
    done("convert $SCORES -o converted.jsonl --conllu gold.conllu")
    for command, name in (("sample --unique", "drawn"), ("swor", "swor")):
        done(f"{command} $SCORES -k 4 --seed 7 -o {name}.jsonl")
        done(f"{command} $SCORES -k 4 --seed 7 -o {name}.conllu --conllu sentences.conllu")


def as_safetensors(arrays: dict[str, np.ndarray]) -> bytes:
    library = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    return library.save({name: each.astype(each.dtype.newbyteorder("<")) for name, each in arrays.items()})


def look_at_end(ran, command: str) -> None:
    if ran.code in (0, 1, 3):
        look_at(command, ran.out)
    else:
        assert (ran.code, sum("skipped" not in line for line in ran.said)) == (2, 1)
        assert all(line.startswith("deptree") and line.isprintable() for line in ran.said)
        assert not Path("out.npz").exists()


def look_at(command: str, out: bytes) -> None:
    if command == "show":
        if out.startswith(b"<svg"):
            ElementTree.fromstring(out)
    elif out.startswith(b"{"):
        for line in out.splitlines():
            json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} in the output"))
    elif out:
        assert list(read_blocks(io.BytesIO(out), "the output"))
    if Path("out.npz").exists():
        with np.load("out.npz") as arrays:
            assert not any(np.isnan(arrays[key]).any() for key in arrays)


@pytest.mark.slow("process")
@pytest.mark.usefixtures("folder")
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("file", "kind", "commands", "options"), CONTAINERS, ids=[each[0] for each in CONTAINERS])
def test_damaged(file, kind, commands, options, deptree):
    """Some come by a pipe, too, with the same result; what failed stays in the folder."""
    if kind == "safetensors":
        with np.load("scores.npz") as scores:
            Path(file).write_bytes(as_safetensors(dict(scores)))
    sound, ends, more = Path(file).read_bytes(), set(), RUNNING if "estimate" in commands else MORE
    for number in range(-(-RUNS // len(CONTAINERS))):
        rng, path = Random(f"{file} {number}"), f"x{file[file.index('.') :]}"
        data = damaged(rng, kind, sound)
        Path(path).write_bytes(data)
        chosen = [rng.choice(commands.split(";")), options, *rng.sample(more.split(";"), rng.choice((0, 0, 1, 1, 2)))]
        line = " ".join([*" ".join(chosen).split(), "-q --seed 7"])
        print(number, line)
        Path("out.npz").unlink(missing_ok=True)
        expect._archive.cache_clear()
        before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
        ran = bounded(lambda line=line, path=path: deptree(line.replace("{}", path)))
        look_at_end(ran, line.split()[0])
        ends.add(ran.said[-1].rpartition(": ")[2] if ran.code == 2 else ran.code)
        assert time.monotonic() - began < SECONDS
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < GIGABYTE
        if rng.random() < 0.15 and "--features" not in line:
            piped = deptree(line.replace("{}", "-"), stdin=data)
            if not ("neither the name nor the first bytes" in piped.err or not data) or piped.code != 2:
                assert (piped.code, UNSIGNED.sub(b"", piped.out)) == (ran.code, UNSIGNED.sub(b"", ran.out))
    assert len(ends) > 2, "the damage is always of one kind"


SMALL = [[0, 1, 1], [0, 0, 1], [0, 1, 0]]


def named(sent_id: str) -> str:
    return json.dumps({"sent_id": sent_id, "scores": SMALL}) + "\n"


@pytest.mark.quick
@pytest.mark.parametrize("name", ["a\nb", "a\rb", "a\0b", "\x1b[31ma", "a\u2028b"])
@pytest.mark.parametrize("line", ["sample a.jsonl --conllu a.conllu", "marginals a.jsonl -o out.npz"])
def test_names_that_would_break_what_they_are_written_into(line, name, refused, put):
    """A newline made lines of a comment, a zip cut its entry's name at the NUL."""
    put("a.jsonl", named(name))
    put("a.conllu", "".join(f"{word}\tf" + "\t_" * 8 + "\n" for word in (1, 2)) + "\n")
    ran = refused(f"{line} --from head-dep", "a.jsonl:1", "control character")
    assert ran.said[0].isprintable()


def test_other_names(refused, done, put):
    """One too long for a zip, one that would speak to the terminal; and signatures that are none."""
    put("a.jsonl", named("x" * 70_000))
    refused("marginals a.jsonl -o out.npz -q", "too long")
    put("a.conllu", b"# sent_id = \x1b[31mred\n1\tf" + b"\t_" * 8 + b"\n\n")
    assert refused("partition $DATA/one.npy --conllu a.conllu -q", r"\x1b[31mred").said[0].isprintable()
    for signature in ("deptree", "deptree|", "", None, 1):
        put("a.jsonl", json.dumps({"signature": signature}) + "\n" + named("x"))
        assert [row["sent_id"] for row in done("partition a.jsonl").rows] == ["x"]


@pytest.mark.quick
@pytest.mark.parametrize("value", ['{"a": []}', '{"a": {}}', '{"a": null, "b": [1]}', '[["a"]]', "[" * 100_000])
def test_labels_of_no_kind(value, refused, put):
    put("l.json", value)
    refused("sample $SCORES --labels l.json", "l.json", "labels")


def test_files_without_end(refused, put, monkeypatch):
    monkeypatch.setattr(reading, "MOST_BYTES", 100)
    put("l.txt", "x" * 100)
    refused("sample $SCORES --labels l.txt", "l.txt", "labels")
    monkeypatch.setattr("deptree_cli.io.files.streams.LONGEST_LINE", 100)
    put("a.jsonl", named("x") + named("y" * 100))
    refused("partition a.jsonl -q -o out.jsonl", "a.jsonl:2", "more than 100 bytes")
    monkeypatch.setattr(blocks, "LONGEST_SENTENCE", 100)
    assert len(list(split_chunks(io.BytesIO(b"1\n\n" * 100)))) == 100
    with pytest.raises(DeptreeError, match="the sentence from line 3 on has more than 100 bytes"):
        list(split_chunks(io.BytesIO(b"1\n\n" + b"2\n" * 100)))


@pytest.mark.quick
@pytest.mark.parametrize("container", ["out.jsonl", "out.npz", "out.npy"])
@pytest.mark.parametrize("type_", ["<f2", "<f4", ">f8", np.longdouble])
def test_what_the_type_read_cannot_hold(type_, container, done, put):
    """Larger by --temperature, in half precision infinite; and JSON has no long doubles."""
    put("a.npy", (900 * np.array(SMALL)).astype(type_))
    before = done("partition a.npy --from head-dep,log --temperature 0.01").rows
    done(f"convert a.npy --from head-dep,log --temperature 0.01 --to log -o {container}")
    (row,) = done(f"partition {container} --from head-dep,log").rows
    assert row["log_z"] == pytest.approx(before[0]["log_z"])
    # 1e-30 to the tenth power is 0 in single precision, which would forbid the arc
    put("b.npy", np.array([[0, 1, 1e-30], [0, 0, 1e-30], [0, 1e-30, 0]], dtype="<f4"))
    done("convert b.npy --from head-dep --temperature 0.1 -o b_out.npy")
    assert (np.load("b_out.npy")[0, 1:] > 0).all()


def test_a_long_relation_that_stays_and_goes_to_deps_too(real, put):
    """It was written behind the end of what had been reserved, which ends a process: hence one of its own."""
    relation = b"x" * 300_000
    rows = b"1\tf\t_\t_\t_\t_\t0\troot\t_\t_\n2\tf\t_\t_\t_\t_\t1\t" + relation + b"\t_\t_\n\n"
    put("a.conllu", rows)
    put("a.npy", np.array(SMALL, dtype=float))
    ran = real("sample a.npy --from=head-dep --conllu=a.conllu --fix-heads --deps=basic -k 40")
    assert (ran.code, ran.out.count(relation)) == (0, 80)


def test_fitting_a_long_text_takes_no_time():
    start = time.process_time()
    assert fitted("漢" * 20_000, 8) == "漢漢漢… "
    assert time.process_time() - start < 1

"""``deptree measure``: rows and means, groups, what is left out, baselines and pictures."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core import chance
from tests.sample import DATA, SCORES

GOLD = DATA / "gold.conllu"

TREE = """# newdoc id = d{doc}
# sent_id = {name}
1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_
1\tde\t_\tADP\t_\t_\t3\tcase\t_\t_
2\tle\t_\tDET\t_\t_\t3\tdet\t_\t_
3\tpain\t_\tNOUN\t_\t_\t0\troot\t_\t_
4\t,\t_\tPUNCT\t_\t_\t3\tpunct\t_\t_
5\toui\t_\tINTJ\t_\t_\t4\tdiscourse\t_\t_

"""


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def of(rows: list[dict], quantity: str, whose: str = "trees") -> dict:
    return next(row for row in rows if (row["quantity"], row["of"]) == (quantity, whose))


def test_a_row_per_sentence_and_their_means(done) -> None:
    rows = done("measure", GOLD, "--per", "sentence").rows
    means = done("measure", GOLD, "--seed", 1).rows
    assert [row["sent_id"] for row in rows][:2] == ["en-1", "en-2"]
    for name in ("sum_length", "mean_length", "depth", "crossings"):
        assert of(means, name)["mean"] == pytest.approx(np.mean([row[name] for row in rows]))
        assert of(means, name)["low"] <= of(means, name)["mean"] <= of(means, name)["high"]
    for name in ("random_order", "smallest", "random_trees"):
        mean = np.mean([row[name]["sum_length"] for row in rows])
        assert of(means, "sum_length", name)["mean"] == pytest.approx(mean)
        assert of(means, "sum_length", name)["difference"] == pytest.approx(of(means, "sum_length")["mean"] - mean)


def test_tsv_has_the_same_columns_for_all(done) -> None:
    header, *lines = done("measure", GOLD, "--per", "sentence", "--tsv").out.decode().splitlines()
    assert {line.count("\t") for line in lines} == {header.count("\t")}
    row = done("measure", GOLD, "--per", "sentence").rows[0]
    cells = dict(zip(header.split("\t"), lines[0].split("\t"), strict=True))
    assert float(cells["random_order.mean_length"]) == row["random_order"]["mean_length"]


def test_lines_of_tsv_have_what_rows_have_of_every_sentence(done, put) -> None:
    """Lines are made of all sentences of a batch at once, of one without arcs too; JSON row by row."""
    lone = TREE.format(doc=1, name="a") + "# sent_id = b\n1\toui\t_\tINTJ\t_\t_\t0\troot\t_\t_\n\n"
    for options in ((), ("--by", "newdoc id"), ("-k", 9, "--seed", 1)):
        line = ("measure", put("few.conllu", lone), GOLD, "--per", "sentence", *options)
        header, *lines = done(*line, "--tsv").out.decode().splitlines()
        rows = done(*line).rows
        assert len(lines) == len(rows) > 2
        for text, row in zip(lines, rows, strict=True):
            flat = {
                f"{name}.{key}": each for name, of in row.items() if isinstance(of, dict) for key, each in of.items()
            }
            flat |= {name: value for name, value in row.items() if not isinstance(value, dict)}
            cells = ["" if value is None else str(value) for value in map(flat.pop, header.split("\t"))]
            assert (text.split("\t"), flat) == (cells, {})


def test_words_that_are_left_out_and_joined(done, put) -> None:
    """The dependent of the comma goes to its head; of a multiword token the arcs are one."""
    path = put("du.conllu", TREE.format(doc=1, name="a"))

    def measured(*options: str) -> tuple[int, int]:
        (row,) = done("measure", path, "--per", "sentence", *options).rows
        return row["length"], row["sum_length"]

    assert measured() == (5, 2 + 1 + 1 + 1)
    assert measured("--no-punct") == (4, 2 + 1 + 1)
    assert measured("--tokens") == (4, 1 + 1 + 1)
    assert measured("--tokens", "--no-punct") == (3, 1 + 1)


def test_groups_by_comments(done, put) -> None:
    """A document's comment is that of all its sentences; a pattern takes a part of a name."""
    first, second, third = (TREE.format(doc=doc, name=name) for doc, name in ((1, "x-1"), (2, "y-2"), (2, "x-3")))
    path = put("docs.conllu", first + second + third.replace("# newdoc id = d2\n", ""))
    groups = {row["group"]: row["sentences"] for row in done("measure", path, "--by", "newdoc id", "--seed", 1).rows}
    assert groups == {"d1": 1, "d2": 2}
    rows = done("measure", path, "--by", "sent_id=[a-z]+", "--compare", "x", "y", "--seed", 1).rows
    assert [*dict.fromkeys(row["group"] for row in rows)] == ["x", "y", "x - y"]
    difference = next(row for row in rows if row["group"] == "x - y" and row["quantity"] == "mean_length")
    assert (difference["mean"], difference["p"]) == (0.0, 1.0)


def test_groups_of_arcs(done, put) -> None:
    rows = done("measure", put("du.conllu", TREE.format(doc=1, name="a")), "--by", "label", "--seed", 1).rows
    case = [row for row in rows if row["group"] == "case"]
    assert of(case, "mean_length")["mean"] == 2.0
    assert of(case, "mean_length", "random_order")["mean"] == 2.0
    assert of(case, "head_final")["mean"] == 1.0


def test_two_files_are_compared(done, put) -> None:
    one, two = put("one.conllu", TREE.format(doc=1, name="a") * 3), put("two.conllu", GOLD.read_text("utf-8"))
    rows = done("measure", "--compare", one, two, "--seed", 1, "--quantity", "length").rows
    assert [row["group"] for row in rows] == [str(one), str(two), f"{one} - {two}"]
    assert rows[2]["mean"] == pytest.approx(rows[0]["mean"] - rows[1]["mean"])


def test_the_parser_expects_what_expect_says(done) -> None:
    rows = done("measure", GOLD, "--scores", *SCORES, "--per", "sentence", "-k", 200, "--seed", 1).rows
    exact = done("expect", "sum_length", *SCORES).rows
    for row, known in zip(rows, exact, strict=True):
        assert row["parser"]["sum_length"] == pytest.approx(known["sum_length"])
        assert "sum_length" not in row["parser_error"]
        assert row["parser_sd"]["depth"] ** 2 / 200 == pytest.approx(row["parser_error"]["depth"] ** 2)


def test_jobs_change_nothing(done) -> None:
    line = ("measure", GOLD, "--scores", *SCORES, "--per", "sentence", "-k", 5, "--seed", 1)
    assert done(*line).out == done(*line, "-j", 2).out


def test_a_picture(done) -> None:
    done("measure", GOLD, "--seed", 1, "--plot", "lengths.svg")
    text = Path("lengths.svg").read_text(encoding="utf-8")
    assert text.startswith("<svg")
    assert text.count("<polyline") == 5
    assert "random projective order" in text


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        (TREE.replace("\t0\troot", "\t_\troot"), (), "word 3 has no HEAD. Every word of a tree needs one."),
        (TREE.replace("\t0\troot", "\t1\troot"), (), "not a tree: word 1 is its own ancestor"),
        (TREE.replace("\t4\tdisc", "\t0\tdisc"), (), "the tree has 2 roots. Add --multi-root, or correct the tree."),
        (TREE, ("--by", "genre"), "no sentence has the comment 'genre'"),
        (TREE, ("--by", "file", "--compare", "a", "b"), "there is no group 'a'"),
        (TREE, ("--quantity", "dept"), "there is no quantity 'dept'. Did you mean depth?"),
        (TREE, ("--quantity", "entropy"), "entropy is a quantity of a distribution"),
        (TREE, ("--quantity", "sum_length", "-k", "3"), "-k draws trees for what is no sum over arcs"),
    ],
)
def test_what_is_refused(deptree, put, text: str, options: tuple[str, ...], said: str) -> None:
    ran = deptree("measure", put("bad.conllu", text.format(doc=1, name="a")), *options)
    assert ran.code == 2
    assert said in ran.err


def test_sentences_without_a_tree_are_skipped(deptree, put) -> None:
    text = TREE.format(doc=1, name="a") + TREE.format(doc=1, name="b").replace("\t0\troot", "\t_\troot")
    ran = deptree("measure", put("some.conllu", text), "--on-error", "skip", "--per", "sentence")
    assert (ran.code, [row["sent_id"] for row in ran.rows]) == (1, ["a"])


@pytest.mark.parametrize("options", ["--seed 1", "--seed 1 --multi-root", "--per sentence", "--seed 1 --by label"])
def test_memory_grows_with_the_length_of_a_sentence_not_with_its_square(done, put, options: str) -> None:
    """Of a chain of 3,000 words; 72 MB are a number for each arc. The first file loads what is loaded once."""
    for n in (40, 3000):
        rows = (f"{word}\tw\t_\tNOUN\t_\t_\t{word - 1}\t{'dep' if word > 1 else 'root'}" for word in range(1, n + 1))
        put(f"{n}.conllu", "".join(f"{row}\t_\t_\n" for row in rows) + "\n")
    done("measure", "40.conllu", *options.split(), "-q")
    chance._of_length.cache_clear()
    tracemalloc.start()
    try:
        done("measure", "3000.conllu", *options.split(), "-q")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 15e6

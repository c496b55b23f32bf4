"""``deptree measure``: rows of words and sentences, means, what is left out, baselines."""

from __future__ import annotations

import tracemalloc
from collections import defaultdict

import numpy as np
import pytest

from deptree_cli.core import chance
from tests.commands.sessions import hold_session
from tests.sample import DATA

TREE = """# newdoc id = d1
# sent_id = a
1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_
1\tde\t_\tADP\t_\t_\t3\tcase\t_\t_
2\tle\t_\tDET\t_\t_\t3\tdet\t_\t_
3\tpain\t_\tNOUN\t_\t_\t0\troot\t_\t_
4\t,\t_\tPUNCT\t_\t_\t3\tpunct\t_\t_
5\toui\t_\tINTJ\t_\t_\t4\tdiscourse\t_\t_

"""
OPEN = TREE.replace("\t0\troot", "\t_\troot")
TREES = [[2, 0, 2], [0], [3, 1, 0, 3]]


def words(heads: list[int]) -> str:
    return "".join(f"{word}\tw{word}\t_\t_\t_\t_\t{head}\t_\t_\t_\n" for word, head in enumerate(heads, 1)) + "\n"


def documents() -> str:
    """What stands under `# newdoc` is of all its sentences; a sentence's own comes first; another document has none."""
    one, two, three = (f"# sent_id = {name}\n1\tx\t_\tX\t_\t_\t0\troot\t_\t_\n\n" for name in "abc")
    return f"# newdoc id = d1\n# genre = news\n{one}{two}# genre = web\n{three}{two}# newdoc\n{three}"


FILES = {
    "du.conllu": TREE,
    "docs.conllu": documents(),
    "lone.conllu": TREE + "# sent_id = b\n1\toui\t_\tINTJ\t_\t_\t0\troot\t_\t_\n\n",
    "some.conllu": TREE + OPEN,
    "open.conllu": OPEN,
    "cycle.conllu": TREE.replace("\t0\troot", "\t1\troot"),
    "roots.conllu": TREE.replace("\t4\tdisc", "\t0\tdisc").replace("\t3\tpunct", "\t1\tpunct"),
    "t.conllu": "".join(map(words, TREES)),
    "t.jsonl": "".join(f'{{"sent_id": "s{n}", "heads": {heads}}}\n' for n, heads in enumerate(TREES)),
    "t.hv": "\n".join(" ".join(map(str, heads)) for heads in TREES),
    "labelled.jsonl": '{"heads": [2, 0], "deprels": ["det", "root"]}',
    "bad.hv": "0 1\n0 x\n",
    "cut.conllu": words([2, 0]) + "1",
}


@pytest.fixture(autouse=True)
def files(put) -> None:
    for name, text in FILES.items():
        put(name, text)
    put("du.npz", {"a": np.arange(1.0, 37).reshape(6, 6) / 9})


def test_a_session(deptree, golden) -> None:
    hold_session(deptree, golden, "measure.txt")


def test_trees_without_words(done) -> None:
    """JSON Lines of heads and head vectors; a file that combine adds words to."""
    means = done("measure t.conllu --seed 1").out
    for path in ("t.jsonl", "t.hv", "-"):
        assert done(f"measure {path} --seed 1", stdin=FILES["t.hv"].encode()).out == means
    done("combine t.hv --conllu t.conllu -o words.conllu")
    assert done("measure words.conllu --seed 1").out == means


def test_a_row_per_sentence_and_their_means(done) -> None:
    rows = done("measure $GOLD --per sentence").rows
    means = {(row["quantity"], row["of"]): row for row in done("measure $GOLD --seed 1").rows}
    assert [row["sent_id"] for row in rows][:2] == ["en-1", "en-2"]
    for name in ("sum_length", "mean_length", "depth", "crossings"):
        row = means[name, "trees"]
        assert row["mean"] == pytest.approx(np.mean([row[name] for row in rows]))
        assert row["low"] <= row["mean"] <= row["high"]
    for name in ("random_order", "smallest", "random_trees"):
        mean, row = np.mean([row[name]["sum_length"] for row in rows]), means["sum_length", name]
        assert row["mean"] == pytest.approx(mean)
        assert row["difference"] == pytest.approx(means["sum_length", "trees"]["mean"] - mean)


@pytest.mark.parametrize("options", ["", "--comment 'newdoc id'", "-k 9 --seed 1"])
def test_lines_of_tsv_have_what_rows_have_of_every_sentence(done, options: str) -> None:
    """Lines are made of all sentences of a batch at once, of one without arcs too; JSON row by row."""
    line = f"measure lone.conllu $GOLD --per sentence {options}"
    header, *lines = done(f"{line} --tsv").out.decode().splitlines()
    rows = done(line).rows
    assert len(lines) == len(rows) > 2
    for text, row in zip(lines, rows, strict=True):
        flat = {f"{name}.{key}": each for name, of in row.items() if isinstance(of, dict) for key, each in of.items()}
        flat |= {name: value for name, value in row.items() if not isinstance(value, dict)}
        cells = ["" if value is None else str(value) for value in map(flat.pop, header.split("\t"))]
        assert (text.split("\t"), flat) == (cells, {})


def test_words_add_up_to_their_sentences(done) -> None:
    """Crossed and non-projective arcs, lengths and depths, of a treebank with all of them."""
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for row in done("measure $DATA/treebank.conllu --per word").rows:
        crossed, nonprojective, length, depth = sums[row["sent_id"]]
        more = length + abs(row["length"] or 0), max(depth, row["depth"])
        sums[row["sent_id"]] = [crossed + row["crossed"], nonprojective + row["nonprojective"], *more]
    rows = done("measure $DATA/treebank.conllu --per sentence").rows
    names = "crossed_arcs", "non_projective_arcs", "sum_length", "depth"
    assert sums == {row["sent_id"]: [row[name] for name in names] for row in rows}


def test_the_recipe_compares_groups(done, capsys) -> None:
    done("measure $GOLD --per sentence --quantity mean_length -q -o rows.jsonl")
    recipe = DATA.parent.joinpath("docs", "recipes.md").read_text(encoding="utf-8")
    block = next(each for each in recipe.split("```python\n") if "permutation_test" in each)
    exec(block.partition("```")[0], {})
    *groups, p = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in groups] == ["en", "cs", "ru"]
    assert all(float(low) <= float(mean) <= float(high) for _, _, mean, low, high in map(str.split, groups))
    assert 0 < float(p) <= 1


def test_the_parser_expects_what_expect_says(done) -> None:
    rows = done("measure $GOLD --scores $SCORES --per sentence -k 200 --seed 1").rows
    for row, known in zip(rows, done("expect sum_length $SCORES").rows, strict=True):
        assert row["parser"]["sum_length"] == pytest.approx(known["sum_length"])
        assert "sum_length" not in row["parser_error"]
        assert row["parser_sd"]["depth"] ** 2 / 200 == pytest.approx(row["parser_error"]["depth"] ** 2)
    line = "measure $GOLD --scores $SCORES --per sentence -k 5 --seed 1"
    assert done(line).out == done(f"{line} -j 2").out


@pytest.mark.parametrize("options", ["--seed 1", "--seed 1 --multi-root", "--per sentence", "--per word"])
def test_memory_grows_with_the_length_of_a_sentence_not_with_its_square(done, put, options: str) -> None:
    """Of a chain of 3,000 words; 72 MB are a number for each arc. The first file loads what is loaded once."""
    for n in (40, 3000):
        put(f"{n}.conllu", words(list(range(n))))
    done(f"measure 40.conllu {options} -q")
    chance.of_random_trees.cache_clear()
    tracemalloc.start()
    try:
        done(f"measure 3000.conllu {options} -q")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 15e6

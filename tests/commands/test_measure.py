"""``deptree measure``: rows of words and sentences, means, what is left out, baselines."""

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


def test_trees_without_words(deptree, done, put) -> None:
    """JSON Lines of heads, with labels or without, and head vectors; other commands say how to add the words."""
    trees = [[2, 0, 2], [0], [3, 1, 0, 3]]
    put("t.jsonl", "".join(f'{{"sent_id": "s{n}", "heads": {heads}}}\n' for n, heads in enumerate(trees)))
    put("t.hv", "\n".join(" ".join(map(str, heads)) for heads in trees))
    put("t.conllu", "\n".join(words(heads) for heads in trees))
    means = done("measure", "t.conllu", "--seed", 1).out
    assert means == done("measure", "t.jsonl", "--seed", 1).out == done("measure", "t.hv", "--seed", 1).out
    assert means == done("measure", "-", "--seed", 1, stdin=Path("t.hv").read_bytes()).out
    labelled = done("measure", "-", "--per", "word", stdin=b'{"heads": [2, 0], "deprels": ["det", "root"]}').rows
    assert [(row["deprel"], row["head_deprel"], row["length"]) for row in labelled] == [
        ("det", "root", 1),
        ("root", None, None),
    ]
    assert [row["sent_id"] for row in done("measure", "t.jsonl", "t.hv", "--per", "sentence").rows] == [
        *("s0", "s1", "s2"),
        *("4", "5", "6"),
    ]
    for command in (["check"], ["repair"], ["eval", "t.conllu"]):
        for path, what in (("t.jsonl", "JSON"), ("t.hv", "numbers")):
            said = deptree(*command, path).said[-1]
            remedy = "Add the words first: deptree combine FILE --conllu SENTENCES."
            assert said == f"deptree: {path}:1: a line of {what} where CoNLL-U should be. {remedy}"
    put("cut.conllu", words([2, 0]) + "\n1")
    assert deptree("check", "cut.conllu").said[-1].startswith("deptree: cut.conllu:4: 1 column where a word has 10")
    done("combine", "t.hv", "--conllu", "t.conllu", "-o", "words.conllu")
    assert done("measure", "words.conllu", "--seed", 1).out == means
    put("bad.hv", "0 1\n0 x\n")
    assert deptree("measure", "bad.hv").said == [
        "deptree: bad.hv:2: the head of word 2 is 'x', not a number. Give one head per word, 0 for ROOT."
    ]


def words(heads: list[int]) -> str:
    rows = (f"{word}\tw{word}\t_\t_\t_\t_\t{head}\t_\t_\t_\n" for word, head in enumerate(heads, 1))
    return "".join(rows)


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
    for options in ((), ("--comment", "newdoc id"), ("-k", 9, "--seed", 1)):
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


def test_rows_have_comments_and_those_of_documents(done, deptree, put) -> None:
    """What stands under `# newdoc` is of all its sentences; a sentence's own comes first; another document has none."""
    first = "# newdoc id = d1\n# genre = news\n# sent_id = a\n1\tx\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
    second, own = (first[first.index("# sent") :].replace("= a", f"= {name}") for name in "bc")
    path = put("docs.conllu", first + second + "# genre = web\n" + own + second + "# newdoc\n" + own)
    for per in ("sentence", "word"):
        rows = done("measure", path, "--per", per, "--comment", "genre", "--comment", "newdoc id").rows
        assert [row["genre"] for row in rows] == ["news", "news", "web", "news", None]
        assert [row["newdoc id"] for row in rows] == ["d1"] * 5
    assert {row["file"] for row in done("measure", path, "--per", "sentence").rows} == {str(path)}
    assert (
        "no sentence has the comment 'gender'" in deptree("measure", path, "--per", "word", "--comment", "gender").err
    )


def test_a_row_per_word(done, put) -> None:
    path = put("du.conllu", TREE.format(doc=1, name="a"))
    rows = done("measure", path, "--per", "word").rows
    assert rows[0] == {
        **{"sent_id": "a", "word": 1, "form": "de", "upos": "ADP", "deprel": "case", "head_deprel": "root"},
        **{"length": 2, "depth": 1, "crossed": False, "nonprojective": False},
    }
    assert [(row["head_deprel"], row["length"], row["depth"]) for row in rows[2:]] == [
        *((None, None, 0), ("root", -1, 1), ("punct", -1, 2))
    ]
    without = done("measure", path, "--per", "word", "--no-punct").rows
    assert [(row["word"], row["length"], row["head_deprel"]) for row in without][-1] == (5, -1, "root")
    several = done("measure", path, GOLD, "--per", "word", "--tsv").out.decode().splitlines()
    assert several[0].split("\t")[:3] == ["sent_id", "file", "word"]
    assert several[1].split("\t")[1:] == [str(path), "1", "de", "ADP", "case", "root", "2", "1", "false", "false"]


def test_words_add_up_to_their_sentences(done) -> None:
    """Crossed and non-projective arcs, lengths and depths, of a treebank with all of them."""
    words = done("measure", DATA / "treebank.conllu", "--per", "word").rows
    sums: dict[str, list[int]] = {}
    for row in words:
        of = sums.setdefault(row["sent_id"], [0, 0, 0, 0])
        added = row["crossed"], row["nonprojective"], abs(row["length"] or 0)
        of[:3] = [one + more for one, more in zip(of, added, strict=False)]
        of[3] = max(of[3], row["depth"])
    rows = done("measure", DATA / "treebank.conllu", "--per", "sentence").rows
    names = "crossed_arcs", "non_projective_arcs", "sum_length", "depth"
    assert sums == {row["sent_id"]: [row[name] for name in names] for row in rows}


def test_the_recipe_compares_groups(done, capsys) -> None:
    done("measure", GOLD, "--per", "sentence", "--quantity", "mean_length", "-q", "-o", "rows.jsonl")
    recipe = DATA.parent.joinpath("docs", "recipes.md").read_text(encoding="utf-8")
    block = next(each for each in recipe.split("```python\n") if "permutation_test" in each)
    exec(block.partition("```")[0], {})
    *groups, p = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in groups] == ["en", "cs", "ru"]
    assert all(float(low) <= float(mean) <= float(high) for _, _, mean, low, high in map(str.split, groups))
    assert 0 < float(p) <= 1


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


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        (
            TREE.replace("\t0\troot", "\t_\troot"),
            (),
            "word 3 has no HEAD. Every word of a tree needs one: deptree repair finds it.",
        ),
        (TREE.replace("\t0\troot", "\t1\troot"), (), "not a tree: word 1 is its own ancestor"),
        (
            TREE.replace("\t4\tdisc", "\t0\tdisc"),
            (),
            "the tree has 2 roots. Add --multi-root, or correct the tree, for example with deptree repair.",
        ),
        (TREE, ("--by", "genre"), "There is no --by now: --per sentence or word with --comment KEY"),
        (TREE, ("--comment", "genre"), "--comment needs rows: --per sentence or --per word."),
        (TREE, ("--per", "sentence", "--comment", "depth"), "Rows have depth as it is. Remove --comment depth."),
        (TREE, ("--per", "word", "--quantity", "depth"), "--quantity needs --per sentence or --per treebank."),
        (TREE, ("--quantity", "dept"), "there is no quantity 'dept'. Did you mean depth?"),
        (TREE, ("--quantity", "entropy"), "entropy is a quantity of a distribution"),
        (TREE, ("--quantity", "sum_length", "-k", "3"), "-k samples trees for quantities that are not sums over arcs"),
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


@pytest.mark.parametrize("options", ["--seed 1", "--seed 1 --multi-root", "--per sentence", "--per word"])
def test_memory_grows_with_the_length_of_a_sentence_not_with_its_square(done, put, options: str) -> None:
    """Of a chain of 3,000 words; 72 MB are a number for each arc. The first file loads what is loaded once."""
    for n in (40, 3000):
        rows = (f"{word}\tw\t_\tNOUN\t_\t_\t{word - 1}\t{'dep' if word > 1 else 'root'}" for word in range(1, n + 1))
        put(f"{n}.conllu", "".join(f"{row}\t_\t_\n" for row in rows) + "\n")
    done("measure", "40.conllu", *options.split(), "-q")
    chance.of_random_trees.cache_clear()
    tracemalloc.start()
    try:
        done("measure", "3000.conllu", *options.split(), "-q")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 15e6

"""Somebody else's trees: files of them, the draws of `deptree swor`, and trees beside their sentences."""

import io
import json
import math

import numpy as np
import pytest

from deptree_cli.commands.estimate import DrawnTrees, read_draws
from deptree_cli.core.errors import DeptreeError, OutOfStep
from deptree_cli.io.scores.files import ScoreFiles, ScoreSource
from deptree_cli.io.scores.layout import Layout
from deptree_cli.io.sentence import Sentence, Side
from deptree_cli.io.trees import GivenTree, read_trees
from deptree_cli.io.trees.sets import TreeSet, read_sets, scored_trees, with_samples


def conllu(heads, name="", *comments):
    """A sentence, a character of `heads` a head."""
    rows = [f"{word}\tf\t_\t_\t_\t_\t{head}\t_\t_\t_\n" for word, head in enumerate(heads, 1)]
    lines = [f"# {each}\n" for each in (*(["sent_id = " + name] if name else []), *comments)]
    return "".join([*lines, *rows, "\n"])


def line(name, heads, **more):
    return json.dumps({"sent_id": name, "heads": heads} | more) + "\n"


@pytest.mark.quick
@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("doc-1", ["doc-1"]),
        ("doc-1/sample_3", ["doc-1/sample_3", "doc-1"]),
        ("doc-1/anna", ["doc-1/anna", "doc-1"]),
        ("doc-1-sample_12", ["doc-1-sample_12", "doc-1"]),
        ("a/b/sample_1", ["a/b/sample_1", "a/b"]),  # only the last part is the sample
    ],
)
def test_a_tree_in_conllu(name, names, scratch):
    (tree,) = read_trees(scratch("a.conllu", conllu("20", name, "tree_count = 5").encode()))
    assert tree == GivenTree(name, (2, 0), 5, "a.conllu:1")
    assert tree.names == names


def test_json_lines(scratch):
    """Behind the mark that some programs begin a file with; what others say of their trees is no error."""
    rows = "\ufeff" + line("a/b", [2, 0]) + "\n" + line(7, [0], count=3) + line("a", [0], log_prob=3.5, tau="x")
    first, second, third = read_trees(scratch("a.txt", rows.encode()))
    assert first == GivenTree("a/b", (2, 0), 1, "a.txt:1")
    assert second == GivenTree("7", (0,), 3, "a.txt:3")
    assert (third.heads, third.notes.log_prob, third.distinct) == ((0,), 3.5, False)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("data", "parts"),
    [
        (conllu("20"), ["a:1", "without sent_id"]),
        (conllu("09", "s"), ["a:3", "HEAD is '9'"]),
        (conllu("0", "s", "tree_count = many"), ["a:1 (s)", "the count is 'many'"]),
        (conllu("0", "s", "tree_count = 0"), ["the count is '0'"]),
        ('{"heads": [0]}', ["a:1", "without sent_id"]),
        ('{"sent_id": "s"}', ["a:1 (s)", "heads is not a list"]),
        (line("s", []), ["heads is not a list"]),
        (line("s", [0, 3]), ["the head of word 2 is 3, not 0 to 2"]),
        (line("s", [0, "1"]), ["the head of word 2 is '1'"]),
        (line("s", [False]), ["the head of word 1 is False"]),
        (line("s", [0], count=0.5), ["the count is 0.5"]),
        (line("s", [0], deprels="root"), ["field deprels is 'root', not a list"]),
        (line("s", [0]) + '{"sent_id": ', ["a:2", "not JSON"]),
    ],
)
def test_trees_that_are_refused(data, parts, scratch, says):
    with says(*parts):
        raise next(each for each in read_trees(scratch("a", data.encode())) if isinstance(each, DeptreeError))


def test_draws_come_sentence_by_sentence(scratch):
    """As `deptree swor` drew them: the time of the next stands with the last. What cannot be read harms no other."""

    def draws(*parts):
        return list(read_draws(scratch("d", "".join(parts).encode())))

    last = line("a", [0, 1], log_prob=-1.5, tau=2.0, exhausted=False)
    found = draws(line("a", [2, 0], log_prob=-1.5), last, line("b", [0], log_prob=0.0, tau=None, exhausted=True), last)
    assert [(each.sent_id, each.heads.tolist(), each.tau, each.place) for each in found] == [
        ("a", [[2, 0], [0, 1]], 2.0, "d:1"),
        ("b", [[0]], math.inf, "d:3"),
        ("a", [[0, 1]], 2.0, "d:4"),
    ]
    assert found[0].log_probs.tolist() == [-1.5, -1.5]
    last = conllu("01", "a/sample_2", "tree_logprob = -1.5", "swor_tau = 3", "swor_exhausted = no")
    (only,) = draws(conllu("20", "a/sample_1", "tree_logprob = -0.5"), last)
    assert (only.sent_id, only.heads.tolist(), only.tau) == ("a", [[2, 0], [0, 1]], 3.0)
    rest = "tree_logprob = -1.5", "swor_tau = 2", "swor_exhausted = no"
    found = draws(*(conllu(head, f"{name}/sample_1", *rest) for name, head in ("a0", "b7", "c0")))
    assert [each.sent_id for each in found] == ["a", "b/sample_1", "c"]
    assert [isinstance(each, DrawnTrees) for each in found] == [True, False, True]


def jsonl(**words):
    rows = ({"sent_id": name, "scores": np.ones((n + 1, n + 1)).tolist()} for name, n in words.items())
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def npz(**words):
    stream = io.BytesIO()
    np.savez(stream, **{name: np.ones((n + 1, n + 1)) for name, n in words.items()})
    return stream.getvalue()


@pytest.fixture
def led_by_trees(scratch):
    """Trees in their order: (sent_id of the record, heads of its trees), or an error as text."""

    def read(scores, *trees, nameless=False):
        rows = [json.dumps({"heads": heads}) + "\n" if nameless else line(name, heads) for name, heads in trees]
        source = ScoreSource(scratch("scores", scores))
        scored = Side(ScoreFiles(source).read(Layout()), "matrices", source.place)
        found = scored_trees(read_trees(scratch("trees", "".join(rows).encode()), named=False), scored, "trees")
        return [(one.sent_id, one.trees.heads.tolist()) if isinstance(one, Sentence) else str(one) for one in found]

    return read


@pytest.mark.parametrize("scores", [npz, jsonl])
def test_trees_lead(scores, led_by_trees):
    trees = [("b/sample_1", [0]), ("b/sample_2", [0]), ("a-sample_1", [2, 0]), ("c/d", [0, 1]), ("c/d/1", [2, 0])]
    found = led_by_trees(scores(**{"a": 2, "b": 1, "c/d": 2, "unused": 5}), *trees)
    assert found == [("b", [[0], [0]]), ("a", [[2, 0]]), ("c/d", [[0, 1], [2, 0]])]


def test_a_tree_that_is_not_of_its_sentence_is_an_error_of_its_own(led_by_trees):
    trees = [("a", [0]), ("a", [1]), ("a", [0, 1]), ("x", [0]), ("x", [0]), ("a", [0]), ("b", [0]), ("a", [0])]
    found = led_by_trees(jsonl(a=1, b=1), *trees)
    assert [each for each in found if isinstance(each, tuple)] == [("a", [[0]]), ("a", [[0]]), ("b", [[0]])]
    errors, missing = [each for each in found if isinstance(each, str)], "scores has no sentence with this id"
    starts = ["trees:2 (a): not a tree", "trees:3 (a): 1 word at scores:1, but 2 here. Give the same sentences"]
    starts += [f"trees:4 (x): {missing}", f"trees:5 (x): {missing}", f"trees:8 (a): {missing}"]
    assert [each[: len(start)] for each, start in zip(errors, starts, strict=True)] == starts


def test_trees_by_running_numbers_and_by_order(led_by_trees):
    stream = io.BytesIO()
    for n in (1, 2):
        np.save(stream, np.ones((n + 1, n + 1)))
    scores, trees = stream.getvalue(), (("x", [0]), ("y", [2, 0]))
    assert led_by_trees(scores, ("2", [0, 1]), ("1", [0])) == [("2", [[0, 1]]), ("1", [[0]])]
    for nameless in (True, False):
        assert led_by_trees(scores, *trees, nameless=nameless) == [("1", [[0]]), ("2", [[2, 0]])]
    with pytest.raises(OutOfStep, match=r"scores: the number of matrices is 2, that of trees in trees is 1"):
        led_by_trees(scores, *trees[:1], nameless=True)


def test_scores_lead(scratch):
    source = ScoreSource(scratch("scores", jsonl(a=1, b=2, c=1) + b'{"sent_id": "d", "scores": 7}\n'))
    trees = [("b/2", [2, 0]), ("d", [0]), ("a", [0]), ("x", [0]), ("b/1", [0, 1]), ("b", [2, 0]), ("a", [0, 1])]
    path, errors = scratch("trees", "".join(line(*each) for each in trees).encode()), []
    *found, last = with_samples(ScoreFiles(source).read(Layout()), read_trees(path), errors.append)
    counts = [(each.sent_id, each.trees.heads.tolist(), each.trees.times.tolist()) for each in found]
    assert counts == [("a", [[0]], [1]), ("b", [[2, 0], [0, 1]], [2, 1]), ("c", [], [])]
    assert isinstance(last, DeptreeError)
    assert [str(each).split(". ")[0] for each in errors] == [
        "trees:4 (x): the scores do not have this sentence",
        "trees:7 (a): the tree has 2 words, its scores have 1",
    ]


@pytest.fixture
def sets(scratch):
    """Of each sentence its name and how many trees it has; errors without their remedies."""

    def read(text):
        return [
            (each.sent_id, int(each.times.sum())) if isinstance(each, TreeSet) else str(each).split(". ")[0]
            for each in read_sets(scratch("t", text.encode("utf-8", "surrogateescape")))
        ]

    return read


@pytest.mark.parametrize("bad", range(3, 6))
def test_a_bad_sample_of_conllu_is_an_error_of_its_sentence(sets, bad):
    names = [f"{name}/sample_{number}" for name in "abc" for number in (1, 2, 3)]
    text = "".join(conllu("0" if n != bad else "7", each) for n, each in enumerate(names))
    assert sets(text) == [("a", 3), f"t:{3 * bad + 2} (b): HEAD is '7', not _ or 0 to 1", ("c", 3)]


def sampled(name, *numbers):
    return "".join(line(name, [0], sample=number) for number in numbers)


@pytest.mark.parametrize("broken", ["{\n", '{"sent_id": "b", "heads": [0\n'])
def test_a_line_that_is_not_json(sets, broken):
    """An error of its own between single trees; with samples of the sentence whose numbers go on there."""
    named = " (b)" if "b" in broken else ""
    for before, behind, expected in (
        (line("a", [0]), line("c", [0]), [("a", 1), f"t:2{named}", ("c", 1)]),
        (sampled("a", 1), sampled("c", 1), [("a", 1), f"t:2{named}", ("c", 1)]),
        (sampled("a", 1, 2), sampled("b", 2), [("a", 2), "t:3 (b)"]),
        (sampled("a", 1, 2) + sampled("b", 1), sampled("b", 3), [("a", 2), "t:4 (b)"]),
        (sampled("a", 1) + sampled("b", 1, 2), sampled("c", 1), [("a", 1), "t:4 (b)", ("c", 1)]),
        ("", sampled("c", 1), [f"t:1{named}", ("c", 1)]),
        ("", sampled("b", 2), ["t:1 (b)"]),
    ):
        found = sets(before + broken + behind)
        assert [each if isinstance(each, tuple) else each.split(": not")[0] for each in found] == expected

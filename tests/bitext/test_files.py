"""Sentence pairs from their files: every container gives the same; what is bad is told in a line with its place."""

from __future__ import annotations

import io
import pickle
import sys
from functools import partial

import numpy as np
import pytest

from deptree_cli.bitext import read_pairs
from deptree_cli.bitext.files import PairLayout, PairRecord, PairSource, check_not_padding, scored
from deptree_cli.core.errors import DeptreeError, OutOfStep
from deptree_cli.io.scores.reading import read as read_trees
from tests.arrays import npy, npz
from tests.bitext.conftest import LENGTHS, MATRICES, REVERSE, TEXT, WORDS, batch, contents, jsonl, read, says
from tests.sample import DATA

SCORES, REVERSED = f"{DATA}/bitext.npz", f"{DATA}/bitext_reverse.npz"


def scores_in(record):
    """Of links and of unlinked words on both sides."""
    return [each.tolist() for each in (record.scores, record.source_nulls, record.target_nulls)]


@pytest.mark.parametrize("kind", ["npz", "npy", "batch", "safetensors", "jsonl", "jsonl.gz"])
def test_every_container_gives_the_same_pairs(kind, put):
    text = put("t.txt", TEXT) if kind != "safetensors" else None
    path = put(f"s.{'npy' if kind == 'batch' else kind}", contents(kind))
    found = {record.sent_id: record for record in read(path, text=text, null_score=-1.5)}
    named = kind not in ("npy", "batch")
    assert set(found) == (set(MATRICES) if named else {"1", "2", "3"})
    assert [record.number for record in found.values()] == [1, 2, 3]
    ours = [found[name] for name in MATRICES] if named else list(found.values())
    for record, (name, scores), (source, target) in zip(ours, MATRICES.items(), WORDS, strict=True):
        assert scores_in(record) == [scores.tolist(), *([-1.5] * n for n in scores.shape)]
        assert record.key == (name if named else None)
        assert (record.source, record.target) == ((tuple(source.split()), tuple(target.split())) if text else ((), ()))
        assert record.place.startswith(path)


def test_standard_input_is_read_once(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(jsonl(MATRICES))))
    with says("standard input (-) can be read only once"):
        read("-", text="-")
    found = [(each.sent_id, each.place.split(":")[0]) for each in read("-")]
    assert found == [(name, "standard input") for name in MATRICES]


@pytest.mark.parametrize("null", ["first", "last"])
def test_null_is_a_row_and_a_column_in_every_container(null, put):
    """In padded batches of words it can only be the first; the corner means nothing."""
    rng = np.random.default_rng(1)
    nulls = {name: (rng.normal(size=p), rng.normal(size=q)) for name, (p, q) in LENGTHS.items()}
    matrices = {}
    for name, scores in MATRICES.items():
        source, target = nulls[name][0][:, None], nulls[name][1]
        blocks = [[1e9, target], [source, scores]] if null == "first" else [[scores, source], [target, 1e9]]
        matrices[name] = np.block(blocks)
    found = [read(put("s.npz", npz(**matrices)), null=null), read(put("s.jsonl", jsonl(matrices)), null=null)]
    if null == "first":
        found.append(read(put("b.npy", batch(matrices)), text=put("t.txt", TEXT), null=null))
    for records in found:
        for record, (name, scores) in zip(records, MATRICES.items(), strict=True):
            assert scores_in(record) == [scores.tolist(), *(each.tolist() for each in nulls[name])]


def test_words_beside_the_scores(put):
    own = put("own.jsonl", jsonl(MATRICES, WORDS))
    bare, text = put("bare.jsonl", jsonl(MATRICES)), put("t.txt", TEXT)
    for one, other in zip(read(own), read(bare, text=text), strict=True):
        assert scores_in(one) == scores_in(other)
        assert (one.sent_id, one.source, one.target) == (other.sent_id, other.source, other.target)
    others = TEXT.replace(b"yes", b"yeah")
    assert read(own, text=put("others.txt", others))[2].target == ("yeah",)  # what the user named has precedence


def test_fields_of_that_name_are_nothing_to_trees(put):
    (tree,) = read_trees(put("s.jsonl", '{"scores": [[0, 1], [0, 0]], "source": "the web", "target": 3}'))
    assert tree.distribution.n == 1


@pytest.mark.parametrize(
    "kinds", [("npz", "npz"), ("npy", "npz"), ("jsonl", "npz"), ("npy", "npy"), ("jsonl", "jsonl"), ("npz", "npy")]
)
def test_both_directions(kinds, put):
    """Named scores in another order are found by their names; the mean is of log-scores, and nulls are averaged too."""
    by_name = kinds[1] == "npz" and kinds[0] != "npy"
    reverse, paths = dict(reversed(REVERSE.items())) if by_name else REVERSE, []
    for name, kind, matrices, null in zip("sr", kinds, (MATRICES, reverse), (-1.0, -4.0), strict=True):
        with_null = {key: np.pad(each, (1, 0), constant_values=null) for key, each in matrices.items()}
        paths.append(put(f"{name}.{kind}", contents(kind, with_null)))
    found = read(*paths, null="first")
    for record, scores, other in zip(found, MATRICES.values(), REVERSE.values(), strict=True):
        np.testing.assert_allclose(record.scores, (scores + other.T) / 2)
        assert (np.isneginf(record.scores) == (np.isneginf(scores) | np.isneginf(other.T))).all()
        assert {*record.source_nulls, *record.target_nulls} == {-2.5}


def test_both_directions_of_weights_have_the_geometric_mean(put):
    one, other = np.array([[1.0, 4.0], [0.0, 2.0]]), np.array([[4.0, 9.0], [9.0, 0.5]])
    (record,) = read(put("s.npy", one), symmetric=put("r.npy", other), scale="weight", null_score=3.0)
    np.testing.assert_allclose(np.exp(record.scores), np.sqrt(one * other.T))
    np.testing.assert_allclose(np.exp(record.source_nulls), 3.0)


@pytest.mark.parametrize("scale", ["log", "weight"])
def test_null_in_json_forbids_on_both_scales(scale, put):
    (record,) = read(put("s.jsonl", '{"scores": [[1, null]]}'), scale=scale)
    assert record.scores.tolist() == [[float(scale == "log"), -np.inf]]


def test_padded_batches_of_both_directions(put):
    text = put("t.txt", TEXT)
    exact = read(put("s.npz", npz(**MATRICES)), symmetric=put("r.npz", npz(**REVERSE)))
    one, other = put("s.npy", batch(MATRICES)), put("r.npy", batch(REVERSE, 0.0))
    for found in (read(one, symmetric=other, text=text), read("s.npz", symmetric=other)):
        assert [*map(scores_in, found)] == [*map(scores_in, exact)]


def test_padded_batches_without_words(put):
    """The first pair fills the batch; the others are handed on as errors."""
    rng = np.random.default_rng(1)
    matrices = {name: rng.normal(size=(rows, 3)) for name, rows in (("a", 3), ("b", 2), ("c", 3))}
    good, bad, last = read(put("s.npy", batch(matrices)))
    np.testing.assert_array_equal([good.scores, last.scores], [matrices["a"], matrices["c"]])
    assert str(bad).startswith("s.npy, matrix 2 (2): the last row of a matrix of shape (3, 3) looks like padding")


def test_batches_with_lengths(put):
    """One length cannot say how long two sentences are, a file of words can."""
    path = put("s.npz", {"scores": batch(MATRICES), "lengths": np.array([2, 4, 1])})
    assert all("a sentence pair needs two lengths" in str(each) for each in read(path))
    assert [each.scores.shape for each in read(path, text=put("t.txt", TEXT))] == list(LENGTHS.values())


def test_how_many_there_are(put):
    source = PairSource(put("s.npz", npz(**MATRICES)), text=put("t.txt", TEXT))
    assert source.paths == ["s.npz", "t.txt"]
    assert source.count is None
    next(reading := source.read(PairLayout()))
    assert source.count == 3
    reading.close()
    stream = PairSource(put("s.jsonl", jsonl(MATRICES)))
    assert len(list(stream.read(PairLayout()))) == 3
    assert stream.count is None


def test_a_warning_where_no_link_pays(put):
    def warned(path, **how):
        lines = []
        list(PairSource(path).read(PairLayout(**how), warn=lambda _, line: lines.append(line)))
        return [line for line in lines if line]

    path = put("s.npz", {"a": np.full((2, 2), -1.0), "b": np.full((2, 2), 1.0)})
    assert warned(path) == ["every link scores less than leaving both words unlinked: check --null-score"]
    assert warned(path, null_score=-1.0) == []
    (line,) = warned(put("n.npy", np.zeros((3, 3))), null="first")
    assert line.endswith("--null first is where NULL stands")


@pytest.mark.quick
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"scores": [[1, 2]], "source": ["a"]}', "s.jsonl:2 (2): there is no field target beside the other one"),
        ('{"scores": [[1, 2]], "target": ["a", "b"]}', "s.jsonl:2 (2): there is no field source"),
        ('{"scores": [[1, 2]], "source": "a", "target": ["a", "b"]}', "the field source is not a list of words"),
        ('{"scores": [[1, 2]], "source": ["a"], "target": ["a", "b\\n"]}', "leave it out and give --text"),
        (
            '{"scores": [[1, 2]], "source": ["a"], "target": ["b"]}',
            "are for 1 and 2 words, but there are 1 and 1 words. Correct one of them: rows are source words, columns "
            "target words; if NULL has one of each, pass --null",
        ),
        ('{"sent_id": "x", "scores": [[1, NaN]]}', "s.jsonl:2 (x): the score of the link 1-2 is NaN"),
        ('{"sent_id": "x", "scores": []}', "s.jsonl:2 (x): there are no source words"),
        ('{"scores": [[1], [2, 3]]}', "s.jsonl:2 (2): the rows of the field scores differ in length"),
        ("{", "s.jsonl:2 (2): not JSON"),
    ],
)
def test_a_bad_pair_does_not_end_the_reading(line, message, put):
    good = '{"scores": [[1, 2]], "source": ["a"], "target": ["b", "c"]}'
    first, bad, last = read(put("s.jsonl", f"{good}\n{line}\n{good}\n"))
    assert (first.sent_id, last.sent_id, last.number) == ("1", "3", 3)
    assert message in str(bad)
    assert "\n" not in str(bad)


def test_who_has_null_is_not_told_of_it(put):
    (bad,) = read(put("s.jsonl", '{"scores": [[1, 2], [3, 4]], "source": ["a", "b"], "target": ["c"]}'), null="last")
    assert "for 1 and 1 words" in str(bad)
    assert "--null" not in str(bad)


def test_bad_words_and_bad_scores_of_the_other_direction(put):
    text = put("t.txt", TEXT.replace(b"das Haus |||", b"das Haus"))
    bad, *good = read(put("s.npz", npz(**MATRICES)), text=text)
    assert str(bad).startswith("t.txt:1 (a): there is no |||")
    assert [each.sent_id for each in good] == ["b/č", "c"]
    damaged = REVERSE | {"a": np.full((3, 2), np.nan), "b/č": np.array([["x"]]), "c": np.ones((2, 2))}
    first, second, last = read("s.npz", symmetric=put("r.npz", damaged))
    assert str(first).startswith("r.npz[a] (a): the score of the link 1-1 is NaN")
    assert str(second).startswith("r.npz[b/č] (b/č): the scores are of type <U1")
    assert "the scores are for 1 and 1 words, those of the other direction for 2 and 2" in str(last)
    assert "r.npz[c]" in str(last)
    good, _, missing = read("s.npz", symmetric=put("r.npz", {"a": REVERSE["a"], "b/č": np.ones((1, 1))}))
    assert good.sent_id == "a"
    assert "r.npz has no sentence with this id" in str(missing)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("symmetric", "text", "message"),
    [
        (
            None,
            b"a ||| b\n" + TEXT,
            "(a): the scores are for 2 and 3 words, but there are 1 and 1 words at x.text:1. Check that all files hold "
            "the same sentence pairs in the same order, with the same words: rows are source words, columns target "
            "words; if NULL has one of each, pass --null",
        ),
        ("abcc", None, "r.npy: the number of matrices is 4, that of matrices in s.npz is 3"),
        ("bac", None, "(a): the scores are for 2 and 3 words, those of the other direction for 2 and 4"),
    ],
)
def test_files_out_of_step_end_the_reading(symmetric, text, message, put):
    by_letter = {name[0]: scores for name, scores in REVERSE.items()}
    reverse = symmetric and put("r.npy", npy(*map(by_letter.get, symmetric)))
    with says(message, error=OutOfStep):
        read(put("s.npz", npz(**MATRICES)), reverse, text and put("x.text", text))


def test_a_batch_that_is_too_small(put):
    text = put("t.txt", TEXT.replace(b"ist so", b"ist sehr so"))
    with says("are for 4 and 3 words, but there are 5 and 2 words", error=OutOfStep):
        read(put("s.npy", batch(MATRICES)), text=text)


def test_a_bad_pair_keeps_the_others_in_step(put):
    lines = jsonl(MATRICES, names=False).splitlines(keepends=True)
    path, reverse = put("s.jsonl", b"".join([lines[0], b"[]\n", lines[2]])), put("r.npy", npy(*REVERSE.values()))
    first, _, last = read(path, symmetric=reverse, text=put("t.txt", TEXT))
    assert (first.target, last.target) == (("the", "old", "house"), ("yes",))
    np.testing.assert_allclose(last.scores, (MATRICES["c"] + REVERSE["c"].T) / 2)


def test_no_order_no_pairing_by_order(put):
    path, reverse = put("s.safetensors", contents("safetensors")), put("r.npy", npy(*REVERSE.values()))
    for beside in ({"text": put("t.txt", TEXT)}, {"symmetric": reverse}):
        with says("s.safetensors: the order of the matrices is not known"):
            read(path, **beside)
    assert len(read(path, symmetric=put("r.npz", npz(**REVERSE)))) == 3
    with says("s.safetensors: the order of the matrices is not known"):
        read(reverse, symmetric=path)


def test_records_travel_to_worker_processes_and_back():
    scores = np.array([[1.0, -np.inf, 0.5], [-1.0, 2.0, 0.25]])
    nulls = np.array([-0.5, 0.5]), np.array([0.0, -np.inf, 1.0])
    record = PairRecord("x", 3, "s.npz[x]", scores, *nulls, ("a", "b"), ("c", "d", "e"))
    how, sent = pickle.loads(pickle.dumps((partial(scored, temperature=2.0), record)))
    back = pickle.loads(pickle.dumps(how(sent)))
    ours, parts = back.distribution, ("log_scores", "source_nulls", "target_nulls")
    assert (back.id, ours.id, back.record.source, back.record.target) == ("x", "x", ("a", "b"), ("c", "d", "e"))
    for name, each in zip(parts, (scores, *nulls), strict=True):
        np.testing.assert_array_equal(getattr(ours, name), each / 2)
    with pytest.raises(DeptreeError, match=r"^s\.npz\[x\] \(x\): the temperature"):
        scored(record, temperature=1e-200)


def test_read_pairs_gives_distributions_and_words():
    pairs = list(read_pairs(SCORES, f"{DATA}/bitext.txt", null_score=-1.0, temperature=2.0))
    with np.load(SCORES) as scores, np.load(REVERSED) as others:
        assert [pair.id for pair in pairs] == [*scores]
        for pair, both in zip(pairs, read_pairs(SCORES, symmetric=REVERSED), strict=True):
            np.testing.assert_array_equal(pair.distribution.log_scores, scores[pair.id] / 2)
            assert set(pair.distribution.source_nulls) == {-0.5}
            assert scores[pair.id].shape == (len(pair.record.source), len(pair.record.target))
            np.testing.assert_allclose(both.distribution.log_scores, (scores[pair.id] + others[pair.id].T) / 2)


def test_read_pairs_raises_errors_or_hands_them_on(put):
    path = put("s.npz", {"bad": np.array([[np.nan]]), "good": np.eye(2)})
    with pytest.raises(DeptreeError, match="is NaN"):
        list(read_pairs(path))
    errors = []
    assert [each.id for each in read_pairs(path, on_error=errors.append)] == ["good"]
    assert [error.sent_id for error in errors] == ["bad"]


@pytest.mark.quick
@pytest.mark.parametrize(
    ("scale", "given", "log_score"),
    [("log", None, 0), ("log", -2.5, -2.5), ("weight", None, 0), ("weight", 2, np.log(2)), ("weight", 0, -np.inf)],
)
def test_one_null_score_for_all_words(scale, given, log_score):
    links, of_source, of_target = PairLayout(scale, null_score=given).link_scores(np.ones((2, 3), np.int8))
    np.testing.assert_array_equal(links, np.full((2, 3), float(scale == "log")))
    assert (of_source.tolist(), of_target.tolist()) == ([log_score] * 2, [log_score] * 3)


def test_masks_forbid():
    matrix = np.array([[0.0, -1e32], [-1e16, np.finfo(np.float32).min]], np.float32)
    assert PairLayout().link_scores(matrix).links.tolist() == [[0, -np.inf], [-np.inf, -np.inf]]


@pytest.mark.quick
@pytest.mark.parametrize(
    ("layout", "matrix", "parts"),
    [
        (PairLayout(), np.zeros((2, 2, 2)), ["shape (2, 2, 2)", "a row per source word"]),
        (PairLayout(null="last"), np.zeros((0, 3)), ["without a row and a column for NULL", "remove --null last"]),
        (PairLayout("weight"), np.array([[1.0, 1.0], [1.0, -0.25]]), ["link 2-2", "negative", 'scale="log"']),
        (PairLayout(null="first"), np.array([[0, np.nan], [1.0, 1.0]]), ["null score of target word 1 is NaN"]),
    ],
)
def test_what_is_no_score(layout, matrix, parts):
    with says(*parts):
        layout.link_scores(matrix)


def test_unknown_layouts():
    with says("unknown scale 'wieght'", "weight, log"):
        PairLayout("wieght")
    with says("unknown position 'middle' of NULL", "first, last"):
        PairLayout(null="middle")


def test_padding_in_front_of_null():
    matrix, layout = np.zeros((3, 4)), PairLayout(null="last")
    assert layout.cut(matrix, 2, 3) is matrix
    with says("--null last does not work", "unpadded"):
        layout.cut(matrix, 1, 3)


ANY_NULL = pytest.mark.parametrize("null", [None, "first", "last"])


def padded(fill, rows, columns, null):
    """A matrix of scores with more rows and columns."""
    scores = np.random.default_rng(0).normal(size=(3, 4))
    if null:
        scores[(0, 0) if null == "first" else (-1, -1)] = 7.0
    return np.pad(scores, ((0, rows), (0, columns)), constant_values=fill)


@ANY_NULL
@pytest.mark.parametrize("fill", [-np.inf, -1e32, 0.0, -10000.0])
@pytest.mark.parametrize(("rows", "columns", "what"), [(1, 0, "row"), (0, 1, "column"), (2, 2, "row")])
def test_padding_is_noticed(fill, rows, columns, what, null):
    with says(f"the last {what} of a matrix of shape", "looks like padding", "--text FILE"):
        check_not_padding(padded(fill, rows, columns, null), PairLayout(null=null))


@ANY_NULL
def test_scores_are_not_taken_for_padding(null):
    layout = PairLayout(null=null)
    check_not_padding(padded(0.0, 0, 0, null), layout)
    check_not_padding(np.zeros((3, 4)), layout)  # all alike: may be meant
    some = padded(0.0, 0, 0, null)
    some[-1, 1:] = some[1:, -1] = -np.inf
    check_not_padding(some, layout)
    check_not_padding(np.array([[1.0], [2.0]]), PairLayout())  # of one word there is one score only
    check_not_padding(np.array([[0.5, 0.2], [0.0, 0.1]]), PairLayout("weight"))


@pytest.mark.quick
@pytest.mark.parametrize(
    ("layout", "matrix", "what"),
    [
        (PairLayout(null="last"), [[1.0, 2.0, 3.0], [-np.inf, -1e32, 7.0]], "row"),  # the corner and masks of two kinds
        (PairLayout(), [[1.0, -np.inf], [2.0, -1e32]], "column"),
        (PairLayout("weight"), [[0.5], [0.0]], "row"),
        (PairLayout("weight"), [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]], "column"),
    ],
)
def test_what_hides_padding(layout, matrix, what):
    with says(f"the last {what}", "padding"):
        check_not_padding(np.array(matrix), layout)

"""The pipeline over items that are no scores: order, errors with their place, shards, warnings, by any workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from deptree_cli.cli.run import Messages, Pipeline, Run, Source
from deptree_cli.cli.terminal import Counted
from deptree_cli.core.corpus import Workers
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.streams import sentence_stream
from deptree_cli.io.encoders.base import TSV, Page, Sheet
from deptree_cli.io.files.output import all_or_none
from deptree_cli.kernels.budget import BUDGET


@pytest.fixture(autouse=True)
def _decided(monkeypatch):
    """Nothing is read ahead to find out who runs kernels, whatever commands ran before in this process."""
    monkeypatch.setattr(BUDGET, "steps", None)


@dataclass(frozen=True)
class Parcel:
    """An item of our own: a number under a name."""

    sent_id: str
    number: int
    weight = 0

    @property
    def place(self) -> str:
        return f"parcels:{self.number}"


def opened(parcel: Parcel) -> tuple[str, int]:
    """Its name and its number; some cannot be opened."""
    if parcel.number % 10 == 4:
        raise DeptreeError("it is locked", "Find the key")
    return parcel.sent_id, parcel.number


def as_it_is(parcel: Parcel) -> Parcel:
    return parcel


def squared(prepared: tuple[str, int], rng: np.random.Generator) -> tuple[str, int, int]:
    """The square, and a random number; some cannot be squared."""
    name, number = prepared
    if number % 10 == 7:
        raise DeptreeError("it is too heavy", place="the scales")
    return name, number**2, int(rng.integers(1 << 62))


def numbered(parcel: Parcel, stream: None) -> int:
    assert stream is None  # without a seed
    return parcel.number


def pipeline_of(items: Iterable[Parcel | DeptreeError], prepare: Callable[[Parcel], Any], *how: Any) -> Pipeline:
    return Pipeline(Source(items if isinstance(items, Counted) else Counted(items), prepare), *how)


def parcels(*numbers: int) -> list[Parcel]:
    return [Parcel(f"p{number}", number) for number in numbers]


def run_by(jobs: int = 1, skips: bool = False, **options: Any) -> Run:
    return Run(workers=Workers(jobs), messages=Messages(options.get("quiet", False), skips), **options)


# More than the workers take at a time, so that chunks, too, must come in order; each name several times.
MANY = parcels(0, 1, 2, 3, 5, 6, 8, 9, *range(10, 14), *range(100, 104)) * 8

EVERY_WAY = pytest.mark.parametrize("jobs", [1, 2])


@pytest.fixture
def said(capsys):
    """The lines on stderr since it was called last."""
    return lambda: capsys.readouterr().err.splitlines()


@EVERY_WAY
def test_results_come_in_order_and_depend_on_nothing_but_seed_and_name(jobs, said):
    seen, expected = {}, []
    for parcel in MANY:
        seen[parcel.sent_id] = seen.get(parcel.sent_id, -1) + 1
        stream = sentence_stream(7, parcel.sent_id, seen[parcel.sent_id])
        expected.append((parcel.sent_id, parcel.number**2, int(stream.integers(1 << 62))))
    pipeline = pipeline_of(MANY, opened, run_by(jobs))
    assert list(pipeline.map(squared, 7)) == expected
    assert (pipeline.exit_code, said()) == (0, [])
    for shard in ((1, 2), (2, 2), (3, 5), (200, 200)):  # names that came before in another shard count
        of_shard = list(pipeline_of(MANY, opened, run_by(jobs, shard=shard)).map(squared, 7))
        assert of_shard == expected[shard[0] - 1 :: shard[1]]


def with_errors() -> Iterator[Parcel | DeptreeError]:
    """Items that cannot be read (the second), prepared (4) or worked on (7) among sound ones."""
    yield Parcel("a", 1)
    yield DeptreeError("it was lost", place="the train", sent_id="b")
    yield from parcels(2, 4, 5, 7, 8)


@EVERY_WAY
@pytest.mark.parametrize("quiet", [False, True])
def test_what_cannot_be_used_is_skipped_named_and_counted(jobs, quiet, said):
    """An error says what it knows; the rest is known of the item. Something may stand in its place, in step."""
    run = run_by(jobs, skips=True, quiet=quiet)
    pipeline = pipeline_of(with_errors(), opened, run)
    numbers = [row[1] for row in pipeline.map(squared, 7, placeholders=[("nothing", 0, 0)] * quiet)]
    assert numbers == ([1, 0, 4, 0, 25, 0, 64] if quiet else [1, 4, 25, 64])
    assert (run.messages.skipped, pipeline.exit_code) == (3, 1)
    assert said() == [
        "deptree: skipped: the train (b): it was lost.",
        "deptree: skipped: parcels:4 (p4): it is locked. Find the key.",
        "deptree: skipped: the scales (p7): it is too heavy.",
        "deptree: 3 sentences skipped",
    ]


@EVERY_WAY
@pytest.mark.parametrize(
    ("source", "line", "before"),
    [
        (list(with_errors()), "the train (b): it was lost.", 1),
        (parcels(1, 2, 4, 7), "parcels:4 (p4): it is locked. Find the key.", 2),
        (parcels(1, 7, 4), "the scales (p7): it is too heavy.", 1),
        (parcels(4), "parcels:4 (p4): it is locked. Find the key.", 0),
    ],
    ids=["reading", "preparing", "working", "the first"],
)
def test_the_first_error_ends_it_in_its_turn(jobs, source, line, before, said):
    results = pipeline_of(source, opened, run_by(jobs)).map(squared, 7, placeholders=[("nothing", 0, 0)])
    assert len([next(results) for _ in range(before)]) == before
    with pytest.raises(DeptreeError) as caught:
        next(results)
    assert (str(caught.value), said()) == (line, [])


def test_errors_may_be_skipped_by_the_command_too(said):
    """A batch whose work succeeds may hold something that failed."""
    run = run_by(skips=True)
    pipeline = pipeline_of(parcels(1, 2), as_it_is, run)
    for number in pipeline.map(numbered):
        run.skip(DeptreeError("half of it", sent_id=f"{number}b"), "piece")
    assert (pipeline.exit_code, said()[-1]) == (1, "deptree: 2 pieces skipped")
    with pytest.raises(DeptreeError, match="half of it"):
        run_by().skip(DeptreeError("half of it"))


@EVERY_WAY
def test_faults_of_ours_are_not_taken_for_bad_input(jobs):
    with pytest.raises(TypeError):
        list(pipeline_of(parcels(1), as_it_is, run_by(jobs, skips=True)).map(squared, 7))  # a parcel is no pair


def warned(run: Run, *lines: str) -> Iterator[Parcel]:
    """An item for each line, of which the user hears when it is read."""
    for number, line in enumerate(lines):
        run.warn(line, line)
        yield Parcel(f"p{number}", number)


@EVERY_WAY
def test_a_warning_is_given_once_however_many_items_have_it(jobs, said):
    for quiet, lines in ((False, ["deptree: assumed a", "deptree: assumed b"]), (True, [])):
        run = run_by(jobs, quiet=quiet)
        source = warned(run, "", "assumed a", "assumed a", "assumed b", "assumed a")
        assert list(pipeline_of(source, as_it_is, run).map(numbered)) == [0, 1, 2, 3, 4]
        assert said() == lines


def test_a_warning_comes_only_with_a_result(said):
    """What fails gives one line, the error; behind a result, and at the end, lines come as they are."""
    run = run_by()
    with pytest.raises(DeptreeError):
        list(pipeline_of([*warned(run, "a"), *parcels(4)][1:], opened, run).map(squared, 7))
    assert said() == []
    run = run_by()
    results = pipeline_of(warned(run, "", "assumed"), as_it_is, run).map(numbered)
    assert (next(results), said()) == (0, [])
    assert (next(results), said()) == (1, ["deptree: assumed"])
    assert list(results) == []
    run.warn("end", "at the end")
    assert said() == ["deptree: at the end"]


def test_only_chosen_tasks_are_worked_on(said):
    """The rest is neither prepared nor heard of; a choice sees errors, and how often a name came before."""
    seen = []

    def third(tasks: Iterator[object]) -> Iterator[object]:
        seen.extend(tasks)
        yield seen[2]

    whole = list(pipeline_of(parcels(1, 2, 1), opened, run_by()).map(squared, 7))
    lost = DeptreeError("it was lost")
    pipeline = pipeline_of([Parcel("p1", 4), lost, Parcel("p1", 1), Parcel("p2", 7)], opened, run_by(), third)
    assert list(pipeline.map(squared, 7)) == [whole[2]]
    assert (pipeline.exit_code, said()) == (0, [])
    assert seen == [(Parcel("p1", 4), 0), lost, (Parcel("p1", 1), 1), (Parcel("p2", 7), 0)]


@EVERY_WAY
def test_results_come_before_an_endless_source_ends(jobs):
    """No more of it is read than the workers are busy with."""
    taken = []

    def endless() -> Iterator[Parcel]:
        while True:
            taken.append(len(taken))
            yield Parcel("x", len(taken))

    results = pipeline_of(endless(), as_it_is, run_by(jobs)).map(numbered)
    assert [next(results) for _ in range(20)] == list(range(1, 21))
    assert len(taken) <= (20 if jobs == 1 else 200)
    results.close()


def test_ten_are_named_and_the_others_counted_by_kind(said):
    """Numbers do not make another kind."""
    locked = [Parcel(f"p{number}", 10 * number + 4) for number in range(30)]
    source = [*locked, *(DeptreeError(f"it has {n} kg, not {n:,}.5") for n in range(1000, 1200)), Parcel("a", 1)]
    assert len(list(pipeline_of(source, opened, run_by(skips=True)).map(squared, 7))) == 1
    lines = said()
    assert [line.split(" (")[1].split(")")[0] for line in lines[:10]] == [f"p{number}" for number in range(10)]
    assert lines[10:] == [
        "deptree: skipped: 200 more: it has ... kg, not ....",
        "deptree: skipped: 20 more: it is locked.",
        "deptree: 230 sentences skipped",
    ]


def test_a_second_file_appears_at_the_end_of_the_run(tmp_path):
    path = tmp_path / "rows.tsv"
    with all_or_none():
        assert Run().also(None, TSV, "rows") == []
        (fold,) = Run().also(str(path), TSV, "rows", Page("", False, Sheet(("a", "b"))))
        assert fold.attribute == "rows"
        fold.add([{"a": 1, "b": None}, {"a": 2, "b": "x"}])
        assert not path.exists()
    assert path.read_text() == "a\tb\n1\t\n2\tx\n"

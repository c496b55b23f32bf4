"""Sentences are paired by ids in any order, or one text along the other; where texts differ, the error says where."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.evaluation import Units, compared
from tests.retokenised import random_file
from tests.tree_files import tree_files, word


def sentence(text: str, sent_id: str = "") -> str:
    """Words below the first; those of a sentence of one word, and so on."""
    rows = [word(number, form, int(number > 1)) for number, form in enumerate(text.split(), 1)]
    return f"# sent_id = {sent_id}\n" * bool(sent_id) + "".join(rows) + "\n"


def file(*texts: str, ids: Sequence[str] = ()) -> str:
    names = ids or [""] * len(texts)
    return "".join(sentence(text, name) for text, name in zip(texts, names, strict=True))


def outcomes(gold: str, *systems: str) -> list[tuple[int, int] | str]:
    """Of each unit its sentences and right words; then errors, as they are told."""
    one, *others = tree_files(gold, *systems)
    found = list(compared(one, others))
    units = [zip(each.sentences, each.scores, strict=True) for each in found if isinstance(each, Units)]
    right = [(int(n), int(scores[0, 10, 0])) for each in units for n, scores in each]
    return [*right, *(str(each) for each in found if isinstance(each, DeptreeError))]


def test_in_any_order_by_ids() -> None:
    """Also sentences of one text, which only their ids tell apart."""
    gold = file("a b", "c", "a b", ids=["x", "y", "z"])
    system = file("a b", "c", "a b", ids=["z", "y", "x"]).replace("2\tb\t_\t_\t_\t_\t1", "2\tb\t_\t_\t_\t_\t0", 1)
    assert outcomes(gold, system) == [(1, 2), (1, 1), (1, 2)]
    one, other = tree_files(gold, system)
    (units,) = compared(one, [other])
    assert isinstance(units, Units)
    assert units.scores[:, 0, 0, 0].tolist() == [2, 1, 1]


def test_cut_otherwise_by_text() -> None:
    """Units are what both cut alike; ids that only number sentences do not pair them."""
    gold = file("a b", "c d", "e", "f g", ids=["1", "2", "3", "4"])
    system = file("a b c", "d", "e", "f", "g", ids=["1", "2", "3", "4", "5"])
    assert outcomes(gold, system) == [(2, 4), (1, 1), (1, 2)]


def test_units_of_two_systems() -> None:
    gold, one, other = file("a", "b", "c", "d"), file("a b", "c", "d"), file("a", "b c", "d")
    assert outcomes(gold, one) == [(2, 2), (1, 1), (1, 1)]
    assert outcomes(gold, one, other) == [(3, 3), (1, 1)]


def test_the_first_character_that_differs() -> None:
    """With ten around it, in the lines of its token on both sides."""
    gold = file("the quick brown fox jumps over", "it", ids=["x", "y"])
    system = file("the quick brown fox", "jumbs over", "it", ids=["p", "q", "r"])
    unit, line, rest = outcomes(gold, system)
    assert line == (
        "gold:6 (x): the text differs: after 'rownfoxjum' it has 'psover', 'bsover' at system:8."
        " Give files of the same text, or pass --on-error skip to leave this sentence out."
    )
    assert unit == (1, 1)
    assert str(rest).startswith("system:8 (q): gold does not have its text here")


@pytest.mark.parametrize(
    ("gold", "system", "expected"),
    [
        (
            ["a", "b c", "d"],
            ["a", "b", "x", "d"],
            [
                (1, 1),
                "gold:4: the text differs: after 'b' it has 'c', 'x' at",
                (1, 1),
                "system:5: gold does not have its text here",
            ],
        ),
        (
            ["a", "b", "c"],
            ["a", "c"],
            [(1, 1), "gold:3: the text differs: it begins with 'b', nothing at system", (1, 1)],
        ),
        (["a", "b", "c"], ["a", "b"], [(1, 1), (1, 1), "gold:5: the text differs: it begins with 'c', nothing at"]),
        (["a", "c"], ["a", "b", "c"], [(1, 1), (1, 1), "system:3: gold does not have its text here"]),
        (["a"], ["a", "b", "c"], [(1, 1), *(f"system:{at}: gold does not have its text here" for at in (3, 5))]),
        (["a", "bb"], ["a"], [(1, 1), "gold:3: the text differs: it begins with 'bb', nothing at system"]),
        (
            ["x", "y"],
            ["a", "b"],
            [
                "gold:1: the text differs: it begins with 'xy', 'ab' at",
                "gold:3: cannot tell which text belongs to it: that of 1",
            ],
        ),
        (
            ["a", "b c", "d"],
            ["a b", "q", "d"],
            ["gold:1: cannot tell", "gold:4: the text differs: after 'ab' it has 'c', 'q' at system:4", (1, 1)],
        ),
    ],
    ids=[
        "a word",
        "missing",
        "at the end",
        "one too many",
        "too many",
        "another end",
        "nothing in common",
        "cut otherwise",
    ],
)
def test_what_goes_on_behind_a_difference(gold, system, expected) -> None:
    """Sentences are left out from the last place where both cut the text to the next sentence that both have."""
    found = outcomes(file(*gold), file(*system))
    assert len(found) == len(expected)
    for ours, due in zip(found, sorted(expected, key=lambda each: isinstance(each, str)), strict=True):
        if isinstance(due, tuple):
            assert ours == due
        else:
            assert isinstance(ours, str)
            assert re.sub(r" \(\d\)", "", ours).startswith(due)


def test_composed_characters() -> None:
    """The commonest difference that nobody sees has a remedy of its own."""
    (line,) = outcomes(file("caf\u00e9"), file("cafe\u0301"))
    assert "after 'caf' it has 'é', 'e" in str(line)
    assert str(line).endswith("normalise both, for example to NFC.")


def test_what_two_systems_lack() -> None:
    """A sentence that one of them lacks is left out for both, so that the test is paired, and counted once."""
    gold = file("a", "b", "c", ids=["x", "y", "z"])
    found = outcomes(gold, file("a", "q", "c", ids=["x", "y", "z"]), file("a", "r", "c", ids=["x", "y", "z"]))
    assert [each if isinstance(each, tuple) else each[:10] for each in found] == [(1, 1), (1, 1), "gold:5 (y)"]
    found = outcomes(gold, file("a", "q", "c", ids=["x", "y", "z"]), file("a", "b c", ids=["x", "y"]))
    assert [each if isinstance(each, tuple) else each[:10] for each in found] == [(1, 1), "gold:5 (y)", "gold:7 (z)"]


def test_one_error_for_a_broken_sentence() -> None:
    """A malformed one on either side, a cycle, a missing head: one line, and its counterpart is not missed."""
    good = file("a b", "c d", "e", ids=["x", "y", "z"])
    for ids in (True, False):
        text = good if ids else good.replace("# sent_id = ", "# ")
        for old, new, says in (
            ("2\td\t_", "3\td\t_", "id"),
            ("1\tc\t_\t_\t_\t_\t0", "1\tc\t_\t_\t_\t_\t2", "its own ancestor"),
            ("1\tc\t_\t_\t_\t_\t0", "1\tc\t_\t_\t_\t_\t_", None),  # an open head is one word's
            ("1\tc\t_", "1-2\tcd" + "\t_" * 8 + "\n1\tc\t_", None),
            ("2\td\t_", "2-3\tcd" + "\t_" * 8 + "\n2\td\t_", "the multiword token 2-3 ends beyond the 2 words"),
            (
                "2\td\t_",
                "1-2\tcd" + "\t_" * 8 + "\n2\td\t_",
                "the multiword token 1-2 is not in front of its first word",
            ),
        ):
            bad = text.replace(old, new, 1)
            assert bad != text
            for pair in ((bad, text), (text, bad)):
                found = outcomes(*pair)
                if says is None or (pair[1] is bad and says == "its own ancestor"):
                    assert found == [(1, 2), (1, 2), (1, 1)]  # a system's heads may be anything
                    continue
                assert [each for each in found if isinstance(each, tuple)] == [(1, 2), (1, 1)], found
                (line,) = (each for each in found if isinstance(each, str))
                assert says in line


def test_ids_win_a_tie() -> None:
    """Whichever way one sentence is left out: it has no counterpart of its id, rather than another text."""
    found = outcomes(file("a", "b", ids=["x", "y"]), file("a", ids=["x"]))
    assert found[0] == (1, 1)
    assert str(found[1]).startswith("gold:4 (y): system has no sentence with this id")


def test_ids_that_only_one_side_has() -> None:
    gold, system = file("a", "b", ids=["x", "y"]), file("b", "a", "c", ids=["y", "x", "z"])
    assert outcomes(gold, system)[:2] == [(1, 1), (1, 1)]
    assert outcomes(gold, system)[2].startswith("system:7 (z): no sentences in gold have this id")
    assert outcomes(system, gold)[2].startswith("gold:7 (z): system has no sentence with this id")


def test_long_texts_without_cuts_are_walked_once() -> None:
    """A system that never ends a sentence: 20,000 sentences of ours belong to its one; time grows with the text."""
    words = [f"w{number}" for number in range(20_000)]
    (unit,) = outcomes(file(*words), sentence(" ".join(words)))
    assert unit == (20_000, 20_000)


def test_every_gold_sentence_counts_once() -> None:
    """Of files some of whose sentences are changed, gold sentences in units and in errors are all there are."""
    rng = random.Random(3)
    for _ in range(100):
        text = "".join(rng.choices("ab", k=40))
        gold, system = random_file(text, rng), random_file(text, rng)
        lines = system.split("\n")
        at = rng.choice([at for at, line in enumerate(lines) if line[:1].isdigit()])
        cells = lines[at].split("\t")
        lines[at] = "\t".join([cells[0], "z", *cells[2:]])
        n = len(tree_files(gold)[0].names)
        found = outcomes(gold, "\n".join(lines))
        ours = [each for each in found if isinstance(each, tuple) or each.startswith("gold")]
        assert sum(each[0] if isinstance(each, tuple) else 1 for each in ours) == n

"""CoNLL-U Plus from CoNLL-U and back: other columns in another order, with the same in them."""

from __future__ import annotations

TEN = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")

# Each column elsewhere than in CoNLL-U, and two of others.
MIXED = ("ID", "X:TYPE", "MISC", "FORM", "UPOS", "HEAD", "DEPS", "DEPREL", "FEATS", "LEMMA", "XPOS", "X:END")


def to_plus(text, names=MIXED):
    """The sentences with these columns; what other columns have is told by the ID."""
    lines = [f"# global.columns = {' '.join(names)}"]
    for line in text.removesuffix("\n").split("\n"):
        cells = dict(zip(TEN, line.split("\t"), strict=False))
        row = [cells.get(name, other(name, cells["ID"])) for name in names]
        lines.append("\t".join(row) if "\t" in line else line)
    return "".join(f"{line}\n" for line in lines)


def other(name, number):
    """What stands in a column that is not one of the ten."""
    return f"{name} of|{number}=1"


def from_plus(text, names=MIXED):
    """The sentences with the columns of CoNLL-U.

    Raises:
        AssertionError: the first line does not name these columns, or another one does, or other columns are not as
            they were.
    """
    first, *lines = text.split("\n")
    assert first == f"# global.columns = {' '.join(names)}"
    found = []
    for line in lines:
        assert not line.startswith("# global.columns")
        if "\t" in line:
            cells = dict(zip(names, line.split("\t"), strict=True))
            assert all(cells[name] == other(name, cells["ID"]) for name in names if name not in TEN)
            line = "\t".join(cells.get(name, "_") for name in TEN)
        found.append(line)
    return "\n".join(found)

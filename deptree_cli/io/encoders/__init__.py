"""Encoders: how the results of any command become what is written, and where that goes; a register of formats.

A result is a mapping, which is a row of named values, or a list of these; or it offers what it can be under these
names: `to_conllu(style)`, `to_jsonl()`, `to_tsv()` (lines, their cells in the order of the columns), `to_pharaoh()`,
`rows()`; `arrays()`, each a (name, array, what it is beside the array of that name); `scores()`, which returns
`SentenceScores`; `picture`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.encoders.base import CONLLU, JSONL, PHARAOH, TSV, Encoder
from deptree_cli.io.files.output import suffix_of

_TEXTS = {each.name: each for each in (CONLLU, JSONL, TSV, PHARAOH)}

# In the place of a name: every container of scores, for scores, and each that holds arrays, for any.
SCORES, ARRAYS = "scores", "arrays"


def encoders(names: Sequence[str | Encoder], others: bool = False) -> Iterator[Encoder]:
    """Yield the encoders of these names; `others`: containers of other packages too."""
    for name in names:
        if isinstance(name, Encoder):
            yield name
        elif name in _TEXTS:
            yield _TEXTS[name]
        elif name in (SCORES, ARRAYS):
            from deptree_cli.io.encoders import arrays  # loads what reads and writes containers

            yield from (arrays.of_scores if name == SCORES else arrays.of_arrays)(others)
        else:
            from deptree_cli.io.encoders import pictures  # which few commands draw

            yield next(each for each in pictures.PICTURES if each.name == name)


def encoder_of(name: str | None, output: str | None, names: Sequence[str | Encoder], usual: str) -> Encoder:
    """Return the encoder of that name, else the one that the suffix of an output asks for, else the usual one.

    A .gz behind the suffix compresses and changes nothing else; a name without a suffix asks for nothing. `names` are
    of those that there is a choice of, or they themselves.
    """
    suffix = suffix_of(output)
    if not suffix:
        return next(each for each in encoders(names) if each.name == (name or usual))
    known = list(encoders(names, others=True))
    found = next((each for each in known if suffix in each.suffixes), None)
    if name and found and found.name != name:
        problem = f"{suffix} is the suffix of {found.name}, but the format is {name}"
        raise DeptreeError(problem, "Remove one, or name a file with another suffix", place=output or "")
    if name:
        return next(each for each in known if each.name == name)
    if found is None:
        suffixes = ", ".join(suffix for each in known for suffix in each.suffixes)
        remedy = f"Name a file with one of the suffixes {suffixes}, with .gz behind it to compress"
        raise DeptreeError(f"this command does not write {suffix}", remedy, place=output or "")
    return found

"""Formats that look like CoNLL-U and have other columns: known by a row, and what to do with them.

The shared tasks of CoNLL: 2006 and 2007 (CoNLL-X) have ten columns, of which the last two, heads and labels of a
projective tree, are often left out; 2008 has ten, the predicate and one for each of the sentence's predicates; 2009 has
twelve, two for the predicate and one for each; 2011 and 2012 have constituents. What heads are of in 2008 are the parts
of words that were split (SPLIT_FORM, SPLIT_LEMMA).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class OtherFormat(NamedTuple):
    """A format with other columns.

    Attributes:
        name: what it is called.
        columns: its columns as CoNLL-U Plus would name them, as many as every sentence has; empty if it has no heads.
        is_cut: whether a row has more than these.
    """

    name: str
    columns: str
    is_cut: bool = False


_X = "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL"
_2008 = "ID CONLL:FORM CONLL:LEMMA XPOS CONLL:PPOS FORM LEMMA CONLL:PPOSS HEAD DEPREL"
_2009 = "ID FORM LEMMA CONLL:PLEMMA XPOS CONLL:PPOS FEATS CONLL:PFEAT HEAD CONLL:PHEAD DEPREL CONLL:PDEPREL"


def other_format(row: Sequence[bytes]) -> OtherFormat | None:
    """The format of a row that does not have ten columns; None if it is none that we know."""
    width = len(row)
    if width >= 12 and row[1].isdigit() and row[2].isdigit() and not row[0].isdigit():
        return OtherFormat("CoNLL 2011 and 2012", "")
    if not row[0].isdigit():
        return None
    if width == 8 and row[6].isdigit() and not _may_be_head(row[7]):
        return OtherFormat("CoNLL-X without PHEAD and PDEPREL", _X)
    heads = row[8:10]  # DEPS and MISC of CoNLL-U, where no number stands alone
    if width >= 12 and all(map(_may_be_head, heads)) and any(map(bytes.isdigit, heads)):
        return OtherFormat("CoNLL 2009", _2009, width > 12)
    if width >= 11 and heads[0].isdigit() and not _may_be_head(heads[1]):
        return OtherFormat("CoNLL 2008", _2008, True)
    return None


def _may_be_head(text: bytes) -> bool:
    return text == b"_" or text.isdigit()

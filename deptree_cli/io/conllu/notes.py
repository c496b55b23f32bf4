"""What commands note in CoNLL-U of a tree and its distribution, and of words beside it: true of that tree only.

So no other tree inherits it. What stands beside each of many trees has its places spliced along, which are then filled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache

from deptree_cli.core.dtypes import Float
from deptree_cli.io.conllu.columns import COLUMNS

# Comments `# key = ...`; and where the file says what made it.
COMMENTS = frozenset(
    {
        *(b"tree_logprob", b"tree_prob", b"tree_count", b"label_logprob", b"entropy"),
        *(b"trees_mass", b"trees_complete"),
        *(b"certified", b"gap", b"relaxed", b"relaxed_fewest", b"acceptance", b"repaired"),
        *(b"expected_errors", b"least_margin", b"disagreement"),
        *(b"derivation_logprob", b"effective_size", b"particles"),
    }
)
COMMENT_PREFIX = b"swor_"
GENERATOR = b"generator"
_SIGNATURE = re.compile(rb"#[^\S\n]*%b[^\S\n]*=[^\S\n]*deptree\|" % GENERATOR)

# Entries `Key=value` of MISC; what a word was before it was repaired, and what another annotation says of it.
OLD_HEAD, OLD_DEPREL = "OldHead", "OldDeprel"
OTHER_HEAD, OTHER_DEPREL = "OtherHead", "OtherDeprel"
MISC = frozenset(
    {
        *(b"HeadProb", b"LabelProb", b"HeadSet", b"Doubt", b"DoubtNote"),
        *(b"OldHead", b"OldDeprel", b"OtherHead", b"OtherDeprel"),
    }
)


def key_of(comment: bytes) -> bytes:
    """The key of a comment ``# key = value``; free text has one of its own, with the newline in it."""
    return comment.lstrip(b"#").partition(b"=")[0].strip(b" ") if b"=" in comment else comment


def is_note(key: bytes) -> bool:
    return key in COMMENTS or key.startswith(COMMENT_PREFIX)


def is_signature(comment: bytes) -> bool:
    """Whether a comment ``# key = value`` is the signature of an earlier run of ours: the next one takes its place."""
    return bool(_SIGNATURE.match(comment))


def may_hold(comments: bytes, keys: Set[bytes] = COMMENTS) -> bool:
    """Whether these bytes hold one of the keys, by default those of notes, or a signature, as one or otherwise."""
    return COMMENT_PREFIX in comments or b"deptree|" in comments or any(map(comments.__contains__, keys))


def with_entries(
    rows: Iterable[bytes],
    addition_to: Callable[[bytes], bytes | None],
    keys: Set[bytes] = frozenset(),
    columns: Sequence[str] = COLUMNS,
) -> list[bytes]:
    """Rows with entries `A=1|B=2` behind those of their MISC, where older ones of their keys, and of `keys`, go.

    Args:
        addition_to: of a word's ID, the entries to add; None for a row that stays as it is.
        columns: of the rows.
    """
    written, behind = [], len(columns) - 1 - columns.index("misc")
    for row in rows:
        end = len(row)
        for _ in range(behind):
            end = row.rfind(b"\t", 0, end)
        start = row.rfind(b"\t", 0, end) + 1
        end = start + len(row[start:end].rstrip(b"\r\n"))
        addition = addition_to(row[: row.find(b"\t")])
        if addition and row[start:end] == b"_":  # nothing there that could go
            written.append(row[:start] + addition + row[end:])
            continue
        gone = keys | _keys_in(addition) if addition else keys
        entries = [entry for entry in row[start:end].split(b"|") if entry.partition(b"=")[0] not in gone]
        if addition or (addition is not None and len(entries) <= row.count(b"|", start, end)):
            kept = [entry for entry in entries if entry != b"_"]
            row = row[:start] + (b"|".join([*kept, *filter(None, [addition])]) or b"_") + row[end:]
        written.append(row)
    return written


@lru_cache(16)
def _keys_in(entries: bytes) -> frozenset[bytes]:
    return frozenset(entry.partition(b"=")[0] for entry in entries.split(b"|"))


def keys_in(entries: Iterable[bytes]) -> list[str]:
    """The keys of entries `A=1|B=2` of words, in the order in which they come first."""
    return list(dict.fromkeys(key.decode() for each in entries if each for key in sorted(_keys_in(each))))


# Of a float: none below 1 is rounded to it.
_ALL_DIGITS = 17


def unused_mark(data: bytes) -> bytes:
    """Bytes that do not occur in these, so that they can stand for places in them."""
    mark = b"\0"
    while mark in data:
        mark += b"\1"
    return mark


def probability(value: float, digits: int = 4) -> str:
    """A probability to so many significant digits, more where it would be rounded to a certainty that it is not."""
    text = f"{value:.{digits}g}"
    while text == "1" and value < 1 and digits < _ALL_DIGITS:
        digits += 1
        text = f"{value:.{digits}g}"
    return text


def entries_of(misc: Mapping[str, Float]) -> list[str]:
    """An entry ``Key=probability`` for each word, with bars between several keys; equal ones are worked out once."""
    columns = []
    for key, values in misc.items():
        probs = values.ravel().tolist()
        texts = {value: f"{key}={text}" for value, text in _shown(set(probs))}
        columns.append(list(map(texts.__getitem__, probs)))
    return columns[0] if len(columns) == 1 else list(map("|".join, zip(*columns, strict=True)))


def _shown(values: Iterable[float]) -> Iterator[tuple[float, str]]:
    """Each value and its `probability`, which is called for those alone that the usual digits may make a certainty."""
    distinct = list(values)
    for value, text in zip(distinct, map("%.4g".__mod__, distinct), strict=True):
        yield value, probability(value) if text == "1" else text


def filled(data: bytes, mark: bytes, values: Iterable[str]) -> bytes:
    pieces = data.split(mark)
    texts = [value.encode() for value in values]
    return b"".join(piece for pair in zip(pieces, [*texts, b""], strict=True) for piece in pair)

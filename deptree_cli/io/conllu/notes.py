"""What commands note in CoNLL-U of a tree and its distribution: true of that tree only, so no other inherits it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence, Set
from functools import lru_cache

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
    """Whether a comment of this key is a note of a command."""
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

"""What commands note in CoNLL-U of a tree and its distribution: true of that tree only, so no other inherits it."""

from __future__ import annotations

import re
from collections.abc import Set

# Comments `# key = ...`; and where the file says what made it.
COMMENTS = frozenset(
    {
        *(b"tree_logprob", b"tree_prob", b"tree_count", b"label_logprob", b"entropy"),
        *(b"derivation_logprob", b"effective_size", b"particles"),
    }
)
COMMENT_PREFIX = b"swor_"
GENERATOR = b"generator"
_SIGNATURE = re.compile(rb"#[^\S\n]*%b[^\S\n]*=[^\S\n]*deptree\|" % GENERATOR)

# Entries `Key=value` of MISC.
MISC = frozenset({b"HeadProb", b"LabelProb"})


def key_of(comment: bytes) -> bytes:
    """The key of a comment ``# key = value``; free text has one of its own, with the newline in it."""
    return comment.lstrip(b"#").partition(b"=")[0].strip(b" ") if b"=" in comment else comment


def is_note(key: bytes) -> bool:
    """Whether a comment of this key is a note of a command."""
    return key in COMMENTS or key.startswith(COMMENT_PREFIX)


def is_signature(comment: bytes) -> bool:
    """Whether a comment ``# key = value`` is the signature of an earlier run of ours: the next one takes its place."""
    return bool(_SIGNATURE.match(comment))


def may_hold_notes(comments: bytes) -> bool:
    """Whether these bytes hold the key of a note or a signature, as one or otherwise."""
    return COMMENT_PREFIX in comments or b"deptree|" in comments or any(key in comments for key in COMMENTS)


def is_noted(row: list[bytes]) -> bool:
    """Whether the columns of a line are of a word with such entries in MISC, the last of them."""
    return row[0].isdigit() and any(entry.partition(b"=")[0] in MISC for entry in row[-1].split(b"|"))


def with_entry(row: list[bytes], addition: bytes, keys: Set[bytes] = frozenset()) -> list[bytes]:
    """The row with entries `A=1|B=2` behind those of its MISC, where older ones of their keys, and of `keys`, go."""
    misc = row[-1].rstrip(b"\r\n")
    gone = keys | ({entry.partition(b"=")[0] for entry in addition.split(b"|")} if addition else frozenset())
    entries = [old for old in misc.split(b"|") if old != b"_" and old.partition(b"=")[0] not in gone]
    written = b"|".join([*entries, *filter(None, [addition])]) or b"_"
    return [*row[:-1], written + row[-1][len(misc) :]]

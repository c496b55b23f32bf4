"""What commands note in CoNLL-U of a tree and its distribution: true of that tree only, so no other inherits it."""

from __future__ import annotations

import re

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

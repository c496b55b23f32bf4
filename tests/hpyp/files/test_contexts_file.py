"""Contexts from a file."""

from __future__ import annotations

from collections.abc import Callable

from deptree_cli.hpyp.files.contexts_file import read_contexts
from deptree_cli.hpyp.model.contexts import LEXICALISED, UNLEXICALISED, Contexts

Scratch = Callable[[str, bytes], str]


def test_read(scratch: Scratch) -> None:
    contexts = Contexts(("s1.t",), ("s1.t", "s2.w"), ("b.t",))
    assert read_contexts(scratch("own.toml", contexts.to_toml().encode())) == contexts
    assert read_contexts(scratch("bom.toml", b"\xef\xbb\xbf" + contexts.to_toml().encode())) == contexts
    path = scratch("part.toml", b'word = ["b.t"]')
    assert read_contexts(path).tag == LEXICALISED.tag
    assert read_contexts(path, UNLEXICALISED) == Contexts(UNLEXICALISED.action, UNLEXICALISED.tag, ("b.t",))


def test_errors_name_the_file(scratch: Scratch, says: Callable[..., object]) -> None:
    with says("bad.toml: ", "there is no context 'words'", "Did you mean word?"):
        read_contexts(scratch("bad.toml", b"words = []"))
    with says("bytes.toml: ", "not UTF-8"):
        read_contexts(scratch("bytes.toml", b"# \xff"))
    with says("none.toml: ", "no such file"):
        read_contexts("none.toml")

"""Sentences as the conllu library has them, for Python users; what the program writes is spliced from bytes instead."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import TYPE_CHECKING

from deptree_cli.core.dtypes import Integers
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.io.conllu.blocks import UNLABELLED, Block
from deptree_cli.io.conllu.columns import BOM, no_column
from deptree_cli.io.conllu.notes import MISC, is_note, is_signature

if TYPE_CHECKING:
    from conllu.models import TokenList


def tokens_of(block: Block) -> TokenList:
    """The tokens of a block, with the columns that it has, by their names in small letters."""
    import conllu
    from conllu.models import Metadata

    text = block.raw.removeprefix(BOM).removeprefix(block.chunk.header)
    tokens = conllu.parse(text.decode(), fields=block.columns)[0]
    if block.chunk.header:  # in front of each sentence: what is written of any of them says which columns it has
        names = {"global.columns": block.chunk.header.partition(b"=")[2].strip().decode()}
        tokens.metadata = Metadata({**names, **tokens.metadata})
    return tokens


def applied(tokens: TokenList, heads: Integers, deprels: Sequence[str | None] | None = None) -> TokenList:
    """A copy of the tokens with the tree `heads`, (n,), 0 for ROOT.

    A word without one of `deprels` keeps its label if its head is what it was; else it is `dep`, and `root` under ROOT.
    Notes of commands are dropped and, unless heads and labels are what they were, DEPS and empty nodes.

    Raises:
        DeptreeError: there are not as many heads as words, or no column for them.
    """
    from conllu.models import Metadata, TokenList

    kept = [deepcopy(token) for token in tokens]
    words = [token for token in kept if isinstance(token["id"], int)]
    if len(words) != len(heads):
        problem = f"{counted(len(heads), 'head')} given for a sentence of {counted(len(words), 'word')}"
        raise DeptreeError(problem, "Give one head per word")
    if "head" not in words[0]:
        raise no_column("head", tuple(words[0]), "trees", "")
    before = [(token["head"], token.get("deprel")) for token in words]
    for word, (token, head) in enumerate(zip(words, heads.tolist(), strict=True)):
        label = token.get("deprel")
        stays = token["head"] == head and label not in (None, "_", "root")
        own = "root" if head == 0 else label if stays else UNLABELLED
        token["head"] = head
        if "deprel" in token:
            token["deprel"] = (deprels[word] if deprels else None) or own
        if token.get("misc"):
            token["misc"] = {key: value for key, value in token["misc"].items() if key.encode() not in MISC} or None
    if before != [(token["head"], token.get("deprel")) for token in words]:
        kept = [token for token in kept if not (isinstance(token["id"], tuple) and token["id"][1] == ".")]
        for token in words:
            token.update({"deps": None} if "deps" in token else {})
    metadata = {
        key: value
        for key, value in tokens.metadata.items()
        if not is_note(key.encode()) and not is_signature(f"# {key} = {value}".encode())
    }
    return TokenList(kept, metadata=Metadata(metadata))

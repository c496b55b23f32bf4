"""CoNLL-U, byte for byte: sentences read (`blocks`), and trees spliced into them; and how they are written, which all
commands that write load, for its options."""

from dataclasses import dataclass
from functools import lru_cache

# What becomes of DEPS beside another tree, numbered as in kernels/columns.py.
DEPS = ("drop", "basic", "keep")


@dataclass(frozen=True)
class Style:
    """How trees are written as CoNLL-U.

    Attributes:
        deps: what becomes of DEPS and empty nodes beside another tree, one of `DEPS`.
        sent_id_format: the name of a sentence's k-th tree, from its `{id}` and `{k}`. UD reserves the slash for several
            annotations of one sentence.
    """

    deps: str = "drop"
    sent_id_format: str = "{id}/sample_{k}"

    def sent_ids(self, sent_id: str, size: int) -> list[str]:
        return [name.replace(_ID, sent_id) for name in _names_of_trees(self.sent_id_format, size)]


USUAL = Style()

# In the place of a sentence's name; no template has it.
_ID = "\0"


@lru_cache(16)
def _names_of_trees(template: str, size: int) -> list[str]:
    """The names of the trees of a sentence that is called `_ID`."""
    return [template.format(id=_ID, k=rank) for rank in range(1, size + 1)]

"""What each of the parser's three distributions is conditioned on, and in which order contexts back off.

The elements are those of Buys and Blunsom (2015), Table 1, and more of the same kind.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Int
from deptree_cli.core.errors import DeptreeError, did_you_mean
from deptree_cli.hpyp.kernels.columns import LEFT, NEXT_TAG, RECORD, RIGHT, TAG, WORD

# Each further element is a level of the hierarchy of restaurants.
MOST_ELEMENTS = 15

NAMES = ("action", "tag", "word")
NEXT = "b.t"
_DEPTHS = 4
_COLUMNS = {"s{}.t": TAG, "s{}.w": WORD, "lc(s{}).t": LEFT, "rc(s{}).t": RIGHT}

# Every element by its name, and its code in kernels: RECORD * depth + column, the depth from the top of the stack.
ELEMENTS: dict[str, int] = {
    template.format(depth + 1): RECORD * depth + column
    for depth in range(_DEPTHS)
    for template, column in _COLUMNS.items()
} | {NEXT: NEXT_TAG}


@dataclass(frozen=True)
class Contexts:
    """Contexts that actions, tags and words are conditioned on: elements, the most important first.

    ``s1`` is the top of the stack, ``s4`` the fourth; ``.t`` a tag, ``.w`` a word; ``lc(s1)`` the leftmost left child
    so far, ``rc(s1)`` the rightmost right child; ``b.t`` the tag of the next word.

    Attributes:
        action: the context of transitions.
        tag: of the tag of the next word.
        word: of that word, which is predicted after its tag; () leaves words out of the model.

    Raises:
        DeptreeError: an element is unknown or listed twice; there are too many; ``b.t`` is not in `word`; words are
            conditioned on but not predicted.
    """

    action: tuple[str, ...]
    tag: tuple[str, ...]
    word: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in NAMES:
            try:
                _check(getattr(self, name), [element for element in ELEMENTS if name == "word" or element != NEXT])
            except DeptreeError as error:
                error.problem = f"{name}: {error.problem}"
                raise
        words = [element for element in (*self.action, *self.tag) if element.endswith(".w")]
        if words and not self.word:
            problem = f"words are conditioned on ({words[0]}) but not predicted (word is empty)"
            raise DeptreeError(problem, "Give word a context, or leave words out of action and tag")

    def codes(self, name: str) -> Int:
        """The codes of the elements of ``action``, ``tag`` or ``word`` as kernels know them, in order."""
        return np.array([ELEMENTS[element] for element in getattr(self, name)], dtype=np.int64)

    @classmethod
    def from_toml(cls, text: str, place: str, default: Contexts | None = None) -> Contexts:
        """The contexts in a TOML document with the keys action, tag and word, each a list of elements.

        Args:
            place: what messages call the document.
            default: for lists that the document leaves out; `LEXICALISED` if None.

        Raises:
            DeptreeError: the text is not TOML, has other keys, or its lists are not contexts.
        """
        try:
            found = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise DeptreeError(
                f"this is not TOML ({error})", 'Write lists such as word = ["b.t"]', place=place
            ) from None
        default = default or LEXICALISED
        try:
            for key in found:
                if key not in NAMES:
                    raise DeptreeError(f"there is no context {key!r}", _did_you_mean(key, NAMES))
            return cls(*(_listed(name, found.get(name, getattr(default, name))) for name in NAMES))
        except DeptreeError as error:
            raise error.at(place) from None

    def to_toml(self) -> str:
        """The contexts as a TOML document."""
        lists = {name: ", ".join(f'"{element}"' for element in getattr(self, name)) for name in NAMES}
        return "".join(f"{name} = [{elements}]\n" for name, elements in lists.items())


def _check(elements: tuple[str, ...], allowed: list[str]) -> None:
    for element in elements:
        if element == NEXT and NEXT not in allowed:
            raise DeptreeError(f"{NEXT} is known only when the word is predicted", f"Use {NEXT} in word only")
        if element not in allowed:
            raise DeptreeError(f"there is no element {element!r}", _did_you_mean(element, allowed))
        if elements.count(element) > 1:
            raise DeptreeError(f"{element} is listed twice", "Remove one")
    if len(elements) > MOST_ELEMENTS:
        raise DeptreeError(f"a context of {len(elements)} elements is too long", f"Use at most {MOST_ELEMENTS}")


def _listed(name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(element, str) for element in value):
        raise DeptreeError(f"{name} is not a list of names", f'Write {name} = ["s1.t", "s2.t"]')
    return tuple(value)


def _did_you_mean(name: str, names: Sequence[str]) -> str:
    return did_you_mean(name, names, f"Choose from {', '.join(names)}")


_TAGS = ("s1.t", "s2.t", "rc(s1).t", "lc(s1).t", "s3.t", "rc(s2).t")
_WORDS = ("s1.w", "s2.w")

# The paper's contexts, but for `word`, where the paper has s1.t second; no difference in accuracy was measured.
LEXICALISED = Contexts((*_TAGS, *_WORDS), (*_TAGS, *_WORDS), (NEXT, "rc(s1).t", "lc(s1).t", *_WORDS))
UNLEXICALISED = Contexts(_TAGS, _TAGS, ())

"""Classes of words that are rare or unseen: what their spelling says about their grammar.

The signatures of unknown words of the Berkeley parser (Petrov et al. 2006), with classes of their own for punctuation,
addresses and words in capitals.
"""

from __future__ import annotations

from collections.abc import Callable

# Of several that fit, the first names the class; only words of this length have one.
SUFFIXES = ("ed", "ing", "ion", "er", "est", "ly", "ity", "y", "al")
_SHORTEST = 5

_URL_STARTS = ("http:", "https:", "www.")


def word_class(form: str, is_first: bool, is_known: Callable[[str], bool]) -> str:
    """The class of a word, such as ``UNK-INITC-KNOWNLC-ing``.

    Args:
        form: the word, not empty.
        is_first: whether it is the first of its sentence, where a capital says little.
        is_known: whether a word, here the form in lower case, is in the vocabulary.
    """
    if not any(char.isalnum() for char in form):
        return "UNK-PUNC"
    lower = form.lower()
    case = _case(form, is_first)
    marks = {
        "KNOWNLC": case == "INITC" and is_known(lower),
        "NUM": any(char.isdigit() for char in form),
        "DASH": "-" in form,
        "URL": lower.startswith(_URL_STARTS) or "://" in lower,
        "MAIL": "@" in form[1:-1],
    }
    return "-".join(filter(None, ["UNK", case, *(mark for mark, holds in marks.items() if holds), _suffix(lower)]))


def _case(form: str, is_first: bool) -> str:
    """INITC: a single capital, at the beginning of the sentence; ALLC: all of several letters; CAPS: any other capital.

    LC: none, but letters in lower case; and nothing for numbers and scripts without case.
    """
    capitals = sum(char.isupper() for char in form)
    if not capitals:
        return "LC" if any(char.islower() for char in form) else ""
    if is_first and capitals == 1 and form[0].isupper():
        return "INITC"
    return "ALLC" if capitals > 1 and form.isupper() else "CAPS"


def _suffix(lower: str) -> str:
    """The suffix that names the class of a form in lower case, empty where there is none."""
    if lower.endswith("s"):
        return "s"
    if len(lower) < _SHORTEST or "-" in lower:
        return ""
    return next((suffix for suffix in SUFFIXES if lower.endswith(suffix)), "")

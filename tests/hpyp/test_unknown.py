"""Numbers of symbols, and of words with classes in the place of those that are rare."""

from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import pytest

from deptree_cli.hpyp.kernels.columns import NULL_SYMBOL
from deptree_cli.hpyp.model.unknown import SUFFIXES, Lexicon, Vocabulary, word_class
from tests.hpyp.toys import annotated


def lexicon_of(*texts):
    return Lexicon.of(map(annotated, texts))


def test_numbers_and_symbols_are_inverse():
    vocabulary = Vocabulary.of(["NOUN", "VERB", "NOUN", "DET"])
    assert vocabulary.symbols == ("NOUN", "VERB", "DET")
    assert vocabulary.size == 5
    assert [vocabulary.id(symbol) for symbol in vocabulary.symbols] == [2, 3, 4]
    assert [vocabulary.symbol(number) for number in range(5)] == ["", "<s>", "NOUN", "VERB", "DET"]
    assert vocabulary.id("ADJ") == vocabulary.id("<s>") == NULL_SYMBOL
    assert ("VERB" in vocabulary, "ADJ" in vocabulary) == (True, False)
    assert Vocabulary(("<s>",)).id("<s>") == 2
    for number in (-1, 5):
        with pytest.raises(IndexError):
            vocabulary.symbol(number)
    with pytest.raises(ValueError, match="once"):
        Vocabulary(("a", "b", "a"))


def test_words_seen_once_are_their_classes():
    """`sleeps` and `the` are there twice; `The` opens a sentence, once, and `the` is known."""
    lexicon = lexicon_of("The dog sleeps", "a bird sleeps near the big the")
    assert lexicon.vocabulary.symbols == ("UNK-INITC-KNOWNLC", "UNK-LC", "sleeps", "the")
    for copy in (lexicon, Lexicon(Vocabulary(lexicon.vocabulary.symbols)), pickle.loads(pickle.dumps(lexicon))):
        assert copy.ids(["The", "cat", "sleeps", "1984", "the", "<s>"]).tolist() == [1, 2, 3, 4, 0, 5, 3]
    assert lexicon_of("Anna saw Tom", "Bob saw x x").ids(["Lena", "Lena"]).tolist() == [1, 2, 4]


def test_random_treebanks_against_the_definition():
    """Every word's number by counting, without the lexicon's own bookkeeping."""
    rng = np.random.default_rng(1)
    words = ["Dog", "dog", "dogs", "Walking", "walking", "USA", "12", "-", "x-y", "Anna"]
    for _ in range(200):
        texts = [rng.choice(words, rng.integers(1, 5)).tolist() for _ in range(rng.integers(1, 5))]
        counts = Counter(form for text in texts for form in text)
        known = {form for form, count in counts.items() if count > 1}
        lexicon = lexicon_of(*map(" ".join, texts))
        due = [
            [form if form in known else word_class(form, place == 0, known.__contains__)
             for place, form in enumerate(text)]
            for text in texts
        ]  # fmt: skip
        found = [[lexicon.vocabulary.symbol(number) for number in lexicon.ids(text)] for text in texts]
        assert found == [["<s>", *forms] for forms in due]
        assert lexicon.vocabulary.symbols == tuple(dict.fromkeys(form for forms in due for form in forms))


KNOWN = {"dogs", "sleeping", "a"}


def class_of(form, is_first=False):
    return word_class(form, is_first, KNOWN.__contains__)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("form", "first", "later"),
    [
        ("!?", "UNK-PUNC", "UNK-PUNC"),
        ("Dogs", "UNK-INITC-KNOWNLC-s", "UNK-CAPS-s"),
        ("Sleeping", "UNK-INITC-KNOWNLC-ing", "UNK-CAPS-ing"),
        ("Heidi", "UNK-INITC", "UNK-CAPS"),
        ("A", "UNK-INITC-KNOWNLC", "UNK-CAPS"),
        ("McCoy", "UNK-CAPS-y", "UNK-CAPS-y"),
        ("iPod", "UNK-CAPS", "UNK-CAPS"),
        ("USA", "UNK-ALLC", "UNK-ALLC"),
        ("dogs", "UNK-LC-s", "UNK-LC-s"),
        ("1984", "UNK-NUM", "UNK-NUM"),
        ("1980s", "UNK-LC-NUM-s", "UNK-LC-NUM-s"),
        ("well-being", "UNK-LC-DASH", "UNK-LC-DASH"),
        ("www.example.org/x", "UNK-LC-URL", "UNK-LC-URL"),
        ("ftp://example.org", "UNK-LC-URL", "UNK-LC-URL"),
        ("anna@example.org", "UNK-LC-MAIL", "UNK-LC-MAIL"),
        ("@anna", "UNK-LC", "UNK-LC"),
        ("bed", "UNK-LC", "UNK-LC"),
        ("речка", "UNK-LC", "UNK-LC"),
        ("東京", "UNK", "UNK"),
        ("gladly", "UNK-LC-ly", "UNK-LC-ly"),  # and not -y
        ("clarity", "UNK-LC-ity", "UNK-LC-ity"),
        ("sandy", "UNK-LC-y", "UNK-LC-y"),
    ],
)
def test_classes(form, first, later):
    assert (class_of(form, is_first=True), class_of(form)) == (first, later)


def test_suffixes_of_words_of_five_letters():
    for suffix in SUFFIXES:
        long, short = "b" * (5 - len(suffix)) + suffix, "b" * (4 - len(suffix)) + suffix
        assert class_of(long) == class_of(long.upper()).replace("ALLC", "LC") == f"UNK-LC-{suffix}"
        assert class_of(short) == "UNK-LC"

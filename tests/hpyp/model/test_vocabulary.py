"""Numbers of symbols, and of words with classes in the place of those that are rare."""

from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import pytest

from deptree_cli.hpyp.kernels.columns import NULL_SYMBOL, ROOT_SYMBOL
from deptree_cli.hpyp.model.sentences import Annotated
from deptree_cli.hpyp.model.unknown import Lexicon, Vocabulary, word_class


def sentences(*texts: str) -> list[Annotated]:
    """Sentences of which nothing matters but the words."""
    found = []
    for text in texts:
        forms = tuple(text.split())
        n = len(forms)
        found.append(Annotated("", "", forms, ("X",) * n, np.zeros(n, dtype=np.int32), ("dep",) * n))
    return found


def test_numbers_and_symbols_are_inverse() -> None:
    vocabulary = Vocabulary.of(["NOUN", "VERB", "NOUN", "DET"])
    assert vocabulary.symbols == ("NOUN", "VERB", "DET")
    assert vocabulary.size == 5
    assert [vocabulary.id(symbol) for symbol in vocabulary.symbols] == [2, 3, 4]
    assert [vocabulary.symbol(number) for number in range(5)] == ["", "<s>", "NOUN", "VERB", "DET"]
    assert vocabulary.id("ADJ") == NULL_SYMBOL
    assert "VERB" in vocabulary
    assert "ADJ" not in vocabulary


@pytest.mark.parametrize("number", [-1, 3])
def test_other_numbers_are_none(number: int) -> None:
    with pytest.raises(IndexError):
        Vocabulary(("a",)).symbol(number)


def test_symbols_are_distinct() -> None:
    with pytest.raises(ValueError, match="once"):
        Vocabulary(("a", "b", "a"))


def test_a_word_like_the_root_node_is_another() -> None:
    assert Vocabulary(("a",)).id("<s>") == NULL_SYMBOL
    assert Vocabulary(("<s>",)).id("<s>") == 2
    assert ROOT_SYMBOL not in Lexicon(Vocabulary(("a",))).ids(["<s>", "<s>"])[1:]


def test_words_seen_once_are_their_classes() -> None:
    """`sleeps` and `the` are there twice; `The` opens a sentence, once, and `the` is known."""
    lexicon = Lexicon.of(sentences("The dog sleeps", "a bird sleeps near the big the"))
    assert lexicon.vocabulary.symbols == ("UNK-INITC-KNOWNLC", "UNK-LC", "sleeps", "the")
    assert lexicon.ids(["The", "cat", "sleeps", "1984", "the"]).tolist() == [1, 2, 3, 4, 0, 5]


def test_unknown_words_depend_on_where_they_stand() -> None:
    lexicon = Lexicon.of(sentences("Anna saw Tom", "Bob saw x x"))
    assert lexicon.vocabulary.symbols == ("UNK-INITC", "saw", "UNK-CAPS", "x")
    assert lexicon.ids(["Lena", "Lena"]).tolist() == [1, 2, 4]
    assert lexicon.ids(["Lena", "Lena"]).dtype == np.int32
    assert lexicon.ids([]).tolist() == [1]


def test_random_treebanks_against_the_definition() -> None:
    """Every word's number by counting, without the lexicon's own bookkeeping."""
    rng = np.random.default_rng(1)
    words = ["Dog", "dog", "dogs", "Walking", "walking", "USA", "12", "-", "x-y", "Anna"]
    for _ in range(200):
        texts = [" ".join(rng.choice(words, rng.integers(1, 5))) for _ in range(rng.integers(1, 5))]
        treebank = sentences(*texts)
        counts = Counter(form for sentence in treebank for form in sentence.forms)
        known = {form for form, count in counts.items() if count > 1}
        lexicon = Lexicon.of(iter(treebank))
        due = [
            [form if form in known else word_class(form, place == 0, known.__contains__)
             for place, form in enumerate(sentence.forms)]
            for sentence in treebank
        ]  # fmt: skip
        found = [[lexicon.vocabulary.symbol(number) for number in lexicon.ids(sentence.forms)] for sentence in treebank]
        assert found == [["<s>", *forms] for forms in due]
        assert lexicon.vocabulary.symbols == tuple(dict.fromkeys(form for forms in due for form in forms))


def test_the_vocabulary_is_all_that_a_lexicon_knows() -> None:
    lexicon = Lexicon.of(sentences("The dog sleeps", "The dog runs", "dogs dogs"))
    text = ["Dogs", "run", "The", "Runs", "sleeping"]
    for copy in (Lexicon(Vocabulary(lexicon.vocabulary.symbols)), pickle.loads(pickle.dumps(lexicon))):
        assert copy.ids(text).tolist() == lexicon.ids(text).tolist()

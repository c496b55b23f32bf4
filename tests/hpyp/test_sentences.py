"""Sentences that a parser can be trained on, contexts, and numbers and classes of words."""

import itertools
import pickle
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import SINGLE_ROOT
from deptree_cli.hpyp.kernels.columns import NULL_SYMBOL
from deptree_cli.hpyp.model.sentences import ELEMENTS, LEXICALISED, UNLEXICALISED, Annotated
from deptree_cli.hpyp.model.unknown import Lexicon, Vocabulary, word_class
from tests.hpyp.reference import ACTION, WORD
from tests.hpyp.toys import annotated


def sentence(*heads, tags=()):
    """A sentence of the words a, b, c, ... with these heads."""
    n = len(heads)
    forms = tuple("abcdefgh"[:n])
    return Annotated("s-1", "file:3", forms, tags or ("X",) * n, np.array(heads, dtype=np.int32), ("dep",) * n)


def problem_of(check):
    """The line of an error, behind the file, the line and the sentence."""
    with pytest.raises(DeptreeError, match=r"file:3 \(s-1\): ") as caught:
        check()
    return str(caught.value).removeprefix("file:3 (s-1): ")


def test_exactly_trees_with_one_root_pass():
    """Every array of heads of up to 4 words, against the space of trees with one root."""
    passed = 0
    for n in range(1, 5):
        for heads in itertools.product(range(n + 1), repeat=n):
            found = sentence(*heads)
            if SINGLE_ROOT.contains(found.heads[None])[0]:
                found.check_tree()
                passed += 1
            else:
                problem_of(found.check_tree)
    assert passed == 1 + 2 + 9 + 64
    sentence(0, 1, tags=("_", "X")).check_tree()


def test_what_is_wrong_with_a_tree():
    for heads, says in [
        ((-1, -1), "no word has a HEAD."),
        ((0, -1, 2), "word 2 has no HEAD"),
        ((0, 1, 0), "2 words have HEAD 0"),
        ((0, 4, 2, 3), "form a cycle, 2 -> 4 -> 3 -> 2."),
    ]:
        assert says in problem_of(sentence(*heads).check_tree)


def test_what_is_no_sentence():
    for heads in ((3, 0), (-2, 0)):
        with pytest.raises(DeptreeError, match="1 to 2"):
            sentence(*heads)
    heads = np.zeros(1, dtype=np.int32)
    with pytest.raises(DeptreeError, match="1 forms, 2 tags, 1 heads and 1 labels"):
        Annotated("", "", ("a",), ("X", "Y"), heads, ("root",))
    with pytest.raises(DeptreeError, match="0 forms"):
        Annotated("", "", (), (), heads[:0], ())


@pytest.mark.parametrize(
    ("symbol", "says"), [("a\tb", r"is 'a\tb'. Remove the control characters."), ("", "Fill it in.")]
)
def test_symbols_that_cannot_be_written_again(symbol, says):
    """Forms, tags and labels for trees; forms alone for text, from which only words are learned."""
    for name, part in (("form", "forms"), ("tag", "tags"), ("label", "deprels")):
        found = replace(sentence(0, 1), **{part: ("x", symbol)})
        line = problem_of(found.check_trainable)
        assert line.startswith(f"the {name} of word 2 is ")
        assert line.endswith(says)
        with pytest.raises(DeptreeError) if name == "form" else nullcontext():
            found.check_forms()


def test_what_may_stand_in_a_symbol():
    """Spaces of all kinds and joiners, which languages write with."""
    replace(sentence(0, 1), forms=("1 000\u00a0000", "\u0645\u06cc\u200c\u062e\u0648")).check_trainable()


def test_contexts_are_those_of_the_paper():
    assert (LEXICALISED.action, LEXICALISED.tag, LEXICALISED.word) == (ACTION, ACTION, WORD)
    assert (UNLEXICALISED.action, UNLEXICALISED.tag, UNLEXICALISED.word) == (ACTION[:6], ACTION[:6], ())


@pytest.mark.quick
@pytest.mark.parametrize(
    ("given", "parts"),
    [
        ({"action": ("s1.t", "s5.t")}, ("action: there is no element 's5.t'", "Did you mean s")),
        ({"action": ("lc(s1)",)}, ("action: ", "Did you mean lc(s1).t?")),
        ({"tag": ("x",)}, ("tag: there is no element 'x'", "Choose from s1.t, s1.w")),
        ({"tag": ("b.t",)}, ("tag: b.t is known only when the word is predicted", "word only")),
        ({"word": ("b.t", "s1.w", "b.t")}, ("word: b.t is listed twice",)),
        ({"word": tuple(ELEMENTS)[:16]}, ("word: a context of 16 elements is too long", "Use at most 15")),
        ({"word": ()}, ("words are conditioned on (s1.w)",)),
    ],
)
def test_contexts_that_are_none(given, parts):
    with pytest.raises(DeptreeError) as caught:
        replace(LEXICALISED, **given)
    assert all(part in str(caught.value) for part in parts)


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
        ("речка", "UNK-LC", "UNK-LC"),
        ("東京", "UNK", "UNK"),
    ],
)
def test_classes(form, first, later):
    assert (class_of(form, is_first=True), class_of(form)) == (first, later)


def test_suffixes_of_words_of_five_letters():
    for suffix in ["ed", "ing", "ion", "er", "est", "ly", "ity", "y", "al"]:
        long, short = "b" * (5 - len(suffix)) + suffix, "b" * (4 - len(suffix)) + suffix
        assert class_of(long) == class_of(long.upper()).replace("ALLC", "LC") == f"UNK-LC-{suffix}"
        assert class_of(short) == "UNK-LC"

"""Tags that a parser does not know: when sentences are held back, and when they are refused."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.hpyp.model.sentences import LEXICALISED
from deptree_cli.hpyp.model.unknown import Lexicon, Symbols, Vocabulary
from deptree_cli.hpyp.options import ENOUGH, FEWEST, MOST, NAMED, UnknownTags, named
from deptree_cli.io.sentence import Sentence as ReadSentence
from tests.tree_files import read_blocks

SYMBOLS = Symbols(Lexicon(Vocabulary(())), Vocabulary(("NOUN", "VERB")), ("dep",), LEXICALISED)


def sentence(*tags: str) -> ReadSentence:
    """A sentence of words with these tags."""
    rows = "".join(f"{word}\ta\t_\t{tag}" + "\t_" * 6 + "\n" for word, tag in enumerate(tags, 1))
    (block,) = read_blocks(io.BytesIO(f"{rows}\n".encode()), "x")
    return ReadSentence("x", 1, block.n, "x", block)


class Reader:
    """Sentences, counted as they are read."""

    def __init__(self, *sentences: ReadSentence) -> None:
        self.sentences, self.read = sentences, 0

    def __iter__(self) -> Iterator[ReadSentence]:
        for each in self.sentences:
            self.read += 1
            yield each


GOOD = sentence("NOUN", "VERB")


def test_sentences_flow_while_all_tags_are_known() -> None:
    reader = Reader(*[GOOD] * 3)
    for number, _ in enumerate(UnknownTags(SYMBOLS, "upos").watched(reader, "x"), 1):
        assert reader.read == number


@pytest.mark.parametrize("tag", ["_", "FOO"])
def test_doubtful_sentences_are_held_back_until_there_are_enough_words(tag: str) -> None:
    reader = Reader(GOOD, sentence("NOUN", tag), *[GOOD] * ENOUGH)
    found = iter(UnknownTags(SYMBOLS, "upos").watched(reader, "x"))
    next(found)
    assert reader.read == 1
    next(found)
    assert reader.read == ENOUGH // 2


def test_the_limit() -> None:
    """More than 5 % of at least 1,000 words, or of all there are; five at least."""
    most = int(MOST * ENOUGH)
    for unseen, words, refused in [
        (most, ENOUGH, False),
        (most + 1, ENOUGH, True),
        (FEWEST - 1, FEWEST - 1, False),
        (FEWEST, FEWEST, True),
        (FEWEST, round(FEWEST / MOST), False),
    ]:
        watch = UnknownTags(SYMBOLS, "upos")
        tags = ["FOO"] * unseen + ["NOUN"] * (words - unseen)
        reader = Reader(*map(sentence, tags))
        if refused:
            with pytest.raises(
                DeptreeError, match=rf"x: the model does not know the tags of {unseen} of {words} words"
            ):
                list(watch.watched(reader, "x"))
        else:
            assert len(list(watch.watched(reader, "x"))) == words
            assert watch.line.startswith(
                f"of {words} words in UPOS, with a tag that the model does not know: {unseen} (FOO "
            )


def test_a_bad_part_far_behind_ends_the_run() -> None:
    reader = Reader(*[GOOD] * ENOUGH, *[sentence("FOO")] * ENOUGH)
    found = UnknownTags(SYMBOLS, "upos").watched(reader, "x")
    with pytest.raises(DeptreeError, match="does not know"):
        list(found)
    assert reader.read < ENOUGH + 0.06 * 2 * ENOUGH


def test_errors_pass_in_their_place() -> None:
    """Also those of sentences that are not UTF-8, which are found where they are worked on."""
    (latin,) = read_blocks(io.BytesIO(b"1\ta\t_\tN\xff" + b"\t_" * 6 + b"\n\n"), "x")
    error, bad = DeptreeError("malformed"), ReadSentence("y", 1, latin.n, "x", latin)
    watch = UnknownTags(SYMBOLS, "upos")
    assert list(watch.watched([GOOD, error, bad, GOOD], "x")) == [GOOD, error, bad, GOOD]
    assert watch.line == ""


def test_the_most_frequent_are_named() -> None:
    assert named({"a": 1, "b": 3}) == "b 3, a 1"
    assert named({str(number): 1 for number in range(NAMED + 1)}).endswith(", ...")

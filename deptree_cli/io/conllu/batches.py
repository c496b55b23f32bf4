"""Trees of many sentences as output: `Trees` of each, with what lines of JSON have in common written at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, repeat
from typing import TYPE_CHECKING

from deptree_cli.core.blocks import RaggedTrees
from deptree_cli.core.dtypes import Float, Heads, Integers, smallest
from deptree_cli.io.conllu.trees import Note, Style, json_lines, quoted

if TYPE_CHECKING:
    from deptree_cli.io.conllu.blocks import Block
    from deptree_cli.io.conllu.splicing import Packed, Spliced


@dataclass(frozen=True, eq=False)
class TreesOfMany:
    """K trees of each of some sentences.

    Attributes:
        sent_ids: their names.
        blocks: the CoNLL-U sentences, None where there is none.
        trees: their trees.
        make_notes: makes the notes on trees, with a value for each tree of all sentences.
        ranked: whether the trees of a sentence are one after another, and not the one tree.
        misc: makes probabilities of words, as of `Trees`, one after another.
    """

    sent_ids: Sequence[str]
    blocks: Sequence[Block | None]
    trees: RaggedTrees
    make_notes: Callable[[], Sequence[Note]]
    ranked: bool = True
    misc: Callable[[], Mapping[str, Float]] = dict

    def each(self) -> list[TreesOfOne]:
        return [TreesOfOne(self, number) for number in range(len(self.sent_ids))]

    @cached_property
    def heads(self) -> list[Heads]:
        return list(self.trees)

    @cached_property
    def notes(self) -> Sequence[Note]:
        return self.make_notes()

    @cached_property
    def lines(self) -> list[bytes]:
        size = self.trees.size
        sent_ids = chain.from_iterable(repeat(quoted(sent_id), size) for sent_id in self.sent_ids)
        ranks = list(range(1, size + 1)) * len(self.sent_ids) if self.ranked else None
        lines = json_lines(sent_ids, ranks, self.trees.heads, self.trees.lengths.repeat(size), self.notes)
        ended = list(map(b"".join, lines))
        return ended if size == 1 else [b"".join(ended[at : at + size]) for at in range(0, len(ended), size)]

    @cached_property
    def comments(self) -> Mapping[str, Sequence[str]]:
        return {note.key: note.texts for note in self.notes if note.key}

    @cached_property
    def entries(self) -> tuple[Packed, list[int]]:
        """What MISC has of all words of all trees, and where each sentence ends."""
        from deptree_cli.io.conllu.columns import entries_of
        from deptree_cli.io.conllu.splicing import packed

        return packed(entries_of(self.misc())), list(accumulate((self.trees.lengths * self.trees.size).tolist()))


@dataclass(frozen=True, eq=False, slots=True)
class TreesOfOne:
    of: TreesOfMany
    number: int

    def to_jsonl(self) -> bytes:
        return self.of.lines[self.number]

    def to_conllu(self, style: Style) -> Spliced:
        from deptree_cli.io.conllu.columns import no_sentences
        from deptree_cli.io.conllu.splicing import with_trees

        of, number, size = self.of, self.number, self.of.trees.size
        if (block := of.blocks[number]) is None:
            raise no_sentences()
        heads, (entries, ends) = of.heads[number], of.entries
        comments = {key: texts[number * size : (number + 1) * size] for key, texts in of.comments.items()}
        own = entries.part(ends[number] - heads.size, ends[number]) if entries.cuts.size > 1 else ()
        sent_ids = style.sent_ids(of.sent_ids[number], size)
        return with_trees(block.fresh(), heads, sent_ids, comments, deps=style.deps, entries=own)

    def arrays(self) -> list[tuple[str, Integers, str]]:
        heads = self.of.heads[self.number]
        return [(self.of.sent_ids[self.number], smallest(heads if self.of.ranked else heads[0]), "")]

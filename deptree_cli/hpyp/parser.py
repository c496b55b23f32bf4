"""`Parser`: train on a treebank, parse, sample, measure."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from warnings import warn

from deptree_cli.core.counts import how_many, room_for_trees
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.errors import counted
from deptree_cli.core.streams import Randomness, stream_of
from deptree_cli.hpyp.files.treebank import Tagset, read_treebank
from deptree_cli.hpyp.model.sentences import (
    FILTERS,
    LEXICALISED,
    LONGEST,
    PARTICLES,
    UNLEXICALISED,
    Annotated,
    Complete,
    Contexts,
    Sentence,
    as_annotated,
    check_training,
    kept_iterations,
)
from deptree_cli.io.signature import signature

if TYPE_CHECKING:
    from deptree_cli.hpyp.model.parsing import Evidence, Filtered, Parse
    from deptree_cli.hpyp.model.training import Trained

Treebank = str | Path | Iterable[str | Path | Annotated]


@dataclass(frozen=True, eq=False, repr=False)
class Parser:
    """A trained parser, from `Parser.train` or `Parser.load`. It does not change, and can be pickled.

    Attributes:
        trained: its symbols, its processes, and how it was trained.
        signature: how it was made, in one line.
    """

    trained: Trained
    signature: str

    @classmethod
    def train(
        cls,
        treebank: Treebank,
        *,
        column: Tagset = "upos",
        lexicalised: bool = True,
        contexts: Contexts | None = None,
        iterations: int = 10,
        states: int = 1,
        oracle: Literal["static", "sampled"] = "static",
        unlabelled: Treebank = (),
        passes: int = 1,
        seed: int | None = None,
        on_iteration: Callable[[int, float], object] | None = None,
    ) -> Parser:
        """Train a parser on trees by Gibbs sampling.

        Args:
            treebank: paths of CoNLL-U files, or sentences with trees; those with a tag or label ``_`` are left out.
            column: of the tags. lexicalised: whether to model words; if not, only tags.
            contexts: what actions, tags and words are conditioned on.
            states: how many to keep and average over, the first after `iterations`, the others after 5 more each.
            oracle: whether derivations are fixed (every arc as early as possible) or sampled.
            unlabelled: paths or sentences, read `passes` times at the end to learn their words; tags are predicted.
            seed: of all random numbers. on_iteration: called with the number of each, and its log-likelihood in nats.

        Raises:
            DeptreeError: no sentence, one without a tree with one root, most without tags, or an unreadable file.
        """
        from deptree_cli.hpyp.model.training import Training, TrainingSettings  # load kernels: when there is work

        found, text = list(_sentences(treebank, column)), list(_sentences(unlabelled, column))
        contexts = contexts or (LEXICALISED if lexicalised else UNLEXICALISED)
        kept = kept_iterations(iterations, how_many(states, "states", least=1))
        check_training(found, text, contexts, kept)
        settings = TrainingSettings(secrets.randbits(32) if seed is None else seed, oracle, column)
        complete = Complete(column)
        usable = list(complete.of(found))
        if complete.line:
            warn(complete.line, stacklevel=2)
        trainee = Training(usable, contexts, settings, text)
        for number in range(1, kept[-1] + 1):
            log_likelihood = trainee.iterate(kept)
            if on_iteration is not None:
                on_iteration(number, log_likelihood)
        for _ in range(passes if text else 0):
            trainee.read()
        progress = trainee.progress
        made_by: dict[str, object] = {"column": column, "oracle": oracle, "iterations": kept.start}
        made_by |= {"states": len(kept) if len(kept) > 1 else None, "passes": progress.passes or None}
        return cls(trainee.trained(), signature("hpyp.Parser.train", made_by | {"seed": progress.seed}))

    @classmethod
    def load(cls, path: str | Path) -> Parser:
        """Read a parser from a file that `save` or ``deptree hpyp train`` wrote.

        Raises:
            DeptreeError: the file is not a model, of another version, or damaged.
        """
        from deptree_cli.hpyp.files.model_file import read_model

        return cls(*read_model(str(path)))

    def save(self, path: str | Path) -> None:
        """Write the parser to a file, which appears only when complete."""
        from deptree_cli.hpyp.files.model_file import write_model

        write_model(str(path), self.trained, self.signature)

    def __repr__(self) -> str:
        symbols, progress = self.trained.symbols, self.trained.progress
        words = counted(len(symbols.lexicon.vocabulary.symbols), "word") if symbols.is_lexicalised else "no words"
        numbers = f"{words}, {counted(len(symbols.tags.symbols), 'tag')}, {counted(len(symbols.labels), 'label')}"
        trained = f"{counted(progress.sentences, 'sentence')}, {counted(progress.iterations, 'iteration')}"
        return f"<Parser: {numbers}; {trained}>"

    @property
    def tagset(self) -> Tagset:
        """The CoNLL-U column of its tags: ``upos`` or ``xpos``."""
        return "xpos" if self.trained.progress.tagset == "xpos" else "upos"

    def read(self, *paths: str | Path) -> Iterator[Annotated]:
        """Read the sentences of CoNLL-U files, one at a time, with tags from the parser's column.

        Raises:
            DeptreeError: a file cannot be read, or a sentence is malformed.
        """
        return read_treebank([*map(str, paths)], self.tagset)

    def _annotated(self, sentence: Sentence, predict_tags: bool) -> Annotated:
        found = as_annotated(sentence)
        if not predict_tags:
            self.trained.symbols.check_tags(found)
        return found

    def parse(self, sentence: Sentence, particles: int = PARTICLES, predict_tags: bool = False) -> Parse:
        """Return the best derivation that a search with particles finds: `heads`, `deprels`, `tags`.

        Raises:
            DeptreeError: the sentence has no tag that the parser knows and tags are not predicted, or it cannot predict
                tags.
        """
        from deptree_cli.hpyp.model.parsing import parse

        return parse(self.trained, self._annotated(sentence, predict_tags), particles, predict_tags)

    def filter(
        self,
        sentence: Sentence,
        rng: Randomness | None = None,
        particles: int = PARTICLES,
        predict_tags: bool = False,
        draws: int = 0,
        *,
        seed: int | None = None,
    ) -> Filtered:
        """Run a particle filter: weighted trees of a sentence, `marginals` of arcs, and the evidence of its words.

        Args:
            draws: how many trees to sample by weight.
        """
        from deptree_cli.hpyp.model.parsing import filtered

        found = self._annotated(sentence, predict_tags)
        stream = stream_of(rng, seed, found.sent_id)
        with room_for_trees(how_many(draws)) as size:
            return filtered(self.trained, found, stream, particles, predict_tags, size)

    def sample(
        self,
        sentence: Sentence,
        k: int,
        rng: Randomness | None = None,
        particles: int = PARTICLES,
        predict_tags: bool = False,
        *,
        seed: int | None = None,
    ) -> Heads:
        """Sample k trees, (k, n), from the weighted trees of a filter; if these are few, samples repeat."""
        found = self.filter(sentence, rng, particles, predict_tags, draws=k, seed=seed)
        return found.heads[found.drawn]

    def evidence(
        self,
        sentence: Sentence,
        rng: Randomness | None = None,
        particles: int = PARTICLES,
        predict_tags: bool = False,
        filters: int = FILTERS,
        *,
        seed: int | None = None,
    ) -> Evidence:
        """Estimate the probability of a sentence word by word: `surprisals` in bits, and their errors.

        Args:
            filters: the number of independent filters; two or more give errors.
        """
        from deptree_cli.hpyp.model.parsing import evidence

        found = self._annotated(sentence, predict_tags)
        stream = stream_of(rng, seed, found.sent_id)
        return evidence(self.trained, found, stream, particles, predict_tags, filters)

    def surprisal(
        self,
        sentence: Sentence,
        rng: Randomness | None = None,
        particles: int = PARTICLES,
        predict_tags: bool = False,
        filters: int = FILTERS,
        *,
        seed: int | None = None,
    ) -> Float:
        """Return the surprisals of the words in bits, and that of the end of the sentence: (n+1,).

        They are those of words and tags together, or of words alone if tags are predicted.
        """
        return self.evidence(sentence, rng, particles, predict_tags, filters, seed=seed).surprisals

    def scores(
        self,
        sentence: Sentence,
        rng: Randomness | None = None,
        kind: str = "maxent",
        particles: int = PARTICLES,
        predict_tags: bool = False,
        *,
        seed: int | None = None,
    ) -> TreeDistribution:
        """Return an arc-factored distribution over projective trees, from a filter's marginals.

        Args:
            kind: ``maxent``: the maximum-entropy distribution with these marginals, slightly smoothed; ``log``: their
                logarithms as scores, a heuristic.
        """
        from deptree_cli.hpyp.model.score_matrices import SCORE_KINDS

        found = as_annotated(sentence)  # the filter checks its tags
        marginals = self.filter(found, rng, particles, predict_tags, seed=seed).marginals
        return TreeDistribution(SCORE_KINDS.get(kind).function(marginals), projective=True, id=found.sent_id)

    def generate(
        self, k: int, rng: Randomness | None = None, longest: int = LONGEST, *, seed: int | None = None
    ) -> list[Annotated]:
        """Sample k sentences with their trees, of at most `longest` words; rare words are replaced by their class.

        Raises:
            DeptreeError: the parser hardly ever generates sentences that short.
        """
        from deptree_cli.hpyp.model.parsing import generated

        names = [f"gen-{number}" for number in range(1, how_many(k, "sentences") + 1)]
        chosen = secrets.randbits(32) if rng is None and seed is None else seed
        return [generated(self.trained, name, stream_of(rng, chosen, name), longest) for name in names]


def _sentences(treebank: Treebank, tags: Tagset) -> Iterator[Annotated]:
    for part in [treebank] if isinstance(treebank, str | Path) else treebank:
        yield from [part] if isinstance(part, Annotated) else read_treebank([str(part)], tags)

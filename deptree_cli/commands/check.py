"""``deptree check``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from deptree_cli.cli.options import INPUT, command, opt, reading, use
from deptree_cli.cli.rule_options import Space, met, rules
from deptree_cli.cli.run import Fold, Job, Run, Source
from deptree_cli.cli.terminal import Counted, Table
from deptree_cli.cli.write import ROWS, Out
from deptree_cli.core.errors import counted_thousands
from deptree_cli.io.checking import COLUMNS, AnnotatedTree, Asked, BrokenRules, Counts, Key, possible_names, read_known
from deptree_cli.io.encoders.base import Row, Sheet
from deptree_cli.io.files.streams import share_of

if TYPE_CHECKING:
    from deptree_cli.io.rules.constraints import Constraints


@command()
def check(
    trees: tuple[str, ...] = opt(metavar="TREES...", many=True, type=INPUT),
    rules: Constraints = rules("Rules that trees must obey", ["ud"]),
    known: str | None = reading(
        "--known",
        type=INPUT,
        often=True,
        help="Violations that are meant, left out: rows of sent_id, rule and word, such as --tsv writes.",
    ),
    space: Space = use(Space),
    out: Out = use(Out, formats=ROWS),
    run: Run = use(Run),
) -> int:
    """List the rules that trees in CoNLL-U break (by HEAD, DEPREL, UPOS and FEATS), and heads that are not a tree.

    Writes a row per violation, as JSON Lines or, on a terminal, as a table: the rule; the word that breaks it, with
    form, head and deprel; and `words`, all words whose arcs break it together. Rules about single words and spans are
    called HeadIn, NotHead, DeprelIn, DeprelNot and spans. A table on stderr counts violations by rule. Heads that are
    no tree are violations too: cycles, several roots, missing heads. So are multiword tokens that are not in front of
    their words; `words` has their first and last word.

    Exit status: 0 no rule is broken that is not --known, 1 some are (or sentences were skipped), 2 unusable input.
    """
    meant = {} if known is None else read_known(known)
    fields = {**space.signature_fields, "rules": rules.name, "known": known}
    asked = Asked(rules, space.asked)
    items = Counted(met(asked.in_files(trees), rules, possible_names), share=share_of(trees))
    source = Source(items, asked, fields)
    columns = COLUMNS if len(trees) > 1 else COLUMNS[:-2]
    violations = Violations(rules, meant, known, run)
    code = Job("check", source, run, out).write(
        Check(columns, meant.keys()), sheet=Sheet(columns, "check"), folds=[violations]
    )
    return max(code, int(bool(violations.found)))


class Checked(NamedTuple):
    found: list[Row]
    counted: Counts

    def rows(self) -> list[Row]:
        return self.found


@dataclass(frozen=True)
class Check:
    """Looks for broken rules that are not known; wrong tags are only counted in files whose tags are all others."""

    columns: tuple[str, ...]
    known: Collection[Key]

    def __call__(self, tree: AnnotatedTree, _: None) -> Checked:
        rows, counts = tree.wrong, tree.counts
        keys = [(row["sent_id"], row["rule"], str(row["word"])) for row in rows] if self.known else []
        if known := Counter(key for key in keys if key in self.known):
            rows = [row for row, key in zip(rows, keys, strict=True) if key not in known]
            counts.rules.subtract(rule for _, rule, _ in known.elements())
            counts = counts._replace(rules=+counts.rules, known=known)
        return Checked([{name: row[name] for name in self.columns} for row in rows], counts)


class Violations(BrokenRules, Fold[Counts]):
    """Tells how often each rule is broken, and what `known` violations of a file are left out or no longer there."""

    def __init__(self, constraints: Constraints, known: Mapping[Key, str], file: str | None, run: Run) -> None:
        super().__init__(constraints)
        self._meant, self._file = known, file
        self._all = run.shard == (1, 1)  # of others nobody knows here

    def lines(self) -> Iterator[Table | str]:
        if self.found:
            yield Table("", ("rule", "places", "sentences"), self.found)
        yield from self.notices()
        for (sent_id, rule, word), place in self._meant.items():
            if self._all and (sent_id, rule, word) not in self.known:
                yield f"{place} ({sent_id}): {rule} at word {word} no longer occurs"
        if self.known:
            yield f"{counted_thousands(self.known.total(), 'violation')} known: left out, see {self._file}"
        yield str(self)

"""What rules cost `deptree decode`: sentences that are read already, and whole commands."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from benchmarks.constraints.labelled import Labelled, chosen
from benchmarks.program.whole import measure
from benchmarks.table import Cell, Table
from benchmarks.timing import times
from deptree_cli.commands.decode import Decode, Decoded, StoppingRule
from deptree_cli.core.decoding import METHODS
from deptree_cli.core.dtypes import Bool, Float
from deptree_cli.core.rule_search import BUDGET
from deptree_cli.io.conllu.trees import USUAL
from deptree_cli.io.scores.records import Interpretation, ScoredSentence
from deptree_cli.io.sentence import Sentence

RULES = ["--rules", "ud"]
DECODE = Decode(METHODS.get("mst"), StoppingRule(), BUDGET)


def table(treebank: Labelled) -> Table:
    """Milliseconds of a sentence from its scores to its lines of CoNLL-U, and seconds of the command."""
    rows: list[list[Cell]] = []
    for name, projective in (("", False), (" --projective", True)):
        plain, (records, how) = _spent(treebank, projective, None)
        ruled, (_, obeying) = _spent(treebank, projective, "ud")
        same = _obey(records, how, obeying)
        for which, those in (("plain tree obeys", same), ("it does not", ~same), ("all", same | ~same)):
            of_plain, of_rules = plain[those].sum(), ruled[those].sum()
            per_sentence = [1000 * float(each) / int(those.sum()) for each in (of_plain, of_rules)]
            rows.append([f"decode{name}: {which}", int(those.sum()), *per_sentence, float(of_rules / of_plain)])
        flags = name.split()
        obedient = chosen(treebank, same, treebank.folder / f"obedient{name.strip()}")
        for which, sentences in (("plain tree obeys", obedient), ("all", treebank)):
            seconds = [_command(sentences, [*flags, *given]) for given in ([], RULES)]
            rows.append([f"the command{name}, s: {which}", sentences.size, *seconds, seconds[1] / seconds[0]])
    columns = ("", "sentences", "plain", "--rules ud", "ratio")
    return Table(f"{treebank.language}: time under rules, milliseconds a sentence unless seconds", columns, rows)


Read = tuple[Sequence[Sentence], Interpretation]


def _spent(treebank: Labelled, projective: bool, rules: str | None) -> tuple[Float, Read]:
    """The least processor seconds of each sentence, the records, and how they become distributions."""
    read = list(treebank.read(projective=projective, **({"rules": rules} if rules else {})))
    records, how = [each.record for each in read], read[0].interpretation
    runs = []
    for _ in range(1 + times(3)):
        spent = []
        for record in records:
            start = time.process_time()
            _decoded(record, how).to_conllu(USUAL)
            spent.append(time.process_time() - start)
        runs.append(spent)
    return np.min(runs[1:], axis=0), (records, how)


def _decoded(record: Sentence, how: Interpretation) -> Decoded:
    decoded = DECODE(ScoredSentence(record, how), None)
    assert isinstance(decoded, Decoded)
    return decoded


def _obey(records: Sequence[Sentence], plain: Interpretation, ruled: Interpretation) -> Bool:
    """Of which sentences the tree is the same with rules and without."""
    found = []
    for record in records:
        one, other = (_decoded(record, how) for how in (plain, ruled))
        found.append(np.array_equal(one.heads, other.heads) and np.array_equal(one.labels, other.labels))
    return np.array(found)


def _command(treebank: Labelled, flags: Sequence[str]) -> float:
    """The processor seconds of the command, the least of three."""
    out = treebank.path("out.conllu")
    command = ["decode", *treebank.arguments, *flags, "-q", "-o", out]
    return min(measure(command)[0] for _ in range(times(3)))

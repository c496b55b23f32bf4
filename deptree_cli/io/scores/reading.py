"""Read score files as the commands do: for Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypedDict, Unpack

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import Short
from deptree_cli.io.prepared import prepared
from deptree_cli.io.rules.constraints import read_constraints
from deptree_cli.io.scores.files import ScoreFiles
from deptree_cli.io.scores.labels import layout_of_arcs, read_labels
from deptree_cli.io.scores.meta import space_of
from deptree_cli.io.scores.presets import layout
from deptree_cli.io.scores.records import Interpretation, ScoredSentence
from deptree_cli.io.scores.source import ScoreSource
from deptree_cli.io.scores.temperatures import temperature_of

# What of `ReadOptions` says how a matrix becomes a distribution, under the same names.
CHOSEN = ("fix_heads", "relax", "budget")


class ReadOptions(TypedDict, total=False):
    """How `read` reads, each as the option of that name on the command line.

    preset: the layout (--from), as far as the file does not say it itself. labels, label_scores, lengths: paths.
    space, single_root, projective: as of `TreeDistribution`; projective always if the file says so. temperature (a
    number, or the path of a calibration), fix_heads: as there. rules: `ud`, `tree`, `misc` or a file, or several of
    these. relax: whether the fewest rules are given up where no tree obeys, with what is left of the others
    (`ScoredSentence.given_up` names them). budget: maximum trees that a sentence may cost for it.
    """

    preset: str
    labels: str
    label_scores: str
    lengths: str
    space: str
    single_root: bool
    projective: bool
    temperature: float | str
    fix_heads: bool
    rules: str | Sequence[str]
    relax: bool
    budget: int


def read(
    scores: str,
    conllu: str | None = None,
    *,
    on_error: Callable[[DeptreeError], None] | None = None,
    **options: Unpack[ReadOptions],
) -> Iterator[ScoredSentence]:
    """Read the sentences of a score file, one at a time, as the commands do.

    Args:
        scores: path of a file in any container; `-` is standard input.
        conllu: path of the sentences of these scores, in CoNLL-U.
        on_error: called with the error of each sentence that cannot be used, which is then left out.
        options: preset, labels, label_scores, lengths, space, single_root, projective,
            temperature, fix_heads, rules, relax and budget, as on the command line (`ReadOptions`).

    Raises:
        DeptreeError: a file cannot be read, or (without `on_error`) a sentence cannot be used.
    """
    names, label_scores = options.get("labels"), options.get("label_scores")
    if options.get("fix_heads") and not conllu:
        raise DeptreeError("fix_heads needs the sentences", "Name them with conllu")
    chosen: dict[str, Any] = {"relax": False} | {name: value for name, value in options.items() if name in CHOSEN}
    chosen["temperature"] = temperature_of(options.get("temperature", 1.0))
    source = ScoreSource(scores)
    arcs = layout_of_arcs(source.layout(layout(options.get("preset"))), names is not None, label_scores is not None)
    short: Short = {"single_root": options.get("single_root"), "projective": options.get("projective")}
    chosen["space"] = space_of(source.meta.trees, options.get("space"), **short)
    rules = options.get("rules", ())
    chosen["constraints"] = read_constraints([rules] if isinstance(rules, str) else rules)
    how = Interpretation(arcs, read_labels(names) if names else None, **chosen)
    feats = how.constraints is not None and how.constraints.rules.ask_feats
    files = ScoreFiles(source, conllu, options.get("lengths"), label_scores, feats=feats)
    return prepared(files.read(arcs), how, on_error)

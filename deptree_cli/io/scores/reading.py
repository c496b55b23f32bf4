"""Read score files as the commands do: for Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypedDict, Unpack, cast

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import Short
from deptree_cli.io.prepared import prepared
from deptree_cli.io.rules.constraints import read_constraints
from deptree_cli.io.scores.calibrated import temperatures
from deptree_cli.io.scores.files import ScoreFiles
from deptree_cli.io.scores.labels import LABEL_AXIS, read_labels
from deptree_cli.io.scores.meta import space_of
from deptree_cli.io.scores.presets import layout
from deptree_cli.io.scores.records import Interpretation, ScoredSentence
from deptree_cli.io.scores.source import ScoreSource

# What of `ReadOptions` says how a matrix becomes a distribution, under the same names.
CHOSEN = ("temperature", "nan_forbids", "fix_heads", "relax", "budget")


class ReadOptions(TypedDict, total=False):
    """How `read` reads, each as the option of that name on the command line.

    preset: the parser whose layout it is (--from). It and the next three answer what the file does not say of itself.
    orient, root, scale: single answers beside the preset. labels, label_scores, lengths: paths. space, single_root,
    projective: as of `TreeDistribution`; projective always if the file says so. temperature, nan_forbids, fix_heads,
    calibrated (a path): as there. rules: `ud`, `tree`, `misc` or a file, or several of these. relax: whether the fewest
    rules are given up where no tree obeys, with what is left of the others (`ScoredSentence.given_up` names them).
    budget: maximum trees that a sentence may cost for it.
    """

    preset: str
    orient: str
    root: str
    scale: str
    labels: str
    label_scores: str
    lengths: str
    space: str
    single_root: bool
    projective: bool
    temperature: float
    calibrated: str
    nan_forbids: bool
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
        on_error: called with what is wrong with a sentence that cannot be used, which is then left out.
        options: preset, orient, root, scale, labels, label_scores, lengths, space, single_root, projective,
            temperature, calibrated, nan_forbids, fix_heads, rules, relax and budget, as on the
            command line (`ReadOptions`).

    Raises:
        DeptreeError: a file cannot be read, or (without `on_error`) a sentence cannot be used.
    """
    names, label_scores = options.get("labels"), options.get("label_scores")
    if label_scores and not names:
        raise DeptreeError("label_scores needs the names of the labels", "Name their file with labels")
    if options.get("fix_heads") and not conllu:
        raise DeptreeError("fix_heads needs the sentences", "Name them with conllu")
    chosen: dict[str, Any] = {"relax": False} | {name: value for name, value in options.items() if name in CHOSEN}
    if path := options.get("calibrated"):
        chosen |= temperatures(path, options.get("temperature", 1.0))
    source = ScoreSource(scores)
    answers = [cast(str | None, options.get(name)) for name in ("preset", "orient", "root", "scale")]
    found = source.layout(layout(*answers))
    with_labels = replace(found, labels=found.labels or LABEL_AXIS)
    arcs = with_labels if names and not label_scores else replace(found, labels=None)
    short: Short = {"single_root": options.get("single_root"), "projective": options.get("projective")}
    chosen["space"] = space_of(source.meta.trees, options.get("space"), **short)
    rules = options.get("rules", ())
    chosen["constraints"] = read_constraints([rules] if isinstance(rules, str) else rules)
    how = Interpretation(arcs, with_labels, read_labels(names) if names else None, **chosen)
    files = ScoreFiles(source, conllu, options.get("lengths"), label_scores)
    return prepared(files.read(arcs, with_labels), how, on_error)

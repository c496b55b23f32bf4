"""Rules by name or from a file, and what they know of a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from deptree_cli.core.errors import DeptreeError, counted, did_you_mean, nearest, one_of
from deptree_cli.core.labels import ROOT, Labels, is_special
from deptree_cli.core.rule_words import Words
from deptree_cli.core.ruleset import Ruleset, joined, ruleset_of
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.columns import decoded

# Ours: those of Universal Dependencies, and nothing but a tree.
NAMES = UD, TREE = "ud", "tree"

# Labels of UD v1, and what they became.
SUCCESSORS = {
    "dobj": "obj",
    "nsubjpass": "nsubj:pass",
    "csubjpass": "csubj:pass",
    "auxpass": "aux:pass",
    "neg": "advmod",
    "mwe": "fixed",
    "name": "flat",
    "foreign": "flat:foreign",
    "remnant": "orphan",
}

# So many names are told of those that nobody else knows.
MOST_NAMED = 10

_SUFFIX = ".toml"
_EXT_POS = "ExtPos="


def read_rules(name: str) -> Ruleset:
    if not name.endswith(_SUFFIX) and name not in NAMES:
        remedy = did_you_mean(name, NAMES, f"{one_of((*NAMES, 'misc'))}, or name a .toml or .tsv file")
        if name.removesuffix(".gz").endswith(".jsonl"):
            remedy = "Constraints of words are rows between tabs: sent_id, word, key, value; or sent_id, first, last"
        raise DeptreeError(f"there are no rules {name!r}", remedy)
    return _rules_of(text_of(name), name)


@lru_cache(8)
def _rules_of(text: str, name: str) -> Ruleset:
    """The rules of a file's text: by it they are kept, for a file may change."""
    import tomllib

    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise DeptreeError(f"it is no TOML: {error}", "Repair it", place=name) from None
    version = f"-{table['version']}" if table.get("version") else ""
    try:
        return ruleset_of(f"{name}{version}", table)
    except DeptreeError as error:
        raise error.at(name) from None


def text_of(name: str) -> str:
    """What rules of a name, or of a file, say as a file."""
    if name in NAMES:
        return files("deptree_cli.io.rules").joinpath(f"{name}{_SUFFIX}").read_text(encoding="utf-8")
    try:
        return Path(name).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DeptreeError(str(error.strerror), "Name a file of rules", place=name) from None
    except UnicodeDecodeError:
        raise DeptreeError("it is not UTF-8", "Convert the file to UTF-8", place=name) from None


class Names(NamedTuple):
    """What words have of what rules may name, and the keys of constraints that they have by themselves."""

    label: frozenset[str] = frozenset()
    upos: frozenset[str] = frozenset()
    feats: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()

    def __or__(self, other: Names) -> Names:
        return Names(*(mine if more <= mine else mine | more for mine, more in zip(self, other, strict=True)))


def names_in(words: Words, labels: Iterable[str], keys: Iterable[str] = ()) -> Names:
    tags = frozenset(tag for tag in {*words.upos, *words.tags} if tag is not None)
    return Names(frozenset(labels), tags, frozenset[str]().union(*words.feats), frozenset(keys))


def unknown_names(rules: Ruleset, names: Names, where: str) -> str:
    """What there is to say of names in rules that neither ours nor the data have, as `where` says.

    Nothing of what no word has at all: UPOS, or features.
    """
    said, ours = [], joined(read_rules(name) for name in NAMES)
    for kind, column in (("label", "labels"), ("upos", "UPOS"), ("feats", "FEATS")):
        of_words: frozenset[str] = getattr(names, kind)
        known = sorted({*of_words, *ours.names[kind], *(rules.upos if kind == "upos" else ())})
        found = rules.unknown(kind, known) if of_words - {"_"} else []
        near = ((each, nearest(each, known)) for each in found[:MOST_NAMED])
        named = [f"{each!r}" + f" (did you mean {other}?)" * bool(other) for each, other in near]
        said += [f"{column} {where}: {_listed(named, len(found))}"] if found else []
    return f"{rules.name} names {'; '.join(said)}" if said else ""


def successors(label: str, upos: str | None = None) -> tuple[str, str]:
    """For what a label of a word may stand that is not allowed: its name in UD v2, without capitals; and no subtype."""
    lower = label.lower()
    found = SUCCESSORS.get(lower) or SUCCESSORS.get(lower.partition(":")[0], lower)
    return "det" if (lower, upos) == ("neg", "DET") else found, found.partition(":")[0]


def old_labels(rules: Ruleset, labels: Iterable[str]) -> str:
    """What there is to say of labels of UD v1 that rules forbid wherever they stand; nothing if there are none."""
    forbidden = chain.from_iterable(rules.labels_forbidden(sorted(labels)).values())
    old = sorted({label for label in forbidden if label.lower().partition(":")[0] in SUCCESSORS})
    named = ", ".join(f"{label} (in v2 {successors(label)[0]})" for label in old)
    return f"labels of UD v1: {named}" if old else ""


def forbidden_labels(rules: Ruleset, labels: Iterable[str]) -> str:
    """What there is to say of labels of scores that rules forbid wherever they stand; nothing if there are none."""
    usual = [label for label in labels if not (is_special(label) or label == ROOT)]
    by_rule = rules.labels_forbidden(usual)
    found = [label for label in usual if any(label in each for each in by_rule.values())]
    named = f"({', '.join(by_rule)}): {_listed([repr(each) for each in found[:MOST_NAMED]], len(found))}"
    if found and len(found) == len(usual):
        problem = f"{rules.name} forbids every label of the scores but root {named}"
        raise DeptreeError(problem, "Leave these rules out: --rules show prints ours as a file to change")
    return f"{rules.name} forbids {counted(len(found), 'label')} of the scores {named}" if found else ""


def _listed(named: Sequence[str], size: int) -> str:
    return ", ".join(named) + (f" and {size - MOST_NAMED} others" if size > MOST_NAMED else "")


def words_of(block: Block | None, n: int, labels: Labels | None) -> Words:
    """What rules know of a sentence of n words: nothing of its words where there is no CoNLL-U."""
    names = ("",) if labels is None else labels.names
    if block is None:
        return Words(names, [None] * n, [frozenset()] * n)
    cells = [(tag, feats) for number, tag, feats in block.cells("id", "upos", "feats") if number.isdigit()]
    try:
        upos, feats, tags = zip(*(_word(*each, block.chunk.feats) for each in cells), strict=True)
    except UnicodeDecodeError:
        for each in chain.from_iterable(cells):
            decoded(each, block.place)
        raise
    return Words(names, upos, feats, tags=tags)


@lru_cache(1 << 14)  # sentences have the same few
def _word(tag: bytes, feats: bytes, has_feats: bool) -> tuple[str | None, frozenset[str], str | None]:
    """What is known of a word: the part of speech that it acts as, its features, and what stands in UPOS."""
    own = None if tag == b"_" else tag.decode()
    known = frozenset(feats.decode().split("|")) if has_feats or feats != b"_" else frozenset[str]()
    outer = next((each.removeprefix(_EXT_POS) for each in known if each.startswith(_EXT_POS)), own)
    return None if outer == "_" else outer, known, own

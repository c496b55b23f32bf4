"""The page of a report: one HTML file with its style, scripts and data inside, which asks the network for nothing.

The data are text in JSON, of which `<` is escaped, so that no form, label or comment of a treebank can end the element
that it stands in; and arrays in base64. The page's policy admits its own script and style, by their hashes, and nothing
else.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from heapq import heappush, heapreplace
from html import escape
from importlib.resources import files

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from deptree_cli.core.dtypes import Float
from deptree_cli.core.spaces import TreeSpace
from deptree_cli.io.conllu.blocks import separator
from deptree_cli.io.conllu.columns import BOM, COMMENT_PREFIX, COMMENTS, MISC, FileColumns
from deptree_cli.io.pages.packing import NO_HEAD, OnPage, PackedSentence
from deptree_cli.io.pictures.arcs import shown_form

# In the order in which they stand in the page; each uses only those before it while it is loaded.
SCRIPTS = (
    "dom.js",
    "data.js",
    "numbers.js",
    "sums.js",
    "sampling.js",
    "choice.js",
    "geometry.js",
    "drawing.js",
    "marks.js",
    "list.js",
    "words.js",
    "caption.js",
    "playing.js",
    "sentence.js",
    "charts.js",
    "panel.js",
    "app.js",
)

_FOLDER = files("deptree_cli.io.pages") / "report"


@dataclass(frozen=True)
class Report:
    """What the page shows beside its sentences.

    Attributes:
        title: what was read; empty for the name of its first sentence.
        space: which trees there are.
        labels: names of the labels that scores tell.
        has_gold: whether heads are known to be right, and so calibration is shown.
        has_rules: whether rules were counted.
        top: how many sentences there are at most, the most doubtful ones.
    """

    title: str
    space: TreeSpace
    labels: Sequence[str] = ()
    has_gold: bool = False
    has_rules: bool = False
    top: int = 1


class MostDoubtful:
    """The sentences of the highest expected errors, in the order of the file.

    Args:
        top: how many are kept.

    Attributes:
        total: how many there are of all.
    """

    def __init__(self, top: int) -> None:
        self._top = top
        self._kept: list[tuple[float, int, PackedSentence]] = []
        self.total = 0

    def add(self, sentence: PackedSentence | OnPage) -> None:
        self.total += 1
        rank = sentence.doubt, -self.total
        if len(self._kept) < self._top:
            heappush(self._kept, (*rank, sentence.packed()))
        elif rank > self._kept[0][:2]:
            heapreplace(self._kept, (*rank, sentence.packed()))

    def __iter__(self) -> Iterator[PackedSentence]:
        for _, _, sentence in sorted(self._kept, key=lambda each: -each[1]):
            yield sentence


def to_html(report: Report, signature: str, sentences: MostDoubtful) -> bytes:
    kept = list(sentences)
    title = report.title or shown_form(kept[0].sent_id)
    style = _text("report.css")
    script = "\n".join(['"use strict";', *(_text(f"js/{name}") for name in SCRIPTS)])
    fields = {
        "title": escape(title),
        "policy": f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'",
        "style": style,
        "data": _as_data(_data(report, title, signature, sentences.total, kept)),
        "script": script,
    }
    page = _text("report.html")
    head, *pieces = page.split("{{")
    return "".join(
        [head, *(fields[name] + rest for name, _, rest in (each.partition("}}") for each in pieces))]
    ).encode()


def _text(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _as_data(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _as_file(texts: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """The CoNLL-U of sentences of any files, each such that the next can follow it, and their columns."""
    columns = FileColumns(None)
    ended = [text + separator(text.encode()).decode() for text in texts[:-1]] + texts[-1:]
    first = [columns.first(text.encode()) for text in ended[:1]]
    others = [columns.another(text.encode().removeprefix(BOM)) for text in ended[1:]]
    return [each.decode() for each in first + others], columns.names


def _data(
    report: Report, title: str, signature: str, total: int, sentences: Sequence[PackedSentence]
) -> dict[str, object]:
    conllu, columns = _as_file([each.text for each in sentences])
    arrays = {
        "lengths": _packed([len(each.tree) for each in sentences], "<u2"),
        "computes": _packed([each.computes for each in sentences], "u1"),
        "masks": _joined((np.packbits(each.mask.ravel()) for each in sentences), "u1"),
        "numbers": _joined((each.numbers for each in sentences), "<f4"),
        "trees": _joined((each.tree for each in sentences), "<u2"),
        "best": _joined((each.best for each in sentences), "<u2"),
        "gold": _joined((each.gold for each in sentences), "<u2") if report.has_gold else "",
        "treeProbs": _joined((_share(each.probs[0]) for each in sentences), "<u2"),
        "bestProbs": _joined((_share(each.probs[1]) for each in sentences), "<u2"),
        "labelCounts": _packed([len(each.labels) for each in sentences], "<u4"),
        "labels": _joined((each.labels.ravel() for each in sentences), "<u2"),
        "facts": _joined((np.array(each.facts) for each in sentences), "<f8"),
        "sampleCounts": _packed([len(each.samples) for each in sentences], "<u4"),
        "samples": _joined((each.samples.ravel() for each in sentences), "<u2"),
    }
    found: dict[str, object] = {
        "title": title,
        "signature": signature,
        "total": total,
        "singleRoot": report.space.single_root,
        "noHead": NO_HEAD,
        "labels": list(report.labels),
        "hasRules": report.has_rules,
        "ids": [each.sent_id for each in sentences],
        "conllu": conllu,
        "columns": columns,
        "broken": [[list(place) for place in each.broken] for each in sentences] if report.has_rules else [],
        "stale": {"comments": _names(COMMENTS), "prefix": COMMENT_PREFIX.decode(), "misc": _names(MISC)},
        "arrays": arrays,
    }
    # Marks are kept for this file, whatever it is called and wherever it stands.
    found["key"] = sha256(_as_data([found["ids"], found["conllu"], arrays["numbers"]]).encode()).hexdigest()[:16]
    return found


def _names(keys: Iterable[bytes]) -> list[str]:
    return sorted(key.decode() for key in keys)


def _share(probabilities: Float) -> Float:
    return np.round(np.clip(probabilities, 0, 1) * 0xFFFF)


def _packed(values: ArrayLike, dtype: DTypeLike) -> str:
    return b64encode(np.asarray(values).astype(dtype).tobytes()).decode()


def _joined(pieces: Iterable[ArrayLike], dtype: DTypeLike) -> str:
    return _packed(np.concatenate([np.zeros(0), *pieces]), dtype)

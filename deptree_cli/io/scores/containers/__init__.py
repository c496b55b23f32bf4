"""Containers of scores: what they are, the register of them, and how a file's own is recognised.

A container is an entry in `CONTAINERS` with a module that reads and writes it, loaded for the first such file; or a
`Container` that another package offers under the entry point ``deptree.containers``.
"""

from __future__ import annotations

from abc import abstractmethod
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import Any, NoReturn, Protocol

from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError, located
from deptree_cli.core.register import Register, imported
from deptree_cli.io.files.output import CONLLU_SUFFIXES
from deptree_cli.io.files.streams import Input, open_input
from deptree_cli.io.scores.arrays import MAGIC, NO_EXTRAS, Extras, RawScores, ReadSpec, Source
from deptree_cli.io.scores.meta import NOTHING, Meta


class ScoreFile(Protocol):
    """An opened score file.

    One whose sentences come with their words has an attribute `words` that is True, and one that holds scores of labels
    beside those of arcs has the names of these, `labels`.
    """

    @property
    def meta(self) -> Meta:
        """What the file says of itself; one that may have sorted the sentences by name is not `ordered`."""

    def read(self, matrices: ReadSpec) -> Source:
        """Return what is in the file; to be called once, because the file may be a pipe."""


class Entries(Mapping[str, RawScores]):
    """An opened score file whose matrices have keys (`names`: as in the file); each is loaded when it is asked for."""

    def __init__(self, names: Mapping[str, str], place: str, meta: Meta = NOTHING) -> None:
        self.names = names
        self.place = place
        self.meta = meta

    def read(self, matrices: ReadSpec) -> Source:
        return self

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, key: object) -> bool:
        return key in self.names

    def __getitem__(self, key: str) -> RawScores:
        return RawScores(key, self.load(key), self.place_of(key))

    def place_of(self, key: str) -> str:
        return f"{self.place}[{key}]"

    def conllu(self, key: str) -> bytes:
        """The sentence in CoNLL-U, if it is kept."""
        return b""

    @abstractmethod
    def load(self, key: str) -> Array:
        """Return the array under a key; KeyError if there is none, DeptreeError if it is not one of numbers."""


class Write(Protocol):
    """Writes one sentence's scores under its name, with extras if there is a place for them.

    `beside`: what the array is beside the sentence's own, one of `npz.BESIDE`; empty for its own.
    """

    def __call__(self, sent_id: str, scores: Array, extras: Extras = NO_EXTRAS, beside: str = "") -> None: ...


# Whether a container keeps what a file says of itself.
ALWAYS, WITH_HEADER, NEVER = "always", "with header", "never"


@dataclass(frozen=True, slots=True)
class Container:
    """A format of score files.

    Attributes:
        suffixes: of its files, with their dot and in small letters, the usual one first.
        matches: whether a file that begins with these bytes is one.
        open: reads from the stream alone: it may be a file, unpacked from gzip, standard input or a pipe.
        write: opens an output: its path (None is standard output), what it says of itself, and whether on a line of its
            own; None for a container that is only read.
        refused: whether it is known only to say why it is not read; any other container may take its files over.
        named: whether it keeps the names of sentences.
        holds_arrays: whether it holds arrays of any kind, and not scores alone.
        keeps: whether it keeps its `Meta`: always, never, or if that is shown on a line of its own.
        keeps_extras: whether it keeps the sentences and scores of labels beside those of arcs.
    """

    name: str
    suffixes: tuple[str, ...]
    matches: Callable[[bytes], bool]
    open: Callable[[Input], AbstractContextManager[ScoreFile]]
    write: Callable[[str | None, Meta, bool], AbstractContextManager[Write]] | None = None
    refused: bool = False
    named: bool = True
    holds_arrays: bool = True
    keeps: str = ALWAYS
    keeps_extras: bool = False

    def keeps_meta(self, shown: bool) -> bool:
        """Whether a file says of itself how it is to be read, if that is shown on a line of its own or not."""
        return self.keeps == ALWAYS or (self.keeps == WITH_HEADER and shown)


def starting(*magics: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.startswith(magics)


def _of(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """`open` and `write` of a module here, which is loaded when one of them is called."""

    def call(verb: str, *args: Any) -> Any:
        return imported(f".{name}:{verb}_{name}", __name__)(*args)

    return partial(call, "open"), partial(call, "write")


def _refused(name: str, suffixes: tuple[str, ...], magics: tuple[bytes, ...], problem: str, remedy: str) -> Container:
    """A container that is not read; `magics`: first bytes, any of them."""

    def refuse(file: Input) -> NoReturn:
        raise DeptreeError(problem, remedy, place=file.place)

    return Container(name, suffixes, starting(*magics), refuse, refused=True)


TORCH = _refused(
    *("torch", (".pt", ".pth", ".bin"), ()),
    "a torch file may run code when it is loaded, so it is refused",
    "Convert it in Python (of a dict, the entry that holds the scores): "
    "np.savez('scores.npz', *[s.numpy() for s in torch.load('FILE.pt', weights_only=True)])",
)

# What is wrong with a file of sentences where scores belong.
SENTENCES = "these are sentences (CoNLL-U), not scores"

CONTAINERS = Register(
    "container",
    [
        Container("npz", (".npz",), starting(b"PK\x03\x04", b"PK\x05\x06"), *_of("npz"), keeps_extras=True),
        Container("npy", (".npy", ".npys"), starting(MAGIC), *_of("npy"), named=False, keeps=NEVER),
        Container(
            *("safetensors", (".safetensors",), lambda head: head[4:8] == bytes(4) and head[8:9] == b"{"),
            *_of("safetensors"),
        ),
        # Not .json, which is one value for a whole file: what begins like JSON is read, but never written so.
        Container(
            "jsonl",
            (".jsonl", ".ndjson"),
            lambda head: head.removeprefix(BOM_UTF8).lstrip().startswith((b"{", b"[")),
            *_of("jsonl"),
            holds_arrays=False,
            keeps=WITH_HEADER,
            keeps_extras=True,
        ),
        TORCH,
        _refused(
            *("pickle", (".pkl", ".pickle", ".joblib"), (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")),
            "a pickle runs code when it is loaded, so it is refused",
            "If you trust it, convert it in Python with np.savez('scores.npz', *pickle.load(open('FILE.pkl', 'rb')))",
        ),
        _refused(
            *("hdf5", (".h5", ".hdf5"), (b"\x89HDF\r\n\x1a\n",)),
            "HDF5 is not read",
            "Convert it in Python with np.savez('scores.npz', **{k: v[()] for k, v in h5py.File('FILE.h5').items()})",
        ),
        _refused(
            *("conllu", CONLLU_SUFFIXES, (b"#", b"1\t", BOM_UTF8 + b"#", BOM_UTF8 + b"1\t")),
            SENTENCES,
            "Name the file of scores first and the sentences with --conllu; for trees without scores use deptree "
            "show, report, check, repair, measure, eval, agree, diff or combine",
        ),
    ],
    group="deptree.containers",
)


@contextmanager
def open_scores(path: str) -> Iterator[ScoreFile]:
    with open_input(path) as file, ExitStack() as opened:
        with located(file.place):
            scores = opened.enter_context(_recognised(file, path).open(file))
        yield scores


def _recognised(file: Input, path: str) -> Container:
    """The container that knows the first bytes, else the suffix, which also decides between several.

    What is refused comes last, so that another package may read it after all.
    """
    suffix = PurePath(path.removesuffix(".gz")).suffix.lower()
    found = _matching(CONTAINERS.known, file.head, suffix)
    if found is None or found.refused or suffix not in found.suffixes:
        found = _matching(list(CONTAINERS), file.head, suffix)  # maybe another package knows better
    if found is None:
        usual = [container.suffixes[0] for container in CONTAINERS if container.write]
        raise DeptreeError(
            "neither the name nor the first bytes tell what container of scores this is",
            f"Save the scores as {', '.join(usual[:-1])} or {usual[-1]}",
            place=file.place,
        )
    return found


def _matching(known: Sequence[Container], head: bytes, suffix: str) -> Container | None:
    found = [each for each in known if each.matches(head)] or [each for each in known if suffix in each.suffixes]
    return min(found, key=lambda each: (each.refused, suffix not in each.suffixes), default=None)

"""Containers that are recognised only to say why they are not read and how to convert them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.files.streams import Input
from deptree_cli.io.scores.containers.base import Container, starting


@dataclass(frozen=True, slots=True)
class Refusal:
    """A container that is not read: how to recognise it, why it is not, and what to do.

    Attributes:
        name: how it is called.
        suffixes: of its file names.
        magics: first bytes, any of them.
    """

    name: str
    suffixes: tuple[str, ...]
    magics: tuple[bytes, ...]
    problem: str
    remedy: str

    def error(self, place: str) -> DeptreeError:
        """Build the error of a file at this place."""
        return DeptreeError(self.problem, self.remedy, place=place)

    def refuse(self, file: Input) -> NoReturn:
        """Raise the error of an opened file."""
        raise self.error(file.place)


TORCH = Refusal(
    "torch",
    (".pt", ".pth", ".bin"),
    (),
    "a torch file may run code when it is loaded, so it is refused",
    "Convert it in Python (of a dict, the entry that holds the scores): "
    "np.savez('scores.npz', *[s.numpy() for s in torch.load('FILE.pt', weights_only=True)])",
)

PICKLE = Refusal(
    "pickle",
    (".pkl", ".pickle", ".joblib"),
    (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"),
    "a pickle runs code when it is loaded, so it is refused",
    "If you trust it, convert it in Python with np.savez('scores.npz', *pickle.load(open('FILE.pkl', 'rb')))",
)

HDF5 = Refusal(
    "hdf5",
    (".h5", ".hdf5"),
    (b"\x89HDF\r\n\x1a\n",),
    "HDF5 is not read",
    "Convert it in Python with np.savez('scores.npz', **{k: v[()] for k, v in h5py.File('FILE.h5').items()})",
)

CONLLU = Refusal(
    "conllu",
    (".conllu", ".conllup", ".cupt", ".conll"),
    (b"#", b"1\t", b"\xef\xbb\xbf#", b"\xef\xbb\xbf1\t"),
    "these are sentences (CoNLL-U), not scores",
    "Name the file of scores first and the sentences with --conllu; for trees without scores see deptree eval, agree, "
    "check and combine",
)

CONTAINERS = tuple(
    Container(known.name, known.suffixes, starting(*known.magics), known.refuse, refused=True)
    for known in (TORCH, PICKLE, HDF5, CONLLU)
)

"""Containers that are recognised only to say why they are not read and how to convert them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from deptree_cli.core.errors import DeptreeError


@dataclass(frozen=True, slots=True)
class Refusal:
    """A container we do not read: how to know it, why, and what to do.

    Attributes:
        suffixes: of its file names.
        magics: first bytes, any of them.
    """

    suffixes: tuple[str, ...]
    magics: tuple[bytes, ...]
    problem: str
    remedy: str


TORCH = Refusal(
    (".pt", ".pth", ".bin"),
    (),
    "a torch file may run code when it is loaded, so it is refused",
    "Convert it in Python (the README has the three lines, also for a dict): "
    "np.savez('scores.npz', *[s.numpy() for s in torch.load('FILE.pt', weights_only=True)])",
)

PICKLE = Refusal(
    (".pkl", ".pickle", ".joblib"),
    (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"),
    "a pickle runs code when it is loaded, so it is refused",
    "If you trust it, convert it in Python with np.savez('scores.npz', *pickle.load(open('FILE.pkl', 'rb')))",
)

HDF5 = Refusal(
    (".h5", ".hdf5"),
    (b"\x89HDF\r\n\x1a\n",),
    "HDF5 is not read",
    "Convert it in Python with np.savez('scores.npz', **{k: v[()] for k, v in h5py.File('FILE.h5').items()})",
)

CONLLU = Refusal(
    (".conllu", ".conll"),
    (b"#", b"1\t", b"\xef\xbb\xbf#", b"\xef\xbb\xbf1\t"),
    "these are sentences (CoNLL-U), not scores",
    "Name the file of scores first and the sentences with --conllu",
)

REFUSALS = (TORCH, PICKLE, HDF5, CONLLU)


def refuse(container: Refusal, place: str) -> NoReturn:
    """Raise the DeptreeError of this container."""
    raise DeptreeError(container.problem, container.remedy, place=place)

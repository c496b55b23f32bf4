"""Containers that are recognised only to say why they are not read and how to convert them."""

from __future__ import annotations

from typing import NoReturn

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.files.streams import Input
from deptree_cli.io.scores.containers.base import Container, starting

# What is wrong with a file of sentences where scores belong.
SENTENCES = "these are sentences (CoNLL-U), not scores"


def _refused(name: str, suffixes: tuple[str, ...], magics: tuple[bytes, ...], problem: str, remedy: str) -> Container:
    """A container that is not read; `magics`: first bytes, any of them."""

    def refuse(file: Input) -> NoReturn:
        raise DeptreeError(problem, remedy, place=file.place)

    return Container(name, suffixes, starting(*magics), refuse, refused=True)


TORCH = _refused(
    "torch",
    (".pt", ".pth", ".bin"),
    (),
    "a torch file may run code when it is loaded, so it is refused",
    "Convert it in Python (of a dict, the entry that holds the scores): "
    "np.savez('scores.npz', *[s.numpy() for s in torch.load('FILE.pt', weights_only=True)])",
)

CONTAINERS = (
    TORCH,
    _refused(
        "pickle",
        (".pkl", ".pickle", ".joblib"),
        (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"),
        "a pickle runs code when it is loaded, so it is refused",
        "If you trust it, convert it in Python with np.savez('scores.npz', *pickle.load(open('FILE.pkl', 'rb')))",
    ),
    _refused(
        "hdf5",
        (".h5", ".hdf5"),
        (b"\x89HDF\r\n\x1a\n",),
        "HDF5 is not read",
        "Convert it in Python with np.savez('scores.npz', **{k: v[()] for k, v in h5py.File('FILE.h5').items()})",
    ),
    _refused(
        "conllu",
        (".conllu", ".conllup", ".cupt", ".conll"),
        (b"#", b"1\t", b"\xef\xbb\xbf#", b"\xef\xbb\xbf1\t"),
        SENTENCES,
        "Name the file of scores first and the sentences with --conllu; for trees without scores see deptree eval, "
        "agree, check and combine",
    ),
)

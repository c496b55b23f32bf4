"""Arrays as the bytes of files."""

from __future__ import annotations

import io

import numpy as np


def npy(*arrays):
    """A .npy, or several one after another."""
    stream = io.BytesIO()
    for array in arrays:
        np.save(stream, array)
    return stream.getvalue()


def npz(*arrays, **named):
    """A .npz whose entries are packed."""
    stream = io.BytesIO()
    np.savez_compressed(stream, *arrays, **named)
    return stream.getvalue()


def header(shape, descr="'<f4'"):
    """How a .npy begins that says so of itself."""
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text

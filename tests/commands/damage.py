"""How files of every kind are damaged: anywhere, or where a reader looks, with lengths and checksums that agree."""

from __future__ import annotations

import gzip
import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from random import Random
from typing import Any

Mutation = Callable[[Random, bytes], bytes]

# What stands for a number, a name or a field where something else is meant.
TOKENS = [
    *("", " ", "\t", "\n", "\r\n", "\n\n", "\0", "_", "#", "-", "/", "|", "=", '"', "\\", "[", "]", "{", "}", "null"),
    *("0", "-1", "1", "2", "1.5", "1e5", "1e400", "-1e400", "1e-400", "-1e32", "NaN", "Infinity", "-Infinity"),
    *("9" * 19, "9" * 400, "9" * 5000, "-" + "9" * 30, "1_0", "٣", "²", "0x10", "1-2", "1.1", "0.1", "nan", "inf"),
    *('"x"', '"\\ud800"', '"a\\nb"', '"\\u0000"', '"../x"', '"' + "x" * 70_000 + '"', "# sent_id = en-1", "\u2028"),
    *("[" * 900, "[" * 100_000, "[[]]", '{"scores":' * 400, "[[0,1],[0,0]]", '"sent_id"', '"heads"', "\x1b[31m"),
]
JSON_VALUES = [
    *(None, True, -1, 0, 1, 2, 0.5, 1e308, -1e308, 1e-320, 10**19, 10**400, float("nan"), float("inf"), -float("inf")),
    *("", "x", "en-1", "deptree", "deptree|convert|from:x", "a\nb", "\0", "\ud800", "\x1b[31m", "x" * 70_000, "é"),
    *([], {}, [[]], [None], [0, 1], [[0, 1], [0, 0]]),
]
BYTES = [bytes([value]) for value in (0, 1, 9, 10, 13, 32, 35, 45, 57, 95, 127, 128, 254, 255)]
NUMBERS = [0, 1, 2, 3, 9, 127, 255, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63, 2**64 - 1]
SHAPES = [
    *("()", "(0,)", "(4,)", "(0, 0)", "(1, 1)", "(2, 2)", "(8, 9)", "(10, 10)", "(10, 10, 8)", "(9, 8, 1)"),
    *("(3L, 3L)", "(-1, 10)", "(True, 2)", "(1.5, 2)", "(100000, 100001)", "(1000000000000, 10, 10)", "(0, 10, 10)"),
    *("(0, 10**30)", "(4294967296, 4294967296)", f"({2**63}, 2)", f"({2**70}, 0)", f"({2**62}, 2, 2, 0)", "('a', 2)"),
    *("(2, 2, 0)", "(1000000000000, 2, 2, 0)", "((2, 2), 2)", f"({'1, ' * 40})", "(" * 500 + ")" * 500, "'\\d'"),
]
LISTED_SHAPES = [[], [0], [2, 2], [10**30, 1], [-1, 2], [2**32, 2**32], [2**63, 0], [9, 8], [3, 3, 2]]
TYPES = [
    *("<f4", ">f8", "<f2", "<f16", "|b1", "|i1", "<u8", "<c16", "|O", "<M8[ns]", "|S4", "<U0", "|V8", "(2,3)<f4"),
    *("f4,f4", "<f3", "", "é", "<i4", "BF16", "F8_E5M2", "F16", "BOOL", "I64", "U8", "F64"),
]


def flip(rng: Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def overwrite(rng: Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    new = rng.choice((rng.choice(BYTES) * rng.choice((1, 1, 4, 8)), _integer(rng, (2, 4, 8))))
    return data[:at] + new + data[at + len(new) :]


def _integer(rng: Random, sizes: tuple[int, ...]) -> bytes:
    return struct.pack("<Q", rng.choice(NUMBERS))[: rng.choice(sizes)]


def shuffle(rng: Random, data: bytes) -> bytes:
    """A piece cut out, doubled, moved or put in from nowhere, or the end cut off."""
    a, b, c = sorted(rng.randrange(len(data) + 1) for _ in range(3))
    b = min(b, a + rng.choice((1, 16, 256, 1 << 20)))
    new = rng.choice((*BYTES, rng.randbytes(9), rng.choice(TOKENS).encode()))
    new *= rng.choice((1, 1, 3, 5000 if len(new) < 10 else 10))
    return rng.choice(
        (
            data[:a] + data[b:],
            data[:b] + data[a:],
            data[:a] + data[a:b] * rng.choice((3, 40)) + data[b:],
            data[:a] + data[b:c] + data[a:b] + data[max(b, c) :],
            data[:a] + new + data[a:],
            data[:a],
        )
    )


ANY = (flip, overwrite, shuffle)


def tokens(pattern: str) -> Mutation:
    """One to three of what the pattern finds replaced by something else, each by a token or by another of them."""

    def mutate(rng: Random, data: bytes) -> bytes:
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            found = list(re.finditer(pattern.encode(), data))
            if found:
                match = rng.choice(found)
                new = rng.choice((rng.choice(TOKENS).encode(), rng.choice(found)[0]))
                data = data[: match.start()] + new + data[match.end() :]
        return data

    return mutate


JSON_TOKEN = tokens(r'"(?:[^"\\\n]|\\.)*"|-?[0-9][0-9.eE+-]*|[\[\]{}:,]')
TSV_TOKEN = tokens(r"[^\t\n]+|\t|\n")
WORD = tokens(r"\S+|\n")


def json_value(rng: Random, data: bytes) -> bytes:
    """A value somewhere within one of the lines becomes another one, a copy of its neighbour or nothing."""

    def keys(value: Any) -> Any:
        return list(value) if isinstance(value, dict) else range(len(value))

    lines = data.splitlines()
    number = rng.randrange(len(lines))
    inside: Any = [json.loads(lines[number])]
    whole, key = inside, 0
    while isinstance(inside[key], list | dict) and inside[key] and rng.random() < 0.8:
        inside = inside[key]
        key = rng.choice(keys(inside))
    if rng.random() < 0.2:
        del inside[key]
    else:
        inside[key] = rng.choice((rng.choice(JSON_VALUES), inside[rng.choice(keys(inside))]))
    lines[number] = b"".join(json.dumps(value).encode() for value in whole)
    return b"\n".join(lines) + b"\n"


def npy_header(rng: Random, data: bytes) -> bytes:
    """The header of one of the arrays saved one after another says something else; its length is right."""
    starts = [match.start() for match in re.finditer(rb"\x93NUMPY", data)]
    start = rng.choice(starts) if starts else 0
    size = int.from_bytes(data[start + 8 : start + 10], "little")
    header = data[start + 10 : start + 10 + size].decode("latin-1").rstrip()
    changes = [
        (r"\([^)]*\)", rng.choice(SHAPES)),
        (r"(?<='descr': )'[^']*'", repr(rng.choice(TYPES))),
        (r"True|False", rng.choice(("True", "False", "None"))),
    ]
    pattern, new = rng.choice(changes)
    text = re.sub(pattern, lambda _: new, header, count=1).encode() + b"\n"
    return data[: start + 8] + struct.pack("<H", len(text)) + text + data[start + 10 + size :]


NPY = (*ANY, npy_header, npy_header)


def zip_entries(rng: Random, data: bytes) -> bytes:
    """An entry's bytes or name changed and all packed anew, so that checksums agree."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = [(name, archive.read(name)) for name in archive.namelist()]
    index = rng.randrange(len(entries))
    name, content = entries[index]
    if rng.random() < 0.25:
        name = rng.choice(TOKENS)[:60_000].replace("\0", "/") + rng.choice((".npy", ".npy", ".txt"))
    else:
        content = rng.choice(NPY)(rng, content)
    entries[index] = name, content
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for name, content in entries:
            archive.writestr(zipfile.ZipInfo(name or "x"), content)
    return packed.getvalue()


def zip_fields(rng: Random, data: bytes) -> bytes:
    records = [match.start() for match in re.finditer(rb"PK(?:\x01\x02|\x03\x04|\x05\x06)", data)]
    at, new = rng.choice(records) + rng.randrange(4, 30), _integer(rng, (1, 2, 4))
    return data[:at] + new + data[at + len(new) :]


def safetensors_header(rng: Random, data: bytes) -> bytes:
    """The JSON header says something else; its length is right."""
    size = int.from_bytes(data[:8], "little")
    if rng.random() < 0.3:
        header = JSON_TOKEN(rng, data[8 : 8 + size])
    else:
        tensors = json.loads(data[8 : 8 + size])
        tensor = tensors[rng.choice(list(tensors))]
        offsets = [rng.choice((*NUMBERS, *tensor["data_offsets"])) for _ in range(2)]
        changes = {"dtype": rng.choice(TYPES), "shape": rng.choice(LISTED_SHAPES), "data_offsets": offsets}
        tensor |= {key: changes[key] for key in rng.sample(list(changes), rng.choice((1, 1, 2)))}
        header = json.dumps(tensors).encode()
    return len(header).to_bytes(8, "little") + header + data[8 + size :]


def gzipped(inside: tuple[Mutation, ...]) -> tuple[Mutation, ...]:

    def repacked(rng: Random, data: bytes) -> bytes:
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error):
            return data  # the packet was damaged before
        return gzip.compress(rng.choice(inside)(rng, data), 1, mtime=0)

    return repacked, repacked, repacked, *ANY


KINDS: dict[str, tuple[Mutation, ...]] = {
    "npy": NPY,
    "npz": (*ANY, zip_entries, zip_entries, zip_entries, zip_fields),
    "safetensors": (flip, flip, overwrite, *ANY, safetensors_header, safetensors_header),
    "json": (*ANY, JSON_TOKEN, json_value, json_value, json_value, json_value),
    "conllu": (*ANY, TSV_TOKEN, TSV_TOKEN, TSV_TOKEN),
    "text": (*ANY, WORD, WORD),
}
KINDS |= {f"{kind}.gz": gzipped(KINDS[kind]) for kind in ("npy", "json", "conllu")}


def damaged(rng: Random, kind: str, data: bytes) -> bytes:
    """The bytes of a file of one of `KINDS` damaged in one to three ways."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        try:
            data = rng.choice(KINDS[kind])(rng, data or b"\0")
        except Exception:
            return data  # after the first damage the second may find nothing to hold on to
    return data

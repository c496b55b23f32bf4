"""No option in silence: every command, with every option that it takes.

An option changes what comes out (standard output, what is said, a file), or is an error that names it. Whoever adds one
gives it a value in `option_lines`, and a line where it has an effect.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from io import BytesIO
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from tests.commands.option_lines import EXCUSED, LINES, NEEDS, NEVER, REFUSED, VALUES, prepare
from tests.every_command import COMMANDS, command


class Outcome(NamedTuple):
    """How a run ended and what it wrote, but for what repeats its command line."""

    code: int
    out: bytes
    said: tuple[str, ...]
    files: tuple[tuple[str, bytes], ...]

    @property
    def is_sound(self) -> bool:
        """Whether it did its work, whatever it found; what is refused says why."""
        assert self.code in (0, 1, 3) or (self.code == 2 and self.said), self
        return self.code != 2


def named(option: click.Option) -> str:
    return max(option.opts, key=len)


# By command and name; others than those with a value change nothing.
OPTIONS = {
    (name, named(each)): each
    for name in COMMANDS
    for each in command(name).params
    if isinstance(each, click.Option) and each.expose_value
}
SHORT = {"--json": "--format jsonl", "--tsv": "--format tsv"}


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A folder for all lines, and how those that were run there ended."""
    return tmp_path_factory.mktemp("lines"), {}


@pytest.fixture
def outcome(deptree, filled, monkeypatch):
    """Call with a line: its outcome, worked out once."""
    folder, known = filled
    monkeypatch.chdir(folder)
    if not known:
        prepare(deptree, folder)

    def run(line: str) -> Outcome:
        if line not in known:
            known[line] = observed(deptree, folder, line)
        return known[line]

    return run


def observed(deptree, folder: Path, line: str) -> Outcome:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    ran = deptree(*line.split())
    after = {path: path.read_bytes() for path in folder.iterdir()}
    written = sorted((path, data) for path, data in after.items() if before.get(path) != data)
    for path, _ in written:
        path.write_bytes(before[path]) if path in before else path.unlink()
    said = tuple(each for each in ran.said if not each.startswith("deptree: deptree|"))
    return Outcome(ran.code, content(ran.out), said, tuple((path.name, content(data)) for path, data in written))


SIGNATURE = re.compile(rb'deptree\|([a-z -]+)\|[^"\r\n<]*')


def content(data: bytes) -> bytes:
    """What was written, without the fields of signatures that only say how; of an archive, all that is in it."""
    if zipfile.is_zipfile(BytesIO(data)):
        with zipfile.ZipFile(BytesIO(data)) as archive:
            parts = [each.encode() + archive.read(each) for each in archive.namelist()]
            data = b"\n".join([*parts, archive.comment])
    return SIGNATURE.sub(_without_fields, data)


def _without_fields(found: re.Match[bytes]) -> bytes:
    """Of scores, the fields that say how they are read are a part of them."""
    kept = re.findall(rb"\|(?:from|trees):[^|]*", found[0])
    return found[1] + b"".join(kept if found[1] in (b"convert", b"dump", b"combine", b"hpyp parse") else [])


def tries(name: str, option: click.Option) -> Iterator[tuple[str, list[str]]]:
    """Lines, and what each gets, once each: without and with what the option needs, without and with another of it."""
    opt, values = named(option), values_of(name, option)
    for line in LINES[name]:
        words = f"{name} {line}".split()
        if not {*option.opts} & {*words}:
            yield " ".join(words), values
            if needed := of(NEEDS, name, opt):
                yield f"{name} {line} {needed}", values
            continue
        place = next(number for number, word in enumerate(words) if word in option.opts)
        mine = words[place : place + 2 - option.is_flag]
        without = " ".join([*words[:place], *words[place + len(mine) :]])
        yield without, [" ".join(mine)] if len(values) == 1 else values
        if not (option.is_flag or option.multiple):
            yield " ".join(words), [each for each in values if each.split()[1] != mine[1]]


def values_of(name: str, option: click.Option) -> list[str]:
    """What a line may get."""
    opt = named(option)
    if option.is_flag:
        return [opt, *option.secondary_opts]
    if isinstance(option.type, click.Choice):
        return [f"{opt} {each}" for each in option.type.choices]
    value = of(VALUES, name, opt)
    assert value, f"{name} {opt} has no value in option_lines"
    return [f"{opt} {value}"]


def of(table: dict[str, str], name: str, opt: str) -> str:
    """What a table has for a command's option, or for all of this name."""
    return table.get(f"{name} {opt}") or table.get(opt, "")


def silences(line: str, plain: Outcome, chosen: dict[str, Outcome]) -> list[str]:
    """Which choices leave a line as it is; of several at most one is what it does anyway, so they differ by pairs."""
    if len(chosen) == 1:
        return [f"{line} {words}" for words, found in chosen.items() if found.is_sound and found == plain]
    pairs = combinations(chosen.items(), 2)
    return [f"{line} {one[0]} / {two[0]}" for one, two in pairs if one[1].is_sound and one[1] == two[1]]


TRIED = [(name, opt) for name, opt in OPTIONS if not {opt, f"{name} {opt}"} & {*NEVER, *SHORT}]


@pytest.mark.slow("process")
@pytest.mark.parametrize(("name", "opt"), TRIED, ids=lambda each: each.replace(" ", "-"))
def test_it_has_an_effect_or_is_refused(outcome, name, opt):
    effects, silent, said = 0, [], []
    for line, tried in tries(name, OPTIONS[name, opt]):
        plain = outcome(line)
        chosen = {words: outcome(f"{line} {words}") for words in tried}
        if not any(part in line for part in EXCUSED.get(f"{name} {opt}", EXCUSED.get(opt, {}))):
            silent += silences(line, plain, chosen)
        effects += sum(found.is_sound and (found != plain or len(chosen) > 1) for found in chosen.values())
        said += [found.said[-1:] for found in chosen.values() if not found.is_sound]
    assert not silent
    assert effects or f"{name} {opt}" in REFUSED, said


@pytest.mark.slow("process")
@pytest.mark.parametrize(("name", "opt"), [each for each in OPTIONS if each[1] in SHORT], ids=lambda each: f"{each}")
def test_a_short_name_is_its_format(outcome, name, opt):
    for line in (each for each in LINES[name] if "--format" not in each):
        assert outcome(f"{name} {line} {opt}") == outcome(f"{name} {line} {SHORT[opt]}")


def test_all_are_known():
    assert LINES.keys() == {*COMMANDS}
    named_somewhere = {*NEVER, *REFUSED, *VALUES, *NEEDS, *EXCUSED}
    assert named_somewhere <= {each for name, opt in OPTIONS for each in (opt, f"{name} {opt}")}

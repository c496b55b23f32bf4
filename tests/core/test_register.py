"""Registers: order, names that are nearly right, listings, and entries that other installed packages bring along."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.quantities import QUANTITIES
from deptree_cli.core.register import Register, imported
from deptree_cli.core.samplers import SAMPLERS, names
from deptree_cli.core.spaces import MULTI_ROOT, SINGLE_ROOT, SPACES
from deptree_cli.core.swor import ALGORITHMS

GROUP = "deptree.fruits"

Install = Callable[..., None]


@dataclass(frozen=True)
class Fruit:
    """An entry."""

    name: str
    taste: str = "sweet"


def fruits(group: str | None = GROUP) -> Register[Fruit]:
    return Register("fruit", (Fruit("pear"), Fruit("apple"), Fruit("apricot", "sour")), group)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install a module in its own words, and entry points of a group: name -> object reference."""
    monkeypatch.syspath_prepend(tmp_path)
    points: list[EntryPoint] = []
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **wanted: EntryPoints(points).select(**wanted))

    def put(module: str, source: str, group: str = GROUP, **offers: str) -> None:
        (tmp_path / f"{module}.py").write_text(textwrap.dedent(source), encoding="utf-8")
        points.extend(EntryPoint(name.replace("_", "-"), target, group) for name, target in offers.items())

    return put


@pytest.fixture
def samplers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The register of samplers as if nobody had looked for other packages; afterwards it is what it was."""
    monkeypatch.setattr(SAMPLERS, "_entries", {entry.name: entry for entry in SAMPLERS.known})
    monkeypatch.setattr(SAMPLERS, "_joined", False)
    monkeypatch.setattr(SAMPLERS, "_broken", {})


def test_entries_keep_their_order() -> None:
    register = fruits(None)
    assert register.names == [fruit.name for fruit in register] == ["pear", "apple", "apricot"]
    added = register.add(Fruit("fig"))
    assert register.names == ["pear", "apple", "apricot", "fig"]
    assert register.known == list(register)
    assert len(register) == 4
    assert "fig" in register
    assert "plum" not in register
    assert register.get("fig") is added


def test_a_name_is_given_once() -> None:
    register = fruits(None)
    with pytest.raises(ValueError, match="there are two fruits called 'apple'"):
        register.add(Fruit("apple", "bitter"))
    assert register.get("apple").taste == "sweet"
    with pytest.raises(ValueError, match="two fruits called 'fig'"):
        Register("fruit", (Fruit("fig"), Fruit("fig")))


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("appel", "there is no fruit 'appel'. Did you mean apple?"),
        ("paer", "there is no fruit 'paer'. Did you mean pear?"),
        ("x", "there is no fruit 'x'. Choose one of pear, apple, apricot."),
        ("", "there is no fruit ''. Choose one of pear, apple, apricot."),
    ],
)
def test_a_name_that_is_not_there(name: str, line: str) -> None:
    with pytest.raises(DeptreeError) as caught:
        fruits(None).get(name)
    assert str(caught.value) == line


def test_listing() -> None:
    """A paragraph each, which click leaves as it is; long lines are wrapped here."""
    assert fruits(None).listing(lambda fruit: f"{fruit.name}\n  {fruit.taste}") == (
        "\b\npear\n  sweet\n\n\b\napple\n  sweet\n\n\b\napricot\n  sour"
    )
    lines = fruits(None).listing(lambda fruit: f"  {fruit.name} " * 30).splitlines()
    assert max(map(len, lines)) <= 80
    assert all(line.startswith("  ") for line in lines if line.strip("\b"))


def test_complete() -> None:
    assert fruits(None).complete(None, None, "ap") == ["apple", "apricot"]
    assert fruits(None).complete(None, None, "") == ["pear", "apple", "apricot"]
    assert fruits(None).complete(None, None, "z") == []


SAMPLER = """
import numpy as np
from deptree_cli.core.samplers import Sampler

def draw(distribution, size, rng):
    return np.repeat(distribution.argmax()[None], size, axis=0)

best = Sampler("always-best", draw, False, ("single-root",), "n^2", "nobody")
by_name = Sampler("by-name", "stranger.samplers:draw", False, ("single-root",), "n^2", "nobody")
"""


@pytest.mark.usefixtures("samplers")
def test_a_strangers_sampler_is_one_of_ours(install: Install, graphs) -> None:
    """It is listed behind ours, completed, drawn from, and refused for the trees that it does not serve."""
    ours = [entry.name for entry in SAMPLERS.known]
    install("strange_samplers", SAMPLER, "deptree.samplers", always_best="strange_samplers:best")
    distribution = graphs.distribution(graphs.gaussian(4))
    assert distribution.sample(2, 1, "always-best").tolist() == [distribution.argmax().tolist()] * 2
    assert SAMPLERS.names == [*ours, "always-best"]
    assert "always-best" in names(SINGLE_ROOT)
    assert "always-best" not in names(MULTI_ROOT)
    assert SAMPLERS.complete(None, None, "alw") == ["always-best"]
    assert "always-best" in SAMPLERS.listing(lambda entry: entry.name)
    with pytest.raises(DeptreeError, match="the sampler always-best does not draw spanning trees"):
        distribution.multi_root().sample(1, 1, "always-best")
    with pytest.raises(DeptreeError, match=r"Did you mean always-best\?"):
        distribution.sample(1, 1, "always-bet")


@pytest.mark.usefixtures("samplers")
def test_a_strangers_function_by_its_full_name(install: Install, graphs, tmp_path: Path) -> None:
    install("unused", "", "deptree.samplers", by_name="stranger.samplers:by_name")
    (tmp_path / "stranger").mkdir()
    (tmp_path / "stranger" / "__init__.py").touch()
    (tmp_path / "stranger" / "samplers.py").write_text(SAMPLER, encoding="utf-8")
    assert graphs.distribution(graphs.gaussian(3)).sample(5, 1, "by-name").shape == (5, 3)


BROKEN = {
    "not there": ("", "no_such_module:entry"),
    "no such object": ("", "broken:entry"),
    "an error": ("raise RuntimeError('out of\\nfruit')", "broken:entry"),
    "no Python": ("def", "broken:entry"),
    "no entry": ("entry = 3", "broken:entry"),
    "another name": ("from dataclasses import replace\n", "broken:other"),
}


@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.parametrize("listed_before", [False, True])
def test_a_broken_package_hurts_only_who_asks_for_it(kind: str, listed_before: bool, install: Install) -> None:
    source, target = BROKEN[kind]
    install("broken", source, rotten=target)
    install(f"good_{listed_before}", "import __main__\nfig = __main__.FIG", fig=f"good_{listed_before}:fig")
    import __main__

    __main__.FIG = Fruit("fig")  # type: ignore[attr-defined]
    register = fruits()
    if listed_before:
        assert register.names == ["pear", "apple", "apricot", "fig"]
    with pytest.raises(DeptreeError) as caught:
        register.get("rotten")
    assert "the fruit 'rotten' cannot be loaded" in str(caught.value)
    assert f"Mend or uninstall the package of {target}." in str(caught.value)
    assert "\n" not in str(caught.value)
    assert register.get("apple").taste == "sweet"
    assert register.get("fig").name == "fig"
    assert register.names == ["pear", "apple", "apricot", "fig"]
    assert register.listing(lambda fruit: fruit.name)


def test_a_name_of_ours_is_ours(install: Install) -> None:
    """Not even imported."""
    install("thief", "raise SystemExit('imported')", apple="thief:entry")
    register = fruits()
    assert register.get("apple") == Fruit("apple")
    assert register.names == ["pear", "apple", "apricot"]
    assert register.get("apple") == Fruit("apple")


@pytest.mark.parametrize(("first_breaks", "taste"), [(False, "first"), (True, "second")])
def test_of_two_strangers_the_first_that_can_be_had(
    first_breaks: bool, taste: str, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2):
        module = f"strange_{taste}_{number}"
        source = (
            "raise RuntimeError" if first_breaks and number == 1 else f"fig = __import__('builtins').FIGS[{number}]"
        )
        install(module, source, fig=f"{module}:fig")
    monkeypatch.setattr("builtins.FIGS", {1: Fruit("fig", "first"), 2: Fruit("fig", "second")}, raising=False)
    register = fruits()
    assert register.names == ["pear", "apple", "apricot", "fig"]
    assert register.get("fig").taste == taste


def test_nobody_waits_for_other_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are looked for when entries are listed, and for a name that is not ours; once; never without a group."""
    looked: list[dict[str, str]] = []
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **wanted: looked.append(wanted) or ())
    register = fruits()
    assert register.get("apple")
    assert register.known
    assert "pear" in register
    assert not looked
    assert register.names
    assert list(register)
    assert len(register) == 3
    assert looked == [{"group": GROUP}]
    assert fruits(None).names
    with pytest.raises(DeptreeError):
        fruits(None).get("fig")
    assert len(looked) == 1
    with pytest.raises(DeptreeError):
        fruits().get("fig")
    assert len(looked) == 2


def test_imported() -> None:
    def function() -> None: ...

    assert imported(function, "deptree_cli.core.samplers") is function
    assert imported(".walks:draw_auto", "deptree_cli.core").__module__ == "deptree_cli.core.walks"
    assert (
        imported("deptree_cli.core.conditionals:draw_labelled", "elsewhere").__module__
        == "deptree_cli.core.conditionals"
    )


def test_the_registers_of_this_floor() -> None:
    """Whoever may join has a group of its own."""
    registers = (SPACES, SAMPLERS, ALGORITHMS, QUANTITIES)
    assert len({register.noun for register in registers}) == len(registers)
    assert [register.group for register in registers] == [
        "deptree.spaces",
        "deptree.samplers",
        "deptree.swor",
        "deptree.quantities",
    ]
    for register in registers:
        assert register.known
        assert all(register.get(name).name == name for name in register.names)
        assert np.array_equal(register.complete(None, None, ""), register.names)

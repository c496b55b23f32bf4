"""Registers: order, names that are nearly right, listings, and entries that other packages bring; an error's line."""

import textwrap
from dataclasses import dataclass
from importlib.metadata import EntryPoint, EntryPoints

import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.quantities import QUANTITIES
from deptree_cli.core.register import Register
from deptree_cli.core.samplers import SAMPLERS, names
from deptree_cli.core.spaces import MULTI_ROOT, SINGLE_ROOT, SPACES
from deptree_cli.core.swor import ALGORITHMS

GROUP = "deptree.fruits"


@dataclass(frozen=True)
class Fruit:
    name: str
    taste: str = "sweet"


FIG = Fruit("fig")


def fruits(group=GROUP):
    return Register("fruit", (Fruit("pear"), Fruit("apple"), Fruit("apricot", "sour")), group)


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a module in its own words, and entry points of a group: name -> object reference."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("builtins.FIG", FIG, raising=False)
    points = []
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **wanted: EntryPoints(points).select(**wanted))

    def put(module, source, group=GROUP, **offers):
        path = tmp_path.joinpath(*module.split(".")).with_suffix(".py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(source), encoding="utf-8")
        points.extend(EntryPoint(name.replace("_", "-"), target, group) for name, target in offers.items())

    return put


def test_entries_keep_their_order():
    register = fruits(None)
    assert register.add(FIG) is register.get("fig") is FIG
    assert register.names == [fruit.name for fruit in register] == ["pear", "apple", "apricot", "fig"]
    assert register.known == list(register)
    assert (len(register), "fig" in register, "plum" in register) == (4, True, False)


def test_a_name_is_given_once():
    register = fruits(None)
    with pytest.raises(ValueError, match="there are two fruits called 'apple'"):
        register.add(Fruit("apple", "bitter"))
    assert register.get("apple").taste == "sweet"
    with pytest.raises(ValueError, match="two fruits called 'fig'"):
        Register("fruit", (FIG, FIG))


@pytest.mark.parametrize("name", ["appel", "x", ""])
def test_a_name_that_is_not_there(name):
    with pytest.raises(DeptreeError) as caught:
        fruits(None).get(name)
    remedy = "Did you mean apple?" if name == "appel" else "Choose one of pear, apple, apricot."
    assert str(caught.value) == f"there is no fruit {name!r}. {remedy}"


def test_listing_and_completion():
    """A paragraph each, which click leaves as it is; long lines are wrapped here."""
    listed = "\b\npear\n  sweet\n\n\b\napple\n  sweet\n\n\b\napricot\n  sour"
    assert fruits(None).listing(lambda fruit: f"{fruit.name}\n  {fruit.taste}") == listed
    lines = fruits(None).listing(lambda fruit: f"  {fruit.name} " * 30).splitlines()
    assert max(map(len, lines)) <= 80
    assert all(line.startswith("  ") for line in lines if line.strip("\b"))
    completed = [fruits(None).complete(None, None, start) for start in ("ap", "", "z")]
    assert completed == [["apple", "apricot"], ["pear", "apple", "apricot"], []]


SAMPLER = """
import numpy as np
from deptree_cli.core.samplers import Sampler

def draw(distribution, size, rng):
    return np.repeat(distribution.argmax()[None], size, axis=0)

best = Sampler("always-best", draw, False, ("single-root",), "n^2", "nobody")
by_name = Sampler("by-name", "stranger.samplers:draw", False, ("single-root",), "n^2", "nobody")
"""


def test_a_strangers_sampler_is_one_of_ours(install, graphs, monkeypatch):
    """It stands behind ours, is completed, drawn from, and refused for the trees that it does not serve."""
    ours = [entry.name for entry in SAMPLERS.known]
    # as if nobody had looked for other packages
    for name, value in (("_entries", dict(SAMPLERS._entries)), ("_joined", False), ("_broken", {})):
        monkeypatch.setattr(SAMPLERS, name, value)
    install("stranger.__init__", "")
    both = {"always_best": "stranger.samplers:best", "by_name": "stranger.samplers:by_name"}
    install("stranger.samplers", SAMPLER, "deptree.samplers", **both)
    distribution = graphs.distribution(graphs.gaussian(4))
    assert distribution.sample(2, 1, "always-best").tolist() == [distribution.argmax().tolist()] * 2
    assert distribution.sample(5, 1, "by-name").shape == (5, 4)
    assert SAMPLERS.names == [*ours, "always-best", "by-name"]
    assert ["always-best" in names(space) for space in (SINGLE_ROOT, MULTI_ROOT)] == [True, False]
    assert SAMPLERS.complete(None, None, "alw") == ["always-best"]
    with pytest.raises(DeptreeError, match="the sampler always-best does not draw spanning trees"):
        distribution.multi_root().sample(1, 1, "always-best")
    with pytest.raises(DeptreeError, match=r"Did you mean always-best\?"):
        distribution.sample(1, 1, "always-bet")


@pytest.mark.quick
@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("", "no_such_module:entry"),
        ("", "broken:entry"),
        ("raise RuntimeError('out of\\nfruit')", "broken:entry"),
        ("def", "broken:entry"),
        ("entry = 3", "broken:entry"),
        ("from dataclasses import replace\n", "broken:other"),
    ],
)
@pytest.mark.parametrize("listed_before", [False, True])
def test_a_broken_package_hurts_only_who_wants_it(source, target, listed_before, install):
    install("broken", source, rotten=target)
    install("good", "fig = FIG", fig="good:fig")
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


def test_a_name_of_ours_is_ours(install):
    """Not even imported."""
    install("thief", "raise SystemExit('imported')", apple="thief:entry")
    register = fruits()
    assert register.names == ["pear", "apple", "apricot"]
    assert register.get("apple") == Fruit("apple")


@pytest.mark.parametrize(("first", "taste"), [("", "first"), ("raise RuntimeError", "second")])
def test_of_two_strangers_the_first_that_can_be_had(first, taste, install):
    install(f"one_{taste}", f"{first}\nfig = type(FIG)('fig', 'first')", fig=f"one_{taste}:fig")
    install(f"two_{taste}", "fig = type(FIG)('fig', 'second')", fig=f"two_{taste}:fig")
    register = fruits()
    assert register.names == ["pear", "apple", "apricot", "fig"]
    assert register.get("fig").taste == taste


def test_nobody_waits_for_other_packages(monkeypatch):
    """They are looked for when entries are listed, and for a name that is not ours; once; never without a group."""
    looked = []
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **wanted: looked.append(wanted) or ())
    register = fruits()
    assert register.get("apple")
    assert register.known
    assert "pear" in register
    assert not looked
    assert register.names
    assert len(list(register)) == len(register) == 3
    assert looked == [{"group": GROUP}]
    assert fruits(None).names
    for group, times in ((None, 1), (GROUP, 2)):
        with pytest.raises(DeptreeError):
            fruits(group).get("fig")
        assert len(looked) == times


def test_the_registers_of_this_floor():
    """Whoever may join has a group of its own."""
    registers = (SPACES, SAMPLERS, ALGORITHMS, QUANTITIES)
    assert [each.group.removeprefix("deptree.") for each in registers] == ["spaces", "samplers", "swor", "quantities"]
    assert len({register.noun for register in registers}) == len(registers)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("error", "line"),
    [
        (DeptreeError("it broke", "Mend it"), "it broke. Mend it."),
        (DeptreeError("it broke", "Mend it", place="a.npz"), "a.npz: it broke. Mend it."),
        (DeptreeError("it broke", "Mend it", sent_id="s1"), "s1: it broke. Mend it."),
        (DeptreeError("it broke", "Mend it", place="a.npz[x]", sent_id="s1"), "a.npz[x] (s1): it broke. Mend it."),
        (DeptreeError("did it break?", "Mend it."), "did it break? Mend it."),
        (DeptreeError("it broke"), "it broke."),
        (DeptreeError("it broke", place="a:3").at(place="a", sent_id="s"), "a:3 (s): it broke."),
    ],
)
def test_the_line_of_an_error(error, line):
    """Where, what and what to do; who knows first says where."""
    assert str(error) == line

"""Options that are declared once: alone, or in bundles that become one object; and the commands that have them.

    @dataclass(eq=False)
    class Run(Bundle):
        jobs: int = opt("--jobs", "-j", type=IntRange(1), default=1, help="Number of processes.")

    @command()
    def partition(scores: Scores = use(Scores), summary: bool = flag("--summary", help="..."), run: Run = use(Run)):

A declaration gives the parameter of click in its section of the help, the refusal ("--x needs --y FILE."), the field of
the signature, and an attribute with a type. Conditions on values are ifs of the command, worded by `check_effect`.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import Field, dataclass, field, fields, replace
from functools import partial
from inspect import signature
from itertools import chain, repeat
from math import inf, isnan
from operator import attrgetter
from types import MappingProxyType
from typing import Any

import click
from click.core import Parameter, ParameterSource
from click.shell_completion import CompletionItem

from deptree_cli.cli.help import READING, RUNNING, WRITING, Listing, write_options, write_text
from deptree_cli.cli.terminal import kernels_told, status_shown
from deptree_cli.core.errors import readable
from deptree_cli.core.memory import memory_for
from deptree_cli.core.register import Entry, Register
from deptree_cli.io.files.output import Named, check_read_once, refuse_overwrites
from deptree_cli.io.files.streams import STDIN

EMPTY_NAME = "The name is empty."


class FileName(click.ParamType):  # type: ignore[type-arg]  # click 8.2 has none
    """The path of a file, as text; `-` is a standard stream."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return str(value) or self.fail(EMPTY_NAME, param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type="file")]


# A file that is read, one that is read unless a name of ours stands there, and one that is written.
INPUT, NAME_OR_INPUT, OUTPUT = FileName(), FileName(), FileName()

RESULTS = FileName()  # the results, which go to standard output without a name


def _named(ctx: click.Context, kind: FileName) -> list[Named]:
    """The paths that are values of this type, with the options and arguments; empty where one has no value."""
    found = []
    for each in ctx.command.params:
        if each.type is kind:
            value = ctx.params.get(each.name or "")
            paths = value if isinstance(value, tuple | list) else [value]
            # An argument of several files has a word for each, the last one for all that follow.
            names = each.opts[:1] if isinstance(each, click.Option) else re.findall(r"\w+", each.human_readable_name)
            named = zip(chain(names, repeat(names[-1])), paths, strict=False)
            found += [Named(name, path if isinstance(path, str) else "") for name, path in named]  # else a number
    return found


MOST_NAMES = 9  # of a longer list a command's page has the first three names
TECHNICAL = 10**6  # a bound that is only there because memory ends somewhere is named to those who exceed it


class _Range:
    """What the two have in common; NaN is within no bounds."""

    expected: str
    min: Any
    max: Any
    min_open: bool
    max_open: bool

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        with suppress(click.BadParameter):
            if not isnan(number := super().convert(value, param, ctx)):  # type: ignore[misc]  # click's
                return number
        expected = ", ".join(filter(None, [self.expected, self._describe_range(value)]))
        raise click.BadParameter(f"Expected {expected}, found {value!r}.", ctx, param)

    def _describe_range(self, value: object = None) -> str:
        """The bounds in words, such as ``1 or more``: those that matter, and the upper one to whoever exceeds it."""
        if self.min is None and self.max is None:
            return ""
        with suppress(ValueError, TypeError):
            if self.max is not None and float(str(value)) > self.max >= TECHNICAL:
                return f"at most {self.max}"
        if self.max is None or self.max >= TECHNICAL:
            return f"above {self.min}" if self.min_open else f"{self.min} or more"
        if not (self.min_open or self.max_open):
            return f"from {self.min} to {self.max}"
        least, most = "above" if self.min_open else "at least", "below" if self.max_open else "at most"
        return f"{least} {self.min} and {most} {self.max}"


class IntRange(_Range, click.IntRange):
    name = "N"  # how help calls the value of an option
    expected = "a whole number"


class FloatRange(_Range, click.FloatRange):
    expected = "a number"


class Option(click.Option):
    """An option in a section of its command's help; without one it is the command's own."""

    def __init__(self, declared: Opt, name: str, **attributes: Any) -> None:
        super().__init__([*declared.flags, name], help=declared.help, multiple=declared.many, **attributes)
        self.show_envvar = self.envvar is not None
        self.section = declared.section
        self.often = not self.section if declared.often is None else declared.often
        self._names = declared.names

    def get_help_extra(self, ctx: click.Context) -> Any:
        """What stands in brackets; bounds in the whole help only."""
        extra = super().get_help_extra(ctx)
        if _WHOLE not in ctx.meta:
            extra.pop("range", None)
        return extra

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        record = super().get_help_record(ctx)
        if record is None or self._names is None:
            return record
        names = [*self._names()]
        shown = names if len(names) <= MOST_NAMES or _WHOLE in ctx.meta else [*names[:3], "..."]
        return record[0], record[1].replace("{names}", ", ".join(shown))

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """The value in its type, not empty, which would pass for none; what names no file is UTF-8 in any locale."""
        is_name = isinstance(self.type, FileName | click.Path)
        if value == "" or (self.multiple and "" in (value or ())):
            raise click.BadParameter(EMPTY_NAME if is_name else "The value is empty.", ctx, self)
        return super().type_cast_value(ctx, readable(value) if isinstance(value, str) and not is_name else value)


# Options that many commands had, and what does their work now; {} is their value.
GONE = {**dict.fromkeys(("--orient", "--root", "--scale"), "pass --from {}"), "--scheduler": "set DEPTREE_SCHEDULER={}"}


class Command(click.Command):
    """A command whose help has its options in sections, and which guards its files and its terminal."""

    def __init__(self, *args: Any, listing: Listing | None, gone: Mapping[str, str], **options: Any) -> None:
        self.listing, self.gone = listing, gone
        super().__init__(*args, **options)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*super().get_params(ctx), _HELP_ALL]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse a command line; an option that was removed is named, with what does its work now."""
        given = " ".join(args).replace("=", " ")
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name
            instead = (GONE | {**self.gone}).get(name)
            if instead is None:
                raise
            value = given.partition(f"{name} ")[2].partition(" ")[0]
            raise click.UsageError(f"There is no {name} now: {instead.format(value)}.", ctx) from None

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_text(self, self.listing, _WHOLE in ctx.meta, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_options(self.get_params(ctx), _WHOLE in ctx.meta, ctx, formatter)

    def invoke(self, ctx: click.Context) -> Any:
        """Run; no output takes the place of another file of the command line, and people see what goes on."""
        inputs, others = ([each for each in _named(ctx, kind) if each.path] for kind in (INPUT, OUTPUT))
        results, quiet = _named(ctx, RESULTS), bool(ctx.params.get("quiet"))
        check_read_once(inputs)
        refuse_overwrites(inputs, [*(each._replace(path=each.path or STDIN) for each in results), *others])
        fewer = "Ask for fewer trees, or l" if ctx.get_parameter_source("size") is ParameterSource.COMMANDLINE else "L"
        enough = memory_for(0, "these sentences", f"{fewer}eave out the longest ones")
        with enough, status_shown(results[0].path or None if results else None, quiet), kernels_told(quiet):
            return super().invoke(ctx)


def _show_all(ctx: click.Context, parameter: click.Parameter, asked: bool) -> None:
    if asked:
        ctx.meta[_WHOLE] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


_WHOLE = "deptree_cli.help_all"  # under which the context of a command knows that the whole help is asked for

_HELP_ALL = click.Option(
    ["--help-all"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_all,
    help="Show this page with all options and output fields explained.",
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Opt:
    """An option of a command, or an argument."""

    flags: tuple[str, ...] = ()  # its names on the command line; none for an argument
    help: str = ""
    type: Any = None
    section: str = ""
    default: Any = None
    often: bool | None = None  # whether a command's page explains it; usually if it is the command's own
    many: bool = False  # it may be given several times; of an argument, several values
    names: Callable[[], Iterable[str]] | None = None  # what stands for ``{names}`` in its help; asked for when shown
    convert: Callable[[Any], Any] | None = None  # the value that click has parsed into what is passed on
    needs: Sequence[str] = ()  # names of options (of parameters or fields) that it needs beside it
    without: Sequence[str] = ()  # and that it excludes
    sign: str = ""  # its name in the signature of a run, if results depend on it
    only_unusual: bool = False  # the default is left out of the signature
    click: Mapping[str, Any] = field(default_factory=dict)  # whatever else click takes

    @property
    def shown(self) -> str:
        return self.flags[0].partition("/")[0]

    def parameter(self, name: str) -> Parameter:
        attributes: dict[str, Any] = {"type": self.type, **self.click}
        if convert := self.convert:
            attributes["callback"] = lambda context, parameter, value: convert(value)
        if not self.flags:
            attributes = {"required": True, "default": self.default or None} | attributes
            return click.Argument([name], nargs=-1 if self.many else 1, **attributes)
        if not attributes.get("required"):
            attributes["default"] = self.default
        return Option(self, name, **attributes)


def opt(*flags: str, **attributes: Any) -> Any:
    """Declare an option (an argument without `flags`), as the field of a bundle or as the default of a parameter."""
    own = {name: attributes.pop(name) for name in [*attributes] if name in Opt.__dataclass_fields__}
    unset = () if own.get("many") else None
    declared = Opt(flags=flags, click=attributes, **{"default": unset, **own})
    return field(default=declared.default, metadata={_DECLARED: declared})


flag = partial(opt, is_flag=True, default=False)
reading = partial(opt, section=READING)
writing = partial(opt, section=WRITING)
running = partial(opt, section=RUNNING)

_DECLARED = "declared"


def _declarations(named: Iterable[tuple[str, Any]]) -> dict[str, Opt | Use]:
    """The declarations among fields or defaults of parameters, by their names."""
    return {name: each.metadata[_DECLARED] for name, each in named if isinstance(each, Field) and each.metadata}


class Bundle:
    """Options that become one object; subclasses are dataclasses whose fields are options, bundles, or neither."""

    @classmethod
    def declared(cls, fixed: Mapping[str, Any]) -> dict[str, Opt | Use]:
        """The options and bundles of its fields; `fixed`: values of fields that a command has set."""
        return {name: each for name, each in _fields_of(cls).items() if name not in fixed}

    @property
    def signature_fields(self) -> dict[str, object]:
        """What of these options a run must repeat to give the same result."""
        return _signed(_fields_of(type(self)), vars(self))

    @property
    def news(self) -> Collection[str]:
        """Fields of the signature whose values a file has chosen, not the user."""
        return ()


def _fields_of(bundle: type[Bundle]) -> dict[str, Opt | Use]:
    return _declarations((each.name, each) for each in fields(bundle))  # type: ignore[arg-type]


def _signed(declared: Mapping[str, Opt | Use], values: Mapping[str, Any]) -> dict[str, object]:
    """The values as a signature has them; None where it has none."""
    found = {}
    for name, each in declared.items():
        if isinstance(each, Opt) and each.sign:
            value = "yes" if each.only_unusual and values[name] is True else values[name]
            found[each.sign] = None if each.only_unusual and value == each.default else value
    return found


@dataclass(frozen=True, eq=False)
class Use:
    """A bundle as a command has it: with other declarations, without some, with fields that are not options.

    A command itself is the use of a function, whose parameters are all declared.
    """

    bundle: type[Bundle] | Callable[..., int]
    changes: Mapping[str, Opt | Use]
    lacks: Collection[str]
    fixed: Mapping[str, Any]
    only_with: str = ""
    but: Collection[str] = ()

    @property
    def declared(self) -> dict[str, Opt | Use]:
        own = self.bundle.declared(self.fixed) if hasattr(self.bundle, "declared") else {}
        return {name: each for name, each in {**own, **self.changes}.items() if name not in self.lacks}

    def options(self) -> Iterator[tuple[str, Opt]]:
        for outer, each in self.declared.items():
            for name, option in each.options() if isinstance(each, Use) else [(outer, each)]:
                needing = self.only_with and name not in (self.only_with, *self.but)
                yield name, replace(option, needs=[self.only_with, *option.needs]) if needing else option

    def build(self, values: Mapping[str, Any]) -> Any:
        """The object that becomes of the values of all options of a command."""
        lacking = self.only_with and values[self.only_with] is None
        return None if lacking else self.bundle(**self.arguments(values), **self.fixed)

    def arguments(self, values: Mapping[str, Any]) -> dict[str, Any]:
        declared = self.declared.items()
        return {name: each.build(values) if isinstance(each, Use) else values[name] for name, each in declared}


def use(
    bundle: type[Bundle], *, lacks: Collection[str] = (), only_with: str = "", but: Collection[str] = (), **changes: Any
) -> Any:
    """Declare a bundle, as the field of another or as the default of a command's parameter.

    Args:
        lacks: options of the bundle that the command has not.
        only_with: the option that all others but those of `but` need; without it there is None in place of an object.
        changes: declarations in the place of the bundle's or besides, and values of fields that are not options.
    """
    declared = _declarations(changes.items())
    fixed = {name: each for name, each in changes.items() if name not in declared}
    return field(default=None, metadata={_DECLARED: Use(bundle, declared, lacks, fixed, only_with, but)})


def command(
    help: str | None = None, listing: Listing | None = None, gone: Mapping[str, str] = MappingProxyType({})
) -> Callable[[Callable[..., int]], Command]:
    """Make a function whose parameters are all declared a command, which refuses options that have no effect.

    The object of running, `run`, gets what the command signs, and which values of that the user did not choose.
    --seed and --no-header, which scripts pass to all, are hidden where they change nothing.
    """

    def decorate(function: Callable[..., int]) -> Command:
        own = _declarations((name, each.default) for name, each in signature(function).parameters.items())
        used = Use(function, own, (), {})
        options = dict(used.options())

        def callback(**values: Any) -> int:
            _check_together(options, values)
            news = set[str]()
            if "seed" in values and values["seed"] is None:
                values["seed"] = secrets.randbits(32)
                news.add("seed")
            arguments = used.arguments(values)
            if (run := arguments.get("run")) is not None:
                run.signed = _signed(own, arguments)
                run.chosen = news.union(*(each.news for each in arguments.values() if isinstance(each, Bundle)))
            return function(**arguments)

        parameters = [each.parameter(name) for name, each in options.items()]
        parameters += [each.parameter(name) for name, each in _EVERYWHERE.items() if name not in options]
        name, text = function.__name__.replace("_", "-"), help or function.__doc__
        return Command(name, callback=callback, params=parameters, help=text, listing=listing, gone=gone)

    return decorate


_EVERYWHERE = {
    "seed": Opt(flags=("--seed",), type=IntRange(0), click={"hidden": True, "expose_value": False}),
    "header": Opt(flags=("--no-header",), click={"is_flag": True, "hidden": True, "expose_value": False}),
}


def _check_together(options: Mapping[str, Opt], values: Mapping[str, Any]) -> None:
    """Raise for an option on the command line that needs another one, or excludes it."""

    def is_given(name: str) -> bool:
        return not any(values[name] is each for each in (None, (), False))  # 0 is a value

    source = click.get_current_context().get_parameter_source
    for name, option in options.items():
        if source(name) is not ParameterSource.COMMANDLINE or values[name] is False:
            continue
        for needed in (options[each] for each in option.needs if not is_given(each)):
            kind = needed.type.name.upper() if isinstance(needed.type, FileName | IntRange) else ""
            kind = needed.click.get("metavar", kind)
            raise click.UsageError(f"{option.shown} needs {f'{needed.shown} {kind}'.strip()}.")
        for other in (options[each] for each in option.without if is_given(each)):
            raise click.UsageError(f"{option.shown} cannot be combined with {other.shown}. Remove one.")


def positive(number: float | None) -> float | None:
    """The number, if it is positive and finite or not given."""
    if number is not None and not 0 < number < inf:
        raise click.BadParameter(f"{number:g} is not a positive number.")
    return number


def entry(
    register: Register[Entry], *flags: str, name: Callable[[Entry], str] = attrgetter("name"), **attributes: Any
) -> Any:
    """Declare an option whose value is an entry of a register, by name; `name` is how help lists an entry."""
    usual: dict[str, Any] = {"help": "{names}  [default: auto]", "default": "auto", "metavar": "NAME"}
    usual |= {"convert": lambda asked: asked and register.get(asked), "shell_complete": register.complete}
    return opt(*flags, names=lambda: map(name, register), **usual | attributes)


def size(default: int | None, text: str, shown: str | None = None, **attributes: Any) -> Any:
    """Declare ``-k N``; `shown` is how help calls a default that the command works out."""
    return opt(
        "-k",
        "--size",
        type=IntRange(1, 2**31 - 1),  # what an int32 counts; no sentence's trees fit into memory before that
        default=default,
        help=f"{text}  [default: {shown or default}]",
        **attributes,
    )


def seed() -> Any:
    """Declare ``--seed N``, a fresh number where none is given; whoever draws by it signs it."""
    return opt("--seed", type=IntRange(0), help="Make the run repeatable.  [default: fresh, shown on stderr]")


def check_effect(names: Collection[str], needs: str) -> None:
    """Raise for the first of these parameters on the command line: there it has no effect, which `needs` something."""
    context = click.get_current_context()
    for each in context.command.params:
        if each.name in names and context.get_parameter_source(each.name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{each.opts[0]} needs {needs}.")

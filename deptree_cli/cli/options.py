"""Types of parameters, options in sections of a command's help, options bound together as one object, and commands."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial, wraps
from inspect import signature
from math import inf, isnan
from operator import attrgetter
from types import MappingProxyType
from typing import Any, TypeVar

import click
from click.core import ParameterSource
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

# The results, which go to standard output without a name.
RESULTS = FileName()


def _named(ctx: click.Context, kind: FileName) -> list[Named]:
    """The paths that are values of this type, with the options and arguments; empty where one has no value."""
    found = []
    for each in ctx.command.params:
        if each.type is kind:
            name = each.opts[0] if isinstance(each, click.Option) else each.human_readable_name.strip("[].")
            value = ctx.params.get(each.name or "")
            paths = value if isinstance(value, tuple | list) else [value]
            found += [Named(name, path if isinstance(path, str) else "") for path in paths]  # else a number
    return found


# A bound that is only there because memory ends somewhere is named to those who exceed it.
TECHNICAL = 10**6


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
        expected = ", ".join(filter(None, [self.expected, self._described(value)]))
        raise click.BadParameter(f"Expected {expected}, found {value!r}.", ctx, param)

    def _describe_range(self) -> str:
        return self._described()

    def _described(self, value: object = None) -> str:
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
    expected = "a whole number"


class FloatRange(_Range, click.FloatRange):
    expected = "a number"


Function = TypeVar("Function", bound=Callable[..., Any])
Decorator = Callable[[Function], Function]


class Option(click.Option):
    """An option in a section of its command's help; without one it is the command's own.

    Args:
        names: those that its help has in the place of ``{names}``; asked for when shown.
        often: whether a command's page explains it; usually if it is the command's own.
    """

    def __init__(
        self,
        *args: Any,
        section: str = "",
        names: Callable[[], Iterable[str]] | None = None,
        often: bool | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self.show_envvar = self.envvar is not None
        self.section = section
        self._names = names
        self.often = not section if often is None else often

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        record = super().get_help_record(ctx)
        return (record[0], record[1].replace("{names}", ", ".join(self._names()))) if record and self._names else record

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """The value in its type, not empty, which would pass for none; what names no file is UTF-8 in any locale."""
        is_name = isinstance(self.type, FileName | click.Path)
        if value == "" or (self.multiple and "" in (value or ())):
            raise click.BadParameter(EMPTY_NAME if is_name else "The value is empty.", ctx, self)
        return super().type_cast_value(ctx, readable(value) if isinstance(value, str) and not is_name else value)


# Options that many commands had, and what does their work now; {} is their value.
GONE = {
    **dict.fromkeys(("--orient", "--root", "--scale"), "pass --from {}"),
    "--scheduler": "set DEPTREE_SCHEDULER={}",
}


class Command(click.Command):
    """A command whose help has its options in sections, and which guards its files and its terminal."""

    def __init__(
        self, *args: Any, listing: Listing | None = None, gone: Mapping[str, str] = MappingProxyType({}), **options: Any
    ) -> None:
        super().__init__(*args, **options)
        self.listing = listing
        self.gone = gone

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*super().get_params(ctx), _HELP_ALL]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse a command line; an option that was removed is named, with what does its work now."""
        given = [*args]
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name
            instead = (GONE | {**self.gone}).get(name)
            if instead is None:
                raise
            said = " ".join(given).replace("=", " ").partition(f"{name} ")[2].partition(" ")[0]
            raise click.UsageError(f"There is no {name} now: {instead.format(said)}.", ctx) from None

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


# Under which the context of a command knows that the whole help is asked for.
_WHOLE = "deptree_cli.help_all"

_HELP_ALL = click.Option(
    ["--help-all"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_all,
    help="Show this page with all options and output fields explained.",
)


def option(*names: str, section: str = "", **attributes: Any) -> Decorator[Any]:
    return click.option(*names, cls=Option, section=section, **attributes)


reading_option = partial(option, section=READING)
writing_option = partial(option, section=WRITING)
running_option = partial(option, section=RUNNING)


def command(**attributes: Any) -> Callable[[Callable[..., Any]], Command]:
    return click.command(cls=Command, **attributes)


def apply(options: Sequence[Decorator[Any]], function: Any) -> Any:
    for each in reversed(options):
        function = each(function)
    return function


def bound(name: str, options: Sequence[Decorator[Any]], build: Callable[..., Any]) -> Decorator[Any]:
    """Return what gives a command these options; their values reach it as the one object that `build` makes of them.

    Args:
        name: of the command's parameter for that object.
        build: takes these by their names, and its other parameters from options that a command has besides.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        @wraps(function)
        def with_object(**given: Any) -> Any:
            own = {each: given.pop(each) for each in names if each in given}
            return function(**{name: build(**own)}, **given)

        before = len(getattr(function, "__click_params__", ()))
        apply(options, with_object)
        names = [*signature(build).parameters, *(each.name for each in vars(with_object)["__click_params__"][before:])]
        return with_object

    return decorate


_KEY = "deptree_cli.provenance"


def mark_provenance(context: click.Context | None, *fields: str) -> None:
    """Note that these fields of the signature were chosen by the program or a file of scores."""
    if context is not None:
        context.meta.setdefault(_KEY, set()).update(fields)


def chosen_for_user(signature: str) -> bool:
    """Whether a signature says what the command line of this run does not."""
    context = click.get_current_context(silent=True)
    chosen = context.meta.get(_KEY, set()) if context else set()
    return any(f"|{field}:" in signature for field in chosen)


def _fresh_seed(context: click.Context, parameter: click.Parameter, seed: int | None) -> int:
    """The seed given, or a fresh one, which the signature shows on stderr."""
    if seed is not None:
        return seed
    mark_provenance(context, "seed")
    return secrets.randbits(32)


def check_effect(names: Collection[str], needs: str) -> None:
    """Raise for the first of these parameters on the command line: there it has no effect, which `needs` something."""
    context = click.get_current_context()
    for each in context.command.params:
        if each.name in names and context.get_parameter_source(each.name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{each.opts[0]} needs {needs}.")


def positive(context: click.Context, parameter: click.Parameter, number: float | None) -> float | None:
    """A click callback: the number, if it is positive and finite or not given."""
    if number is not None and not 0 < number < inf:
        raise click.BadParameter(f"{number:g} is not a positive number.")
    return number


seed_option = option(
    "--seed",
    type=IntRange(0),
    callback=_fresh_seed,
    metavar="N",
    help="Make the run repeatable.  [default: fresh, shown on stderr]",
)


def size_option(default: int | None, text: str, shown: str | None = None, often: bool | None = None) -> Decorator[Any]:
    """``-k N``; `shown` is how help calls a default that the command works out; `often`: as of `option`."""
    return option(
        "-k",
        "--size",
        "size",
        type=IntRange(1, 2**31 - 1),  # what an int32 counts; no sentence's trees fit into memory before that
        default=default,
        metavar="N",
        help=f"{text}  [default: {shown or default}]",
        often=often,
    )


def entry_option(
    register: Register[Entry],
    *names: str,
    help: str = "{names}  [default: auto]",
    default: str | None = "auto",
    name: Callable[[Entry], str] = attrgetter("name"),
    **attributes: Any,
) -> Decorator[Any]:
    """An option whose value is an entry of a register, by name; the command receives the entry.

    `names` are those of the option and, last, of the parameter; `name` is how help lists an entry.
    """

    def entry(context: click.Context, parameter: click.Parameter, asked: str | None) -> Entry | None:
        return None if asked is None else register.get(asked)

    usual: dict[str, Any] = {"metavar": "NAME", "callback": entry, "shell_complete": register.complete}
    usual["names"] = lambda: map(name, register)
    return option(*names, default=default, help=help, **usual, **attributes)

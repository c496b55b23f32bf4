"""Options in sections of a command's help, or bound together as one object; and commands that guard files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, wraps
from inspect import signature
from types import MappingProxyType
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from deptree_cli.cli.compiling import kernels_told
from deptree_cli.cli.help import READING, RUNNING, WRITING, Listing, write_options, write_text
from deptree_cli.cli.params import EMPTY_NAME, FileName, inputs_of, outputs_of, results_of
from deptree_cli.cli.status_line import status_shown
from deptree_cli.core.errors import readable
from deptree_cli.core.memory import memory_for
from deptree_cli.io.files.overwrites import check_read_once, refuse_overwrites

Function = TypeVar("Function", bound=Callable[..., Any])
Decorator = Callable[[Function], Function]


class Option(click.Option):
    """An option in a section of its command's help; without one it is the command's own.

    Args:
        names: those that its help has in the place of ``{names}``, of a register for example; asked for when shown.
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
        """The option and its help, as click shows them."""
        record = super().get_help_record(ctx)
        return (record[0], record[1].replace("{names}", ", ".join(self._names()))) if record and self._names else record

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """The value in its type; text that names no file is UTF-8 in any locale.

        Raises:
            click.BadParameter: it is an empty text, which would pass for no value.
        """
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
    """A command whose help has its options in sections, and which guards its files and its terminal.

    Args:
        listing: the entries of a register that the whole help explains.
        gone: options that it had, and what does their work now.
    """

    def __init__(
        self, *args: Any, listing: Listing | None = None, gone: Mapping[str, str] = MappingProxyType({}), **options: Any
    ) -> None:
        super().__init__(*args, **options)
        self.listing = listing
        self.gone = gone

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The parameters, --help and, behind it, --help-all."""
        return [*super().get_params(ctx), _HELP_ALL]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse a command line.

        Raises:
            click.UsageError: an option that was removed is named, with what does its work now.
        """
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
        """Write what the command does."""
        write_text(self, self.listing, _WHOLE in ctx.meta, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections that have options."""
        write_options(self.get_params(ctx), _WHOLE in ctx.meta, ctx, formatter)

    def invoke(self, ctx: click.Context) -> Any:
        """Run; no output takes the place of another file of the command line, and people see what goes on."""
        inputs, quiet = inputs_of(ctx), bool(ctx.params.get("quiet"))
        check_read_once(inputs)
        refuse_overwrites(inputs, outputs_of(ctx))
        fewer = "Ask for fewer trees, or l" if ctx.get_parameter_source("size") is ParameterSource.COMMANDLINE else "L"
        enough = memory_for(0, "these sentences", f"{fewer}eave out the longest ones")
        with enough, status_shown(results_of(ctx), quiet), kernels_told(quiet):
            return super().invoke(ctx)


def _show_all(ctx: click.Context, parameter: click.Parameter, asked: bool) -> None:
    """Show the whole help and end."""
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
    """`click.option` in a section."""
    return click.option(*names, cls=Option, section=section, **attributes)


reading_option = partial(option, section=READING)
writing_option = partial(option, section=WRITING)
running_option = partial(option, section=RUNNING)


def command(**attributes: Any) -> Callable[[Callable[..., Any]], Command]:
    """`click.command` with help in sections."""
    return click.command(cls=Command, **attributes)


def apply(options: Sequence[Decorator[Any]], function: Any) -> Any:
    """The function with all these options, the first on top."""
    for each in reversed(options):
        function = each(function)
    return function


def bound(
    name: str, options: Sequence[Decorator[Any]], build: Callable[..., Any], taken: Sequence[str] = ()
) -> Decorator[Any]:
    """Return what gives a command these options; their values reach it as the one object that `build` makes of them.

    Args:
        name: of the command's parameter for that object.
        build: takes the options by their names; those with a default may be missing from a command.
        taken: the names of these options, where the parameters of `build` do not tell.
    """
    names = taken or tuple(signature(build).parameters)

    def decorate(function: Callable[..., Any]) -> Any:
        @wraps(function)
        def with_object(**given: Any) -> Any:
            own = {each: given.pop(each) for each in names if each in given}
            return function(**{name: build(**own)}, **given)

        return apply(options, with_object)

    return decorate

"""Options that know in which section of a command's help they stand: the command's own first, shared ones behind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import click

from deptree_cli.cli.compiling import kernels_told
from deptree_cli.cli.help import READING, RUNNING, WRITING, Listing, write_options, write_options_briefly, write_text
from deptree_cli.cli.interpreting import compiled_or_not
from deptree_cli.cli.params import EMPTY_NAME, INPUT, OUTPUT, FileName
from deptree_cli.cli.provenance import from_defaults
from deptree_cli.cli.report import line_of, talk
from deptree_cli.core.errors import DeptreeError, readable
from deptree_cli.io.files.overwrites import Named, check_read_once, refuse_overwrites
from deptree_cli.io.files.partial_files import partial_files
from deptree_cli.io.files.streams import STDIN

Function = TypeVar("Function", bound=Callable[..., Any])
Decorator = Callable[[Function], Function]


class Option(click.Option):
    """An option in a section of its command's help; without one it is the command's own.

    Args:
        names: the names to list at the end of the help, of a register for example; asked for when help is shown.
        formerly: older names, which still work and are shown nowhere.
        often: whether a command's page explains it; usually if it is the command's own.
    """

    def __init__(
        self,
        *args: Any,
        section: str = "",
        names: Callable[[], Iterable[str]] | None = None,
        formerly: Sequence[str] = (),
        often: bool | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self.section = section
        self._names = names
        self.formerly = list(formerly)
        self.often = not section if often is None else often

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The option and its help, as click shows them."""
        record = super().get_help_record(ctx)
        return (record[0], f"{record[1]}: {', '.join(self._names())}.") if record and self._names else record

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """The value in its type; text that names no file is UTF-8 in any locale.

        Raises:
            click.BadParameter: it is an empty text, which would pass for no value.
        """
        is_name = isinstance(self.type, FileName | click.Path)
        if value == "" or (self.multiple and "" in (value or ())):
            raise click.BadParameter(EMPTY_NAME if is_name else "The value is empty.", ctx, self)
        return super().type_cast_value(ctx, readable(value) if isinstance(value, str) and not is_name else value)

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Let the parser know the older names too."""
        super().add_to_parser(parser, ctx)
        if self.formerly:
            action = "append" if self.multiple else "store"
            parser.add_option(self, self.formerly, dest=self.name, action=action, nargs=self.nargs)


class Command(click.Command):
    """A command whose help has its options in sections, and whose outputs are no inputs and each a file of its own.

    Args:
        listing: what to show behind the text of the help, the entries of a register for example.
    """

    def __init__(self, *args: Any, listing: Listing | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self.listing = listing

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The parameters, --help and, behind it, --help-all."""
        return [*super().get_params(ctx), _HELP_ALL]

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the command does."""
        write_text(self, self.listing, _WHOLE in ctx.meta, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections that have options."""
        write = write_options if _WHOLE in ctx.meta else write_options_briefly
        write(self.get_params(ctx), ctx, formatter)

    def invoke(self, ctx: click.Context) -> Any:
        """Run, unless an output would take the place of another file of the command line."""
        named = list(_files_of(self, ctx))
        inputs, outputs = ([file for file, writes in named if writes == wanted] for wanted in (False, True))
        check_read_once(inputs)
        refuse_overwrites(inputs, outputs)
        quiet = bool(ctx.params.get("quiet"))
        if not quiet:
            for path in partial_files(file.path for file in outputs):
                talk(f"{path} is what a run that was killed left behind; nobody writes it any more")
        with compiled_or_not(ctx), kernels_told(ctx.params.get("output"), quiet), _defaults_named(ctx):
            return super().invoke(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as click does; what is wrong with an option says if that is not on the command line."""
        with _defaults_named(ctx):
            return super().parse_args(ctx, args)


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
    help="Show this page with all options explained.",
)


@contextmanager
def _defaults_named(ctx: click.Context) -> Iterator[None]:
    """Have errors within the block say which of the options that they name are set in the file of defaults."""
    try:
        yield
    except click.UsageError as error:
        line = error.format_message()
        if where := from_defaults(ctx, line):
            raise click.UsageError(f"{line} {where}.", error.ctx or ctx) from None
        raise
    except DeptreeError as error:
        if where := from_defaults(ctx, line_of(error)):
            error.remedy = ". ".join(filter(None, [error.remedy.removesuffix("."), where]))
        raise


def _files_of(command: click.Command, ctx: click.Context) -> Iterator[tuple[Named, bool]]:
    """The files that the command line names, and whether each is written; results go to standard output without -o."""
    for parameter in command.get_params(ctx):
        value = ctx.params.get(parameter.name or "")
        if parameter.type not in (INPUT, OUTPUT):
            continue
        option = parameter.opts[0] if isinstance(parameter, Option) else parameter.human_readable_name.strip("[].")
        if parameter.name == "output":
            value = value or STDIN
        for path in value if isinstance(value, tuple | list) else (value,):
            if isinstance(path, str):
                yield Named(option, path), parameter.type is OUTPUT


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

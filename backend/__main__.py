"""The command line: `serve`, `ask`, `doctor`, `eval`.

It reads the settings, has the parts built, and turns what goes wrong into a line and an exit code: 0 done, 1 it
didn't work, 2 the command or a setting is wrong. Answers go to stdout, everything else to stderr.
"""

from __future__ import annotations

import argparse
import asyncio
from datetime import UTC, datetime
import os
from pathlib import Path
import sys
import time
from typing import Final
import uuid

from backend import __version__, doctor, eval as evaluation
from backend.bootstrap import build, create_server
from backend.contract import AUTO, LABELS, QUERY_MAX_CHARS, Reply
from backend.logs import in_background, set_up
from backend.server.door import clean
from backend.server.run import serve
from backend.settings import LANGUAGE_TAG, Settings, SettingsError, load
from backend.store.database import StoreError
from backend.text.language import primary
from backend.types import FUSION, Question, Style

OK: Final = 0
FAILED: Final = 1
WRONG: Final = 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m backend",
        description="Ask your house anything: grounded, spoken answers from sources the house owns.",
        epilog="Settings come from the environment, or from mnemolis.toml (the same names in lower case).",
    )
    parser.add_argument("--version", action="version", version=f"mnemolis {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--config", type=Path, metavar="FILE", help="TOML file of settings")
    common.add_argument("--library", type=Path, metavar="DIR", help="overrides LIBRARY_DIR")
    common.add_argument("--data-dir", type=Path, metavar="DIR", help="overrides DATA_DIR")

    run = commands.add_parser("serve", parents=[common], help="answer over HTTP until stopped")
    run.add_argument("--host", help="overrides HOST")
    run.add_argument("--port", type=int, help="overrides PORT; 0 takes a free one")
    run.set_defaults(run=_serve)

    ask = commands.add_parser("ask", parents=[common], help="answer one question, and exit")
    ask.add_argument("question", help='what to ask, say "what does error E24 mean"')
    ask.add_argument("--json", action="store_true", help="print the reply as it goes over HTTP")
    ask.add_argument("--source", default=AUTO, help="ask this source alone (default: %(default)s)")
    ask.add_argument("--language", type=_tag, help="language of the question, say de")
    ask.add_argument(
        "--style", type=Style, choices=list(Style), default=Style.VOICE, help="default: %(default)s"
    )
    ask.set_defaults(run=_ask)

    doctor.add_parser(commands, parents=[common])
    evaluation.add_parser(commands)
    return parser


def _tag(value: str) -> str:
    if not LANGUAGE_TAG.fullmatch(value):
        raise argparse.ArgumentTypeError(f"{value!r} is no tag of a language, say en or de-AT")
    return value


def _settings(arguments: argparse.Namespace) -> Settings:
    return load(
        os.environ,
        arguments.config,
        host=getattr(arguments, "host", None),
        port=getattr(arguments, "port", None),
        library_dir=arguments.library,
        data_dir=arguments.data_dir,
    )


def _serve(arguments: argparse.Namespace) -> int:
    settings = _settings(arguments)
    set_up(settings.log_level, settings)

    async def run() -> int:
        async with build(settings) as backend:
            return await serve(
                create_server(backend),
                settings.host,
                settings.port,
                grace=max(settings.request_timeout_seconds, settings.voice_timeout_seconds) + 1,
            )

    with in_background():
        return asyncio.run(run())


def _ask(arguments: argparse.Namespace) -> int:
    settings = _settings(arguments)
    set_up("WARNING" if settings.log_level == "INFO" else settings.log_level, settings)
    # What the terminal sent that is no UTF-8 came in as half surrogate pairs, which nothing can hold.
    text = clean(arguments.question.encode("utf-8", "replace").decode())
    if not 0 < len(text) <= QUERY_MAX_CHARS:
        print(f"a question has 1 to {QUERY_MAX_CHARS} characters", file=sys.stderr)
        return WRONG

    async def run() -> Reply | None:
        async with build(settings) as backend:
            allowed = (AUTO, FUSION, *backend.ask.sources)
            if arguments.source not in allowed:
                print(
                    f"unknown source {arguments.source!r}; allowed: {', '.join(allowed)}",
                    file=sys.stderr,
                )
                return None
            await backend.models.ready()
            received = time.monotonic()
            return await backend.ask.reply(
                Question(
                    text=text,
                    language=primary(arguments.language, settings.language),
                    now=datetime.now(UTC),
                    received=received,
                    deadline=received + settings.request_timeout_seconds,
                    request_id=uuid.uuid4().hex,
                    source=arguments.source,
                    style=arguments.style,
                    synthesize=True,
                    time_zone=settings.local_timezone,
                ),
                explain=True,
            )

    reply = asyncio.run(run())
    if reply is None:
        return WRONG
    if arguments.json:
        print(reply.model_dump_json())
    else:
        _show(reply)
    return OK if reply.success else FAILED


def _show(reply: Reply) -> None:
    """Print a reply for a person: the answer, where it is from, what was retrieved if anything was; to stderr, what failed."""
    print(reply.answer or reply.speech)
    if reply.citations:
        print("\nSources")
        for row in reply.citations:
            title = row.title or LABELS[row.source]
            where = f"{title}: {row.section}" if row.section else title
            print(f"  {row.source}  {where}" + (f"  {row.url}" if row.url else ""))
    if reply.success:
        print(f"\nResult\n{reply.result}")
    for event in reply.explanation or ():
        if event["event"] == "source" and event["outcome"] == "failed":
            print(f"{event['source']}: {event['detail']}; doctor tells more", file=sys.stderr)


def main(argv: list[str] | None = None) -> int:
    """Run a command and return its exit code."""
    arguments = _parser().parse_args(argv)
    try:
        code: int = arguments.run(arguments)
    except (SettingsError, StoreError) as error:
        for line in str(error).splitlines():
            print(f"mnemolis: {line}", file=sys.stderr)
        return WRONG
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read our output has left; don't let the interpreter's last flush complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    return code


if __name__ == "__main__":
    sys.exit(main())

"""A real Home Assistant and the backend, set up and left running for a person to try things out.

What is shown is what the tests drive: the sample library, a demo home, the integration as its config flow sets it
up, and a pipeline of ours as the preferred one. It is kept between runs.
"""

from __future__ import annotations

import argparse
import asyncio
from contextlib import AsyncExitStack, suppress
import os
import shutil
import signal
import sys
import time
from typing import Final

from .backend import LIBRARY, Backend
from .home_assistant import INTEGRATION, PASSWORD, ROOT, USER, HomeAssistant, Refused, is_free
from .process import Process, ProcessEnded

KEPT: Final = ROOT / ".cache" / "develop"
PIPELINE: Final = "Mnemolis"
HOME_ASSISTANT_PORT: Final = 8123

_started = time.monotonic()


def say(text: str) -> None:
    """Print a progress line."""
    print(f"[{time.monotonic() - _started:4.0f}s] {text}", file=sys.stderr, flush=True)


async def set_up(home: HomeAssistant, backend: Backend) -> None:
    """Set the demo home and the integration up as an owner would, once."""
    await home.set_up_demo_home()
    if not await home.entries(INTEGRATION.name):
        done = await home.set_up(INTEGRATION.name, url=backend.url, verify_ssl=True)
        if done["type"] != "create_entry":
            raise SystemExit(f"the integration could not be set up: {done}")
    pipelines = await home.command("assist_pipeline/pipeline/list")
    if not any(pipeline["name"] == PIPELINE for pipeline in pipelines["pipelines"]):
        pipeline = await home.create_pipeline(
            PIPELINE, engine=await home.agent(), prefer_local=True
        )
        await home.command("assist_pipeline/pipeline/set_preferred", pipeline_id=pipeline)


async def backend_ended(process: Process) -> None:
    """Say that the backend has ended; Home Assistant goes on, to be seen without it."""
    await process.wait()
    last = "\n".join(process.lines[-10:])
    say(f"The backend has ended, Home Assistant goes on without it. Its last lines:\n{last}")


async def develop(arguments: argparse.Namespace) -> None:
    """Start both, set them up, and wait until asked to stop or Home Assistant ends."""
    if not is_free(arguments.backend_port):
        raise SystemExit(
            f"Port {arguments.backend_port} is taken, by scripts/run perhaps: stop that, or take another one with"
            " --backend-port."
        )
    # The integration keeps the backend's address: another port is another home.
    kept = KEPT / str(arguments.backend_port)
    if arguments.fresh:
        shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True, exist_ok=True)
    settings = {name: value for name, value in os.environ.items() if name.startswith("LLM_")}
    backend = Backend(kept / "backend", settings, port=arguments.backend_port, config=None)
    home = HomeAssistant(kept / "home", port=arguments.port)
    async with AsyncExitStack() as stack:
        say(f"backend: starting on {LIBRARY}")
        await backend.start()
        stack.push_async_callback(backend.stop)
        say(f"backend: {backend.url}")

        say("Home Assistant: starting (the first start takes longer)")
        home.prepare()
        stack.push_async_callback(home.stop)
        await home.start()
        await set_up(home, backend)
        say(f"Home Assistant: {home.url}  user: {USER}  password: {PASSWORD}")
        say('Ask there (Assist, at the top right): "what does error E24 on the dishwasher mean"')
        say(f"Logs: {kept}/*.log   Ctrl-C stops both.")
        if not arguments.no_browser:
            open_browser(home.url)

        assert home.process is not None
        assert backend.process is not None
        ended = asyncio.create_task(backend_ended(backend.process))
        stack.callback(ended.cancel)
        await home.process.wait()
        raise SystemExit("Home Assistant ended:\n" + "\n".join(home.process.lines[-20:]))


def open_browser(url: str) -> None:
    """Open the address in the desktop's browser, if there is one."""
    opener = shutil.which("open") if sys.platform == "darwin" else shutil.which("xdg-open")
    desktop = (
        sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
    if opener and desktop:
        os.spawnlp(os.P_NOWAIT, opener, opener, url)
    else:
        say(f"Open {url} in a browser.")


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="scripts/develop", description=__doc__)
    parser.add_argument("--fresh", action="store_true", help="forget the home of earlier runs")
    parser.add_argument("--port", type=int, help="of Home Assistant (8123, else a free one)")
    parser.add_argument(
        "--backend-port", type=int, default=8888, help="of the backend (%(default)s)"
    )
    parser.add_argument("--no-browser", action="store_true", help="print the address only")
    arguments = parser.parse_args()
    if arguments.port is None and is_free(HOME_ASSISTANT_PORT):
        arguments.port = HOME_ASSISTANT_PORT

    async def run() -> None:
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        await develop(arguments)

    try:
        with suppress(asyncio.CancelledError):
            asyncio.run(run())
    except KeyboardInterrupt:
        say("stopped")
    except (ProcessEnded, Refused, TimeoutError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

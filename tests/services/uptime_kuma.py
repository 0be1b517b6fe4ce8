"""The real Uptime Kuma that `scripts/services/uptime-kuma` puts into this checkout, set up over its own interface."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
import http.client
import json
import os
from pathlib import Path
import signal
import socket
import subprocess
import time

import pytest

ROOT = Path(__file__).parents[2]
HOME = ROOT / ".cache" / "services" / "uptime-kuma" / "now"
PAGE = "home"
_SET_UP = Path(__file__).with_name("uptime_kuma_setup.cjs")
_STARTS_WITHIN = 90.0


@dataclass(frozen=True, slots=True)
class UptimeKuma:
    """One that runs: its address, and the key for its metrics. Its status page is `PAGE`."""

    url: str
    key: str


@contextmanager
def serving(folder: Path) -> Iterator[UptimeKuma]:
    """Have an Uptime Kuma watch a port where nobody listens, "NAS", and itself, as "Router" and "Home Assistant"."""
    if not (HOME / "node").exists():
        pytest.fail("Uptime Kuma isn't installed: run scripts/services/uptime-kuma")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "db-config.json").write_text('{"type": "sqlite"}', "utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    # Bound, so that nobody else gets the port, and without anyone who listens.
    with socket.socket() as closed, (folder / "uptime-kuma.log").open("wb") as log:
        closed.bind(("127.0.0.1", 0))
        process = subprocess.Popen(
            [HOME / "node", "server/server.js"],
            cwd=HOME / "node_modules" / "uptime-kuma",
            env={
                "PATH": os.environ["PATH"],
                "DATA_DIR": f"{folder}/",
                "UPTIME_KUMA_HOST": "127.0.0.1",
                "UPTIME_KUMA_PORT": str(port),
                "NODE_ENV": "production",
                # It asks for a newer version of itself, which nobody is to hear.
                "HTTPS_PROXY": f"http://127.0.0.1:{closed.getsockname()[1]}",
            },
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            _wait(process, port, folder / "uptime-kuma.log")
            url = f"http://127.0.0.1:{port}"
            yield UptimeKuma(url, _set_up(url, closed.getsockname()[1]))
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Return once it answers, its database made."""
    until = time.monotonic() + _STARTS_WITHIN
    while process.poll() is None and time.monotonic() < until:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_STARTS_WITHIN)
        try:
            connection.request("GET", "/setup-database-info")
            if b'"needSetup":false' in connection.getresponse().read().replace(b" ", b""):
                return
        except OSError:
            pass
        finally:
            connection.close()
        time.sleep(0.1)
    pytest.fail(f"Uptime Kuma doesn't start: {log.read_text('utf-8', 'replace')[-2000:]}")


def _set_up(url: str, closed_port: int) -> str:
    """Return the key for its metrics, once every monitor has had its first look."""
    monitors = [
        {"type": "port", "name": "NAS", "hostname": "127.0.0.1", "port": closed_port},
        {"type": "http", "name": "Router", "url": url},
        {"type": "http", "name": "Home Assistant", "url": f"{url}/setup-database-info"},
    ]
    done = subprocess.run(
        [HOME / "node", _SET_UP],
        cwd=HOME,
        env={"PATH": os.environ["PATH"], "NODE_PATH": str(HOME / "node_modules")},
        input=json.dumps({"url": url, "page": PAGE, "monitors": monitors}).encode(),
        capture_output=True,
        timeout=_STARTS_WITHIN,
        check=False,
    )
    if done.returncode != 0:
        pytest.fail(f"Uptime Kuma can't be set up: {done.stderr.decode(errors='replace')}")
    return str(json.loads(done.stdout)["key"])

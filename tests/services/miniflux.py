"""The real Miniflux on a PostgreSQL of its own, as `scripts/services/miniflux` puts them into this checkout."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
import json
import os
from pathlib import Path
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from typing import Any, Final
import urllib.request

import pytest

HOME: Final = Path(__file__).parents[2] / ".cache" / "services" / "miniflux" / "current"
USER: Final = "anna"
PASSWORD: Final = "for the page 1"
API_PASSWORD: Final = "for-the-api"
_STARTS_WITHIN: Final = 60.0
_ENDS_WITHIN: Final = 10.0
_NOBODY: Final = 65_534


class Miniflux:
    """One Miniflux whose one user has the GReader API switched on; `url` is where it is."""

    def __init__(self, url: str) -> None:
        self.url = url

    def add(self, feed: str) -> None:
        """Have it read a feed, as its owner would; the feed's items are there when this returns."""
        self._ask(
            "/v1/feeds", {"feed_url": feed, "category_id": self._ask("/v1/categories")[0]["id"]}
        )

    def clear(self) -> None:
        """Have it forget all feeds."""
        for feed in self._ask("/v1/feeds"):
            self._ask(f"/v1/feeds/{feed['id']}", method="DELETE")

    def _ask(self, path: str, data: object = None, method: str | None = None) -> Any:
        login = b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        request = urllib.request.Request(
            f"{self.url}{path}",
            None if data is None else json.dumps(data).encode(),
            {"Authorization": f"Basic {login}", "Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=_STARTS_WITHIN) as reply:
            body = reply.read()
        return json.loads(body) if body else None


@contextmanager
def serving(folder: Path) -> Iterator[Miniflux]:
    """Have a Miniflux with no feeds; `folder` is where its log is."""
    if not (HOME / "bin" / "miniflux").exists():
        pytest.fail("Miniflux isn't installed: run scripts/services/miniflux")
    with ExitStack() as stack:
        # Where also others may look: PostgreSQL refuses to be root.
        temporary = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="miniflux-")))
        database = _Database(temporary)
        stack.enter_context(database.running(folder / "postgres.log"))
        port = _free_port()
        url = f"http://127.0.0.1:{port}"
        process = _begin(
            [HOME / "bin" / "miniflux"],
            folder / "miniflux.log",
            {
                "DATABASE_URL": f"host=127.0.0.1 port={database.port} user=postgres dbname=postgres sslmode=disable",
                "LISTEN_ADDR": f"127.0.0.1:{port}",
                "BASE_URL": url,
                "RUN_MIGRATIONS": "1",
                "CREATE_ADMIN": "1",
                "ADMIN_USERNAME": USER,
                "ADMIN_PASSWORD": PASSWORD,
                "FETCHER_ALLOW_PRIVATE_NETWORKS": "1",
            },
        )
        stack.callback(_end, process, signal.SIGTERM)
        _wait(process, folder / "miniflux.log", lambda: _answers(f"{url}/healthcheck"))
        # On its settings page there is a switch for this.
        database.run(
            "CREATE EXTENSION pgcrypto; UPDATE integrations SET googlereader_enabled = true,"
            f" googlereader_username = '{USER}',"
            f" googlereader_password = crypt('{API_PASSWORD}', gen_salt('bf', 4))"
        )
        yield Miniflux(url)


class _Database:
    """A PostgreSQL without a password, on this machine alone; it runs as nobody where the tests are run as root."""

    def __init__(self, folder: Path) -> None:
        self.port = _free_port()
        self._data = folder / "data"
        self._data.mkdir()
        self._home = HOME
        self._as: dict[str, Any] = {}
        if os.geteuid() == 0:
            self._as = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}
            folder.chmod(0o755)
            os.chown(self._data, _NOBODY, _NOBODY)
            # The checkout may lie where nobody else may look.
            self._home = folder / "programs"
            for part in ("lib", "postgres"):
                shutil.copytree(HOME / part, self._home / part, symlinks=True)

    @contextmanager
    def running(self, log: Path) -> Iterator[None]:
        """Make it, and have it running."""
        self._call(
            "initdb",
            "-N",
            "-A",
            "trust",
            "-U",
            "postgres",
            "-E",
            "UTF8",
            "--locale=C",
            "-D",
            str(self._data),
        )
        unsafe_and_quick = (
            "fsync=off",
            "full_page_writes=off",
            "shared_buffers=16MB",
            "unix_socket_directories=",
        )
        process = _begin(
            [
                self._program("postgres"), "-D", self._data, "-h", "127.0.0.1", "-p", str(self.port),
                *(word for setting in unsafe_and_quick for word in ("-c", setting)),
            ],
            log,
            self._environment,
            cwd=self._data,
            **self._as,
        )  # fmt: skip
        try:
            _wait(process, log, lambda: self._psql("SELECT 1").returncode == 0)
            yield
        finally:
            _end(process, signal.SIGINT)

    def run(self, statements: str) -> None:
        """Run SQL."""
        done = self._psql(statements)
        assert done.returncode == 0, done.stderr

    def _psql(self, statements: str) -> subprocess.CompletedProcess[str]:
        return self._call(
            "psql",
            "-X",
            "-h",
            "127.0.0.1",
            "-p",
            str(self.port),
            "-U",
            "postgres",
            "-c",
            statements,
            check=False,
        )

    def _call(
        self, program: str, *arguments: str, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [self._program(program), *arguments],
            env=self._environment,
            cwd=self._data,
            capture_output=True,
            text=True,
            check=False,
            **self._as,
        )
        if check and done.returncode:
            pytest.fail(f"{program}: {done.stderr}")
        return done

    def _program(self, name: str) -> Path:
        return self._home / "postgres" / "bin" / name

    @property
    def _environment(self) -> dict[str, str]:
        return {
            "LD_LIBRARY_PATH": str(self._home / "lib"),
            "LC_ALL": "C",
            "PATH": os.defpath,
            "TZ": "UTC",
        }


def _begin(
    command: Sequence[str | Path], log: Path, environment: dict[str, str], **how: Any
) -> subprocess.Popen[bytes]:
    with log.open("ab") as file:
        return subprocess.Popen(
            command, env=environment, stdout=file, stderr=file, start_new_session=True, **how
        )


def _wait(process: subprocess.Popen[bytes], log: Path, ready: Any) -> None:
    """Return once it is ready; what has ended, or takes too long, fails the test with its log."""
    end = time.monotonic() + _STARTS_WITHIN
    while not ready():
        if process.poll() is not None or time.monotonic() > end:
            pytest.fail(
                f"{process.args!r} doesn't run: {log.read_text('utf-8', 'replace')[-2_000:]}"
            )
        time.sleep(0.05)


def _end(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Have it end; with all that it started, if it doesn't."""
    if process.poll() is None:
        process.send_signal(number)
        try:
            process.wait(_ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5.0) as reply:
            return reply.status == 200
    except OSError:
        return False


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port

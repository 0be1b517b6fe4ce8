"""What every test of the backend is held to: nothing blocks the loop, nothing is left open."""

from __future__ import annotations

from collections.abc import Iterator
import gc
from pathlib import Path
import threading

from blockbuster import BlockBuster, blockbuster_ctx
import pytest

_FILES = Path("/proc/self/fd")


def pytest_fixture_setup() -> None:
    """Open sockets again where Home Assistant's test plugin has closed them: the tests here use loopback."""
    try:
        import pytest_socket
    except ImportError:
        return  # The plugin isn't there on older Pythons.
    pytest_socket.enable_socket()


@pytest.fixture(autouse=True)
def blockbuster() -> Iterator[BlockBuster]:
    """Fail a test in which code of the backend blocks the event loop."""
    with blockbuster_ctx(["backend"]) as guard:
        # The words of a language: small files of our own, each read once in the life of a process.
        for function in guard.functions.values():
            function.can_block_in("backend/languages/__init__.py", {"table", "symbols"})
            # A line of the journal: it goes to the system's memory, and a thread would cost ten times as much.
            function.can_block_in("backend/store/journal.py", {"add"})
            # Lines of the log: Home Assistant's plugin has them all written out.
            function.can_block_in("logging/__init__.py", {"emit", "flush"})
        yield guard


def _open_files() -> dict[str, str]:
    """Return files and sockets by descriptor; what else there is (pipes, epoll) is c-ares', which closes late."""
    files = {}
    for entry in _FILES.iterdir() if _FILES.exists() else ():
        try:
            target = str(entry.readlink())
        except OSError:  # The one that lists the folder is gone by now.
            continue
        # A library that needs chance keeps its source open.
        if target.startswith(("/", "socket:")) and target != "/dev/urandom":
            files[entry.name] = target
    return files


@pytest.fixture(autouse=True)
def verify_cleanup() -> Iterator[None]:
    """Fail a test that leaves files, sockets or threads behind.

    Stands in for the fixture of this name in Home Assistant's plugin, which fails any test that uses a socket.
    """
    files, threads = _open_files(), set(threading.enumerate())
    yield
    # The threads of `asyncio.to_thread` are the loop's own, and end with it. (Home Assistant's plugin has its loop
    # name them differently.)
    left = [
        thread.name
        for thread in set(threading.enumerate()) - threads
        if not thread.name.startswith(("asyncio_", "SyncWorker_"))
    ]
    assert not left, f"threads left behind: {left}"
    opened = {name: file for name, file in _open_files().items() if files.get(name) != file}
    if opened:
        # What only a cycle still holds is nobody's any more.
        gc.collect()
        opened = {name: file for name, file in _open_files().items() if files.get(name) != file}
    assert not opened, f"files left open: {opened}"

"""The processes that the tests here share: they are dear, so one Home Assistant serves them all.

Every test and fixture runs on one event loop, since the processes are followed on it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from unittest.mock import patch

import pytest
import pytest_socket


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, object, object]:
    """Keep sockets open, which Home Assistant's test plugin closes before each test.

    The hosts that it allows stay as they are: 127.0.0.1 alone.
    """
    pytest_socket.enable_socket()
    with patch("pytest_socket.disable_socket"):
        return (yield)


@pytest.fixture(autouse=True)
def verify_cleanup() -> Iterator[None]:
    """Stand in for the plugin's fixture, which ends the loop's threads and takes shared processes for leaks."""
    yield

"""Real books: the Debian handbook and GNOME's help, in the ZIM file that `scripts/sample-zim` builds of them.

They are read here, and by a real kiwix-serve, and say the same.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
import subprocess

import pytest

from backend.sources.http import open_session
from backend.sources.kiwix import Kiwix
from backend.sources.kiwix_serve import KiwixServe
from backend.types import Found, Nothing
from tests.backend.sources.conftest import Asking
from tests.services.kiwix_serve import VERSIONS, serving

ROOT = Path(__file__).parents[3]
BOOK = ROOT / ".cache" / "sample" / "debian-and-gnome.zim"


@pytest.fixture(scope="module")
def book() -> Path:
    """Return the folder of the book, which is built where it isn't there yet."""
    subprocess.run([ROOT / "scripts" / "sample-zim"], check=True, capture_output=True)
    return BOOK.parent


@pytest.fixture(params=["file", *VERSIONS])
async def kiwix(book: Path, request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Kiwix]:
    async with AsyncExitStack() as stack:
        server = None
        if request.param != "file":
            serve = await stack.enter_async_context(serving(request.param, tmp_path / "k", [BOOK]))
            session = await stack.enter_async_context(open_session())
            server = KiwixServe(session, serve.url)
        folder = tmp_path if server else book
        source = Kiwix(folder, rescan_seconds=3600, ttl=60, server=server)
        await source.start()
        stack.push_async_callback(source.close)
        yield source


@pytest.mark.parametrize(
    ("text", "title", "fact"),
    [
        ("how do I change my desktop background", "desktop", "background"),
        ("what is debian", "Debian", "GNU/Linux distribution"),
        ("how do I take a screenshot", "creenshot", "Print"),
        ("connect a bluetooth device", "Bluetooth", "Bluetooth"),
        ("what is a package in debian", "ackag", ".deb"),
        # Titles that share a word with the question don't keep the one from being read that shares none.
        ("how do i record the screen", "screencasts", "switch to screencast mode"),
        ("how do I turn on night light", "color temperature", "Night Light"),
        # Rare words don't outweigh all the others where one article has them all.
        ("what is the debian social contract", "Foundation Documents", "Social Contract"),
        ("configure a firewall with netfilter", "Firewall", "netfilter"),
    ],
)
async def test_a_question_is_answered_from_the_article_on_it(
    kiwix: Kiwix, asking: Asking, text: str, title: str, fact: str
) -> None:
    outcome = await kiwix.ask(*asking(text, "en"))
    assert isinstance(outcome, Found)
    assert title in outcome.passages[0].title
    assert any(fact in passage.text for passage in outcome.passages)
    assert all(
        passage.url and passage.url.startswith(("zim://", "http://"))
        for passage in outcome.passages
    )
    assert not any("<" in passage.text and "/>" in passage.text for passage in outcome.passages)


@pytest.mark.parametrize("text", ["how tall is the eiffel tower", "flurb zaxon quibble"])
async def test_what_the_book_does_not_know_is_nothing(
    kiwix: Kiwix, asking: Asking, text: str
) -> None:
    assert await kiwix.ask(*asking(text, "en")) == Nothing()

"""Real books: the Debian handbook and GNOME's help, in the ZIM file that `scripts/sample-zim` builds of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
import subprocess

import pytest

from backend.sources.kiwix import Kiwix
from backend.types import Found, Nothing
from tests.backend.sources.conftest import Asking

ROOT = Path(__file__).parents[3]
BOOK = ROOT / ".cache" / "sample" / "debian-and-gnome.zim"


@pytest.fixture(scope="module")
def book() -> Path:
    """Return the folder of the book, which is built where it isn't there yet."""
    subprocess.run([ROOT / "scripts" / "sample-zim"], check=True, capture_output=True)
    return BOOK.parent


@pytest.fixture
async def kiwix(book: Path) -> AsyncIterator[Kiwix]:
    source = Kiwix(book, rescan_seconds=3600, ttl=60)
    await source.start()
    yield source
    await source.close()


@pytest.mark.parametrize(
    ("text", "title", "fact"),
    [
        ("how do I change my desktop background", "desktop", "background"),
        ("what is debian", "Debian", "GNU/Linux distribution"),
        ("how do I take a screenshot", "creenshot", "Print"),
        ("connect a bluetooth device", "Bluetooth", "Bluetooth"),
        ("what is a package in debian", "ackag", ".deb"),
    ],
)
async def test_a_question_is_answered_from_the_article_on_it(
    kiwix: Kiwix, asking: Asking, text: str, title: str, fact: str
) -> None:
    outcome = await kiwix.ask(*asking(text, "en"))
    assert isinstance(outcome, Found)
    assert title in outcome.passages[0].title
    assert any(fact in passage.text for passage in outcome.passages)
    assert all(passage.url and passage.url.startswith("zim://") for passage in outcome.passages)
    assert not any("<" in passage.text and "/>" in passage.text for passage in outcome.passages)


@pytest.mark.parametrize("text", ["how tall is the eiffel tower", "flurb zaxon quibble"])
async def test_what_the_book_does_not_know_is_nothing(
    kiwix: Kiwix, asking: Asking, text: str
) -> None:
    assert await kiwix.ask(*asking(text, "en")) == Nothing()

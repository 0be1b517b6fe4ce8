"""Books made for tests, by the real libzim: what is in them, and how they are bound."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from libzim.writer import Creator, Hint, Item, StringProvider

HOLE = """<html lang="en"><head><title>Black hole</title></head><body><h1>Black hole</h1>
<div id="toc" class="toc"><h2>Contents</h2><ul><li>1 Formation</li></ul></div>
<p>A <b>black hole</b> is a region of spacetime where gravity is so strong that nothing can escape.<sup
class="reference">[1]</sup></p>
<h2>Formation<span class="mw-editsection">[edit]</span></h2>
<p>Stellar black holes form when massive stars collapse at the end of their life.</p>
<h2>Size</h2><p>The smallest ones known have about 3.3 times the mass of the Sun.</p>
<h2>References</h2><ol class="references"><li>Some book about a black hole, 1999</li></ol>
<table class="navbox"><tr><td>Black hole topics</td></tr></table></body></html>"""
LIST = "<html><body><h1>List of black holes</h1><ul>{}</ul></body></html>".format(
    "".join(f"<li>Black hole number {n}, a black hole</li>" for n in range(60))
)
MEANINGS = """<html><body><h1>Black hole (disambiguation)</h1><p>Black hole may be:</p><ul>
<li>Black hole, a region of spacetime</li><li>The Black Hole, a film</li><li>Black Hole, a band</li></ul></body></html>"""
TOWER = """<html><body><h1>Eiffel Tower</h1><p>The Eiffel Tower is a lattice tower in Paris.</p>
<h2>Height</h2><p>The tower is 330 metres tall.</p></body></html>"""

ENCYCLOPEDIA = {
    ("Black_hole", "Black hole"): HOLE,
    ("List_of_black_holes", "List of black holes"): LIST,
    ("Black_hole_(disambiguation)", "Black hole (disambiguation)"): MEANINGS,
    ("Eiffel_Tower", "Eiffel Tower"): TOWER,
}
OTHER_NAMES = {"Tour_Eiffel": ("Tour Eiffel", "Eiffel_Tower")}


def page(title: str, text: str) -> str:
    """Return an article of one paragraph."""
    return f"<html><body><h1>{title}</h1><p>{text}</p></body></html>"


class _Article(Item):
    """One entry of a book."""

    def __init__(self, path: str, title: str, content: str, mimetype: str) -> None:
        super().__init__()
        self._said = (path, title, content, mimetype)

    def get_path(self) -> str:
        return self._said[0]

    def get_title(self) -> str:
        return self._said[1]

    def get_mimetype(self) -> str:
        return self._said[3]

    def get_contentprovider(self) -> StringProvider:
        return StringProvider(self._said[2])

    def get_hints(self) -> Mapping[Hint, int]:
        return {Hint.FRONT_ARTICLE: self._said[3] == "text/html"}


def bind(
    path: Path,
    articles: Mapping[tuple[str, str], str],
    *,
    language: str = "eng",
    indexed: bool = True,
    redirects: Mapping[str, tuple[str, str]] | None = None,
    **metadata: str,
) -> Path:
    """Make a book of articles by (path, title); 60 fillers stand beside them, as in a real one."""
    path.unlink(missing_ok=True)
    with Creator(path).config_indexing(indexed, language) as creator:
        creator.set_mainpath("filler0")
        for number in range(60):
            text = page(f"Filler {number}", f"Words of no interest, {number}.")
            creator.add_item(_Article(f"filler{number}", f"Filler {number}", text, "text/html"))
        creator.add_item(_Article("style.css", "black hole", "body {}", "text/css"))
        for (entry, title), content in articles.items():
            creator.add_item(_Article(entry, title, content, "text/html"))
        for entry, (title, target) in (redirects or {}).items():
            creator.add_redirection(entry, title, target, {Hint.FRONT_ARTICLE: True})
        for key, value in {"Language": language, "Title": path.stem, **metadata}.items():
            creator.add_metadata(key, value)
    return path

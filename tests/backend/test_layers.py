"""Imports go downwards only, and a start loads nothing that it doesn't need."""

import ast
from pathlib import Path
import subprocess
import sys

import pytest

ROOT = Path(__file__).parents[2]
BACKEND = ROOT / "backend"

# From the top down; a module may import from its own layer and from those under it.
LAYERS = (
    ("__main__",),
    ("bootstrap", "doctor", "eval"),
    ("server",),
    ("ask",),
    ("gather", "planning", "answer", "house_wiki"),
    ("sources", "evidence", "llm"),
    ("store",),
    ("settings", "contract", "flights", "logs", "text", "languages", "types"),
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
MODULES = sorted(BACKEND.rglob("*.py"))

# Heavy, and needed by some questions at most.
LATE = (
    "ollama",
    "httpx",
    "xllamacpp",
    "numpy",
    "libzim",
    "pypdf",
    "babel",
    "rich",
    "selectolax",
    "feedparser",
    "mcp",
)


def _room(dotted: str) -> str | None:
    """Return the room of a module of ours ("backend.text.words" -> "text"), None for others and the package."""
    parts = dotted.split(".")
    ours = parts[0] == "backend" and len(parts) > 1 and parts[1] != "__version__"
    return parts[1] if ours else None


def _imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_from_its_own_layer_and_below(path: Path) -> None:
    own = _room(".".join(path.relative_to(ROOT).with_suffix("").parts))
    if own in (None, "__init__"):
        return
    upwards = {
        name
        for name in _imported(path)
        if (room := _room(name)) is not None and LEVEL[room] < LEVEL[own]
    }
    assert not upwards


def test_the_backend_knows_nothing_of_home_assistant() -> None:
    offenders = [
        path
        for path in MODULES
        if any(
            name.split(".")[0] in ("homeassistant", "custom_components") for name in _imported(path)
        )
    ]
    assert not offenders


def test_importing_the_server_loads_nothing_heavy() -> None:
    code = f"import backend.bootstrap, sys; print([n for n in {LATE!r} if n in sys.modules])"
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert loaded.stdout.strip() == "[]"


def test_no_link_is_part_of_the_project() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("no checkout")
    listed = subprocess.run(
        ["git", "ls-files", "--stage"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    # A checkout puts a link over what lies there and is ignored: it took environments with it.
    assert not [line for line in listed.stdout.splitlines() if line.startswith("120000")]

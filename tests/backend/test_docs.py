"""Nothing that an owner can set or call is without its line in the documents."""

from pathlib import Path
import re
from typing import get_args, get_type_hints

import pytest

from backend.contract import Reply, SearchRequest
from backend.server.routes import ROUTES
from backend.settings import Settings, load
from backend.types import Failed

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def row(name: str) -> str:
    """Return the line of a setting in docs/settings.md."""
    field = Settings.model_fields[name]
    default = "" if field.default in (None, ()) else f"`{field.default}`"
    return f"| `{name.upper()}` | {default} | {field.description} |"


def test_every_setting_has_its_row_and_every_row_its_setting() -> None:
    rows = [
        line
        for line in (DOCS / "settings.md").read_text("utf-8").splitlines()
        if line.startswith("| `")
    ]
    assert rows == [row(name) for name in Settings.model_fields]


def test_every_address_is_described() -> None:
    text = (DOCS / "http.md").read_text("utf-8")
    missing = [
        f"{route.method} {route.path}"
        for route in ROUTES
        if f"`{route.method} {route.path}" not in text
    ]
    assert not missing


def test_every_field_of_a_question_and_every_error_of_a_reply_is_described() -> None:
    text = (DOCS / "http.md").read_text("utf-8")
    kinds = get_args(get_type_hints(Failed)["kind"])
    named = {name for line in text.splitlines() for name in re.findall(r"`(\w+)", line)}
    assert not {*SearchRequest.model_fields, *kinds, "nothing_found", "not_configured"} - named
    for model in (SearchRequest, Reply):
        assert all(field.description for field in model.model_fields.values())


def test_every_page_is_linked_from_the_readme() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert not [page.name for page in DOCS.glob("*.md") if f"docs/{page.name}" not in readme]


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted(DOCS.glob("*.md"))], ids=lambda p: p.name
)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text("utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", ["README.md", "docs/settings.md"])
def test_settings_that_a_page_shows_can_be_used(page: str, tmp_path: Path) -> None:
    (shown,) = re.findall(
        r"^```toml\n(.*?)^```", (ROOT / page).read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    file = tmp_path / "mnemolis.toml"
    file.write_text(shown, "utf-8")
    assert load({}, file)


def test_every_command_that_the_readme_names_is_there() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    for script in set(re.findall(r"\bscripts/[\w-]+", readme)):
        assert (ROOT / script).exists(), script

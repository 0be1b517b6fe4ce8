"""`python -m backend doctor`: what is wrong is named, with what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import json
import os
from pathlib import Path
import socket
import subprocess
import sys
import threading
from typing import Any

import pytest

from backend.contract import LABELS
from backend.doctor import _NAME, _SET_UP_BY, _WHERE
from backend.settings import Settings

ROOT = Path(__file__).parents[2]


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Return a library of one document."""
    folder = tmp_path / "library"
    folder.mkdir()
    (folder / "boiler.md").write_text("# Boiler\n\nThe pressure is 1.5 bar.\n", "utf-8")
    return folder


@pytest.fixture
def environment(tmp_path: Path, library: Path) -> dict[str, str]:
    """Return settings under which nothing is at fault."""
    return {
        "HOST": "127.0.0.1",
        "PORT": "0",
        "DATA_DIR": str(tmp_path / "data"),
        "LIBRARY_DIR": str(library),
        "LLM_API_TYPE": "extractive",
    }


def doctor(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a person does."""
    return subprocess.run(
        # No file of settings that the checkout may have.
        [sys.executable, "-m", "backend", "doctor", "--config", os.devnull, *arguments],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def found(environment: dict[str, str]) -> tuple[int, dict[str, dict[str, Any]]]:
    """Return the exit code, and the findings by name."""
    done = doctor(environment, "--json")
    assert not done.stderr, done.stderr
    said = json.loads(done.stdout)
    assert said["ok"] == (done.returncode == 0)
    return done.returncode, {check["name"]: check for check in said["checks"]}


def test_where_nothing_is_at_fault_every_line_is_ok(environment: dict[str, str]) -> None:
    done = doctor(environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr
    findings = [line.split()[:2] for line in done.stdout.splitlines() if "->" not in line]
    assert findings == [
        ["ok", name]
        for name in (
            "settings",
            "keys",
            "port",
            "data",
            "house",
            "kiwix",
            "uptime",
            "news",
            "forecast",
            "web",
            "ha",
            "changes",
            "model",
        )
    ]
    assert "1 document" in done.stdout


def test_a_misspelt_setting_is_named_with_the_right_one(environment: dict[str, str]) -> None:
    code, checks = found({**environment, "LIBRARY_DRI": "x"})
    assert code == 1
    assert "LIBRARY_DIR" in checks["settings"]["message"]


def test_documents_that_can_t_be_read_are_named_with_the_reason(
    environment: dict[str, str], library: Path
) -> None:
    (library / "broken.pdf").write_bytes(b"no PDF at all")
    (library / "broken.zim").write_bytes(b"no ZIM at all")
    code, checks = found(environment)
    assert checks["house"]["status"] == "warn"
    assert "broken.pdf" in checks["house"]["message"]
    assert "1 document" in checks["house"]["message"]
    assert checks["kiwix"]["status"] == "fail"
    assert "broken.zim" in checks["kiwix"]["message"]
    assert code == 1


def test_a_library_that_isn_t_there_is_at_fault(environment: dict[str, str]) -> None:
    code, checks = found({**environment, "LIBRARY_DIR": "/no/such/folder"})
    assert code == 1
    assert checks["house"]["status"] == "fail"
    assert "LIBRARY_DIR" in checks["house"]["remedy"]


def test_a_server_that_is_away_is_at_fault(environment: dict[str, str]) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as unused:
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
    code, checks = found({**environment, "KIWIX_URL": url})
    assert code == 1
    assert checks["kiwix"]["status"] == "fail"
    assert "unreachable: no connection to 127.0.0.1" in checks["kiwix"]["message"]
    assert "its setting" in checks["kiwix"]["remedy"]


@pytest.mark.parametrize(
    ("given", "name", "missing"),
    [
        ({"FORECAST_LATITUDE": "0"}, "forecast", "FORECAST_LONGITUDE"),
        ({"FORECAST_LONGITUDE": "0"}, "forecast", "FORECAST_LATITUDE"),
        ({"HA_URL": "http://127.0.0.1:9"}, "ha", "HA_TOKEN"),
        ({"HA_TOKEN": "t"}, "ha", "HA_URL"),
        ({"UPTIME_KUMA_URL": "http://127.0.0.1:9"}, "uptime", "UPTIME_KUMA_STATUS_PAGE"),
        ({"UPTIME_KUMA_STATUS_PAGE": "home"}, "uptime", "UPTIME_KUMA_URL"),
        ({"FRESHRSS_URL": "http://127.0.0.1:9"}, "news", "FRESHRSS_USER"),
    ],
)
def test_a_source_that_is_half_set_up_names_the_other_half(
    given: dict[str, str], name: str, missing: str, environment: dict[str, str]
) -> None:
    code, checks = found({**environment, **given})
    assert code == 0
    assert checks[name]["status"] == "warn"
    assert checks[name]["remedy"] == f"set {missing} too"


def test_a_source_that_is_not_set_up_names_all_that_it_takes(environment: dict[str, str]) -> None:
    code, checks = found(environment)
    assert code == 0
    for name, *settings in (
        ("kiwix", "ZIM_DIR", "KIWIX_URL"),
        ("uptime", "UPTIME_KUMA_URL", "UPTIME_KUMA_STATUS_PAGE"),
        ("news", "NEWS_FEEDS", "FRESHRSS_URL"),
        ("forecast", "FORECAST_LATITUDE", "FORECAST_LONGITUDE"),
        ("web", "SEARXNG_URL"),
        ("ha", "HA_URL", "HA_TOKEN"),
    ):
        assert all(setting in checks[name]["remedy"] for setting in settings), name


def test_every_setting_that_the_doctor_names_is_one() -> None:
    for said in (*_SET_UP_BY.values(), *_WHERE.values()):
        names = [name.lower() for name in _NAME.findall(said)]
        assert names
        assert all(name in Settings.model_fields for name in names)
    assert set(LABELS) == set(_SET_UP_BY)


def test_a_folder_of_encyclopedias_that_isn_t_there_is_at_fault(
    environment: dict[str, str],
) -> None:
    code, checks = found({**environment, "ZIM_DIR": "/no/such/folder"})
    assert code == 1
    assert checks["kiwix"]["status"] == "fail"
    assert "ZIM_DIR" in checks["kiwix"]["remedy"]


@pytest.mark.parametrize(
    ("status", "given"),
    [
        (404, {"SEARXNG_URL": "{url}"}),
        (500, {"SEARXNG_URL": "{url}"}),
        (404, {"NEWS_FEEDS": "{url}/feed"}),
        (200, {"NEWS_FEEDS": "{url}/feed"}),
        (401, {"HA_URL": "{url}", "HA_TOKEN": "t"}),
        (404, {"UPTIME_KUMA_URL": "{url}", "UPTIME_KUMA_STATUS_PAGE": "wrong"}),
        (404, {"KIWIX_URL": "{url}"}),
    ],
)
def test_a_server_that_gives_no_use_comes_with_the_settings_that_name_it(
    status: int, given: dict[str, str], environment: dict[str, str]
) -> None:
    with answering({}, status) as port:
        url = f"http://127.0.0.1:{port}"
        code, checks = found(
            {**environment, **{name: value.format(url=url) for name, value in given.items()}}
        )
    assert code == 1
    # What has changed can't be told either.
    checks.pop("changes")
    (fault,) = [check for check in checks.values() if check["status"] == "fail"]
    assert next(iter(given)) in fault["remedy"]


@pytest.mark.parametrize("kind", ["openai", "ollama"])
def test_a_server_of_something_else_is_no_model(kind: str, environment: dict[str, str]) -> None:
    with answering({}) as port:
        code, checks = found(
            {**environment, "LLM_API_TYPE": kind, "LLM_URL": f"http://127.0.0.1:{port}"}
        )
    assert code == 1
    assert checks["model"]["status"] == "fail"
    assert "LLM_URL" in checks["model"]["remedy"]


def test_composing_that_is_switched_off_needs_no_model(environment: dict[str, str]) -> None:
    del environment["LLM_API_TYPE"]
    code, checks = found({**environment, "SYNTHESIS_ENABLED": "false"})
    assert code == 0
    assert (checks["model"]["status"], checks["model"]["remedy"]) == ("ok", None)


def test_a_server_that_answers_is_fine(environment: dict[str, str]) -> None:
    pages = {"/api/status-page/home": (200, {"publicGroupList": []})}
    pages |= {"/api/status-page/heartbeat/home": (200, {"heartbeatList": {}})}
    with answering(pages) as port:
        code, checks = found(
            {
                **environment,
                "UPTIME_KUMA_URL": f"http://127.0.0.1:{port}",
                "UPTIME_KUMA_STATUS_PAGE": "home",
            }
        )
    assert code == 0
    assert (checks["uptime"]["status"], checks["uptime"]["message"]) == ("ok", "it answers")


def test_a_data_folder_that_can_t_be_written_is_at_fault(
    environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("not a folder")
    code, checks = found({**environment, "DATA_DIR": str(tmp_path / "file" / "data")})
    assert code == 1
    assert checks["data"]["status"] == "fail"
    assert "DATA_DIR" in checks["data"]["message"]


def test_a_taken_port_is_at_fault(environment: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, checks = found({**environment, "PORT": str(taken.getsockname()[1])})
    assert code == 1
    assert checks["port"]["status"] == "fail"
    assert "PORT" in checks["port"]["remedy"]


def test_a_port_that_a_server_of_ours_has_is_fine(environment: dict[str, str]) -> None:
    with answering({"/health": (200, {"status": "ok", "contract": 1})}) as port:
        code, checks = found({**environment, "PORT": str(port)})
    assert code == 0
    assert checks["port"]["status"] == "ok"


def test_a_server_open_to_the_network_is_worth_a_warning(environment: dict[str, str]) -> None:
    code, checks = found({**environment, "HOST": "0.0.0.0"})
    assert code == 0
    assert checks["keys"]["status"] == "warn"
    assert "API_KEYS" in checks["keys"]["remedy"]
    _, checks = found({**environment, "HOST": "0.0.0.0", "API_KEYS": "a-long-key"})
    assert checks["keys"]["status"] == "ok"
    assert "a-long-key" not in str(checks)


def test_a_model_that_isn_t_on_its_server_comes_with_the_command_to_get_it(
    environment: dict[str, str],
) -> None:
    pages: dict[str, tuple[int, dict[str, Any]]] = {
        "/api/show": (404, {"error": "model 'qwen3:8b' not found"}),
        "/api/tags": (200, {"models": []}),
    }
    with answering(pages) as port:
        code, checks = found(
            {**environment, "LLM_API_TYPE": "ollama", "LLM_URL": f"http://127.0.0.1:{port}"}
        )
    assert code == 1
    assert checks["model"]["status"] == "fail"
    assert checks["model"]["remedy"] == "ollama pull qwen3:8b"


def test_a_model_server_that_was_chosen_and_is_down_is_at_fault(
    environment: dict[str, str],
) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as unused:
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
    code, checks = found({**environment, "LLM_API_TYPE": "ollama", "LLM_URL": url})
    assert code == 1
    assert "LLM_URL" in checks["model"]["remedy"]

    del environment["LLM_API_TYPE"]
    code, checks = found({**environment, "LLM_URL": url})
    assert code == 0
    assert checks["model"]["status"] == "warn"
    assert "quoted" in checks["model"]["message"]


@contextmanager
def answering(pages: dict[str, tuple[int, dict[str, Any]]], otherwise: int = 404) -> Iterator[int]:
    """Answer HTTP with `pages` (status and JSON by path), all else with a status; yield the port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, body = pages.get(self.path, (otherwise, {"error": "no such page"}))
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()

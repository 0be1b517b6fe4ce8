"""The scripts as a person runs them: what they offer, and that a second time costs nothing."""

from pathlib import Path
import re
import subprocess

import pytest

from backend import __version__

ROOT = Path(__file__).parents[2]
SERVICES = sorted(f"services/{path.name}" for path in (ROOT / "scripts" / "services").iterdir())


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a script of the checkout from another folder, without a terminal."""
    return subprocess.run(
        [str(ROOT / "scripts" / command[0]), *command[1:]],
        cwd="/",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "script", ["bench", "lint", "python314", "run", "sample-zim", "setup", *SERVICES]
)
def test_help_names_every_option(script: str) -> None:
    shown = run(script, "--help")
    assert shown.returncode == 0
    assert f"usage: scripts/{script}" in shown.stdout
    source = (ROOT / "scripts" / script).read_text(encoding="utf-8")
    options = set(re.findall(r"^ *(?:-h \| )?(--[a-z]+)(?: \| --[a-z]+)*\)", source, re.MULTILINE))
    assert options - {"--help"} <= set(re.findall(r"--[a-z]+", shown.stdout))


@pytest.mark.parametrize("script", ["lint", "python314", "sample-zim", "setup", *SERVICES])
def test_an_unknown_option_is_refused_by_name(script: str) -> None:
    refused = run(script, "--frobnicate")
    assert refused.returncode == 1
    assert "--frobnicate" in refused.stderr


def test_benchmarks_are_named_whether_a_file_or_a_folder() -> None:
    names = run("bench").stdout.rpartition("names: ")[2].split()
    assert {"quality", "voice"} <= set(names)
    assert not any(name.startswith("_") for name in names)
    refused = run("bench", "nonesuch")
    assert refused.returncode == 1
    assert "quality" in refused.stderr


def test_the_benchmark_of_qualities_asks_for_its_data_by_name() -> None:
    assert "--data" in run("bench", "quality").stderr
    missing = run("bench", "quality", "--data", "/nowhere")
    assert missing.returncode == 2
    assert "no folder /nowhere" in missing.stderr
    unknown = run("bench", "quality", "--data", "/", "frobnication")
    assert "there are: numbers, sentences" in unknown.stderr


def test_asking_without_a_question_says_how_to_ask() -> None:
    refused = run("run", "--ask")
    assert refused.returncode == 1
    assert 'scripts/run --ask "QUESTION"' in refused.stderr


@pytest.mark.parametrize("arguments", [("ingest",), ("ingest", "--help"), ("what is E24",)])
def test_what_is_no_command_serves_nothing(arguments: tuple[str, ...]) -> None:
    refused = run("run", *arguments)
    assert refused.returncode == 1
    assert f"unknown command '{arguments[0]}'" in refused.stderr
    assert "serve, ask, doctor and eval" in refused.stderr


def test_the_script_tells_the_version() -> None:
    shown = run("run", "--version")
    assert (shown.returncode, shown.stdout) == (0, f"mnemolis {__version__}\n")


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_that_is_there_is_not_fetched_again(service: str) -> None:
    assert run(service).returncode == 0
    again = run(service)
    assert (again.returncode, again.stdout + again.stderr) == (0, "")


def test_a_second_set_up_does_nothing() -> None:
    assert run("setup", "--backend").returncode == 0
    again = run("setup", "--backend")
    assert again.returncode == 0
    assert again.stdout + again.stderr == ""

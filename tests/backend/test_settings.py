"""Settings come from the environment over one TOML file; what isn't known is refused by its nearest name."""

from pathlib import Path

import pytest

from backend.settings import Settings, SettingsError, load


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read no file of settings that the checkout may have."""
    monkeypatch.chdir(tmp_path)


def test_without_anything_the_defaults_hold() -> None:
    settings = load({})
    assert (settings.port, settings.library_dir, settings.zims) == (
        8888,
        Path("library"),
        Path("library"),
    )
    assert settings.llm_api_type is None


def test_the_environment_wins_over_the_file_and_a_caller_over_both(tmp_path: Path) -> None:
    file = tmp_path / "house.toml"
    file.write_text('port = 1111\nlibrary_dir = "from-file"\nlog_level = "debug"')
    settings = load(
        {"PORT": "2222", "LIBRARY_DIR": "from-env"}, file, library_dir="from-caller", port=None
    )
    assert (settings.port, settings.library_dir) == (2222, Path("from-caller"))
    assert settings.log_level == "DEBUG"


def test_zero_is_a_value_and_an_empty_variable_is_none(tmp_path: Path) -> None:
    settings = load({"CACHE_MAX_SIZE": "0", "SYNTHESIS_MIN_INPUT_CHARS": "0", "LLM_URL": ""})
    assert (settings.cache_max_size, settings.synthesis_min_input_chars) == (0, 0)
    assert settings.llm_url is None


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("SYNTHESIS_VOICE_MAX_CHAR", "SYNTHESIS_VOICE_MAX_CHARS"),
        ("LLM_MODLE", "LLM_MODEL"),
        ("LIBARY_DIR", "LIBRARY_DIR"),
        ("API_KEY", "API_KEYS"),
    ],
)
def test_a_misspelt_variable_is_refused_by_its_nearest_name(wrong: str, right: str) -> None:
    with pytest.raises(SettingsError, match=f"{wrong}; did you mean {right}"):
        load({wrong: "x"})


def test_other_variables_of_the_system_are_nobodys_business() -> None:
    load(
        {
            "PATH": "/bin",
            "HOME": "/",
            "LANG": "C",
            "HOSTNAME": "box",
            "LLAMA_CACHE": "x",
            "TZDIR": "x",
        }
    )


def test_an_unknown_name_in_the_file_is_refused_always(tmp_path: Path) -> None:
    file = tmp_path / "house.toml"
    file.write_text("colour = 1")
    with pytest.raises(SettingsError, match="unknown setting 'colour'; did you mean"):
        load({}, file)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("PORT", "70000", "PORT: .*65535"),
        ("PORT", "eight", "PORT: .*integer"),
        ("LLM_API_TYPE", "chatgpt", "LLM_API_TYPE: .*'ollama'.*'none'"),
        ("LOG_LEVEL", "LOUD", "LOG_LEVEL: .*'DEBUG'"),
        ("LOCAL_TIMEZONE", "Mars/Olympus", "LOCAL_TIMEZONE: .*time zone"),
        ("LLM_URL", "box:11434", "LLM_URL: .*http://"),
        ("LLM_URL", "http://", "LLM_URL: .*http://"),
        ("LLM_URL", "http://[box", "LLM_URL: .*http://"),
        ("LLM_URL", "http://box:port", "LLM_URL: .*http://"),
        ("LLM_URL", "http://a box/", "LLM_URL: .*http://"),
        ("LLM_URL", "http://me:secret@box:11434", "LLM_URL: .*setting"),
        ("LLM_URL", "http://box:11434/v1?key=secret", "LLM_URL: .*setting"),
        ("LANGUAGE", "klingon!", "LANGUAGE: .*say en"),
        ("LANGUAGE", "german", "LANGUAGE: .*say en"),
        ("NEWS_FEEDS", "http://box/feed, box/feed", r"NEWS_FEEDS \(number 2\): .*http://"),
        ("SYNTHESIS_ENABLED", "ja", "SYNTHESIS_ENABLED: has to be true or false$"),
        (
            "BATTERY_LOW_THRESHOLD_PCT",
            "20%",
            "BATTERY_LOW_THRESHOLD_PCT: has to be a valid number$",
        ),
        ("API_KEYS", " , ", "API_KEYS: there is none in it"),
        ("LIBRARY_RESCAN_SECONDS", "0.000001", "LIBRARY_RESCAN_SECONDS: .*greater than"),
        ("SYNTHESIS_TIMEOUT_SECONDS", "nan", "SYNTHESIS_TIMEOUT_SECONDS: "),
        ("REQUEST_TIMEOUT_SECONDS", "-1", "REQUEST_TIMEOUT_SECONDS: .*greater than 0"),
    ],
)
def test_a_bad_value_is_refused_with_what_is_allowed(name: str, value: str, says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        load({name: value})


def test_every_problem_is_named_at_once(tmp_path: Path) -> None:
    file = tmp_path / "house.toml"
    file.write_text('colour = 1\nprot = 2\nforecast_latitude = 95\n[news]\nfeeds = ["http://x"]\n')
    with pytest.raises(SettingsError) as caught:
        load({"PORT": "eight", "LLM_MODLE": "x", "API_KEYS_FILE": str(tmp_path / "gone")}, file)
    said = caught.value.problems
    for part in ("'colour'", "'port'?", "[news]", "LLM_MODEL?", "API_KEYS_FILE", "PORT: ", "LATIT"):
        assert len([problem for problem in said if part in problem]) == 1, (part, said)
    assert len(said) == 7
    assert "Errno" not in str(caught.value)


def test_a_text_without_quotes_is_told_so(tmp_path: Path) -> None:
    file = tmp_path / "house.toml"
    file.write_text("llm_model = qwen3\n")
    with pytest.raises(SettingsError, match="line 1.*quotes"):
        load({}, file)


def test_a_file_for_what_is_no_secret_is_refused() -> None:
    with pytest.raises(SettingsError, match="LLM_MODEL_FILE; secrets alone .*API_KEYS_FILE"):
        load({"LLM_MODEL_FILE": "/run/secrets/model"})
    # Names of one word may be another program's.
    load({"PORT_FILE": "/run/port", "HOST_FILE": "/etc/hosts"})


def test_the_file_of_a_secret_may_be_named_in_the_file_of_settings(tmp_path: Path) -> None:
    key, file = tmp_path / "key", tmp_path / "house.toml"
    key.write_text("from-file\n")
    file.write_text(f'llm_api_key_file = "{key}"\n')
    settings = load({}, file)
    assert settings.llm_api_key is not None
    assert settings.llm_api_key.get_secret_value() == "from-file"
    settings = load({"LLM_API_KEY": "from-env"}, file)
    assert settings.llm_api_key is not None
    assert settings.llm_api_key.get_secret_value() == "from-env"
    file.write_text(f'llm_api_key_file = "{key}"\nllm_api_key = "x"\n')
    with pytest.raises(SettingsError, match="both set"):
        load({}, file)


def test_no_message_and_no_repr_shows_a_secret(tmp_path: Path) -> None:
    settings = load({"API_KEYS": "s3cret, other", "LLM_API_KEY": "s3cret"})
    assert [key.get_secret_value() for key in settings.api_keys] == ["s3cret", "other"]
    assert "s3cret" not in repr(settings)


@pytest.mark.parametrize("content", ["", "\n", "\ufeff\n"])
@pytest.mark.parametrize("name", ["API_KEYS_FILE", "LLM_API_KEY_FILE", "HA_TOKEN_FILE"])
def test_a_file_for_a_secret_that_holds_none_leaves_nothing_open(
    name: str, content: str, tmp_path: Path
) -> None:
    file = tmp_path / "key"
    file.write_text(content, "utf-8")
    with pytest.raises(SettingsError, match=f"{name}: .*is empty"):
        load({name: str(file)})


def test_a_file_may_hold_one_key_a_line(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("\ufeffone\r\ntwo, three\n", "utf-8")
    settings = load({"API_KEYS_FILE": str(file)})
    assert [key.get_secret_value() for key in settings.api_keys] == ["one", "two", "three"]


@pytest.mark.parametrize(
    ("value", "language"),
    [("de_DE:en", "de_DE"), ("de_AT.UTF-8", "de_AT"), ("C.UTF-8", "en"), ("fr-CA", "fr-CA")],
)
def test_a_language_may_be_given_as_the_system_writes_it(value: str, language: str) -> None:
    assert load({"LANGUAGE": value}).language == language


def test_a_folder_may_lie_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    settings = load({"LIBRARY_DIR": "~/papers", "ZIM_DIR": "~/zim"}, data_dir=Path("~/data"))
    assert settings.library_dir == tmp_path / "papers"
    assert settings.zims == tmp_path / "zim"
    assert settings.data_dir == tmp_path / "data"


def test_a_secret_may_lie_in_a_file_but_not_in_both(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("from-file\n")
    settings = load({"LLM_API_KEY_FILE": str(file)})
    assert settings.llm_api_key is not None
    assert settings.llm_api_key.get_secret_value() == "from-file"
    with pytest.raises(SettingsError, match="both set"):
        load({"LLM_API_KEY_FILE": str(file), "LLM_API_KEY": "x"})
    with pytest.raises(SettingsError, match="can't be read"):
        load({"LLM_API_KEY_FILE": str(tmp_path / "gone")})


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "house.toml"
    file.write_bytes(b"\xef\xbb\xbfport = 1111\n")
    assert load({}, file).port == 1111


@pytest.mark.parametrize(
    "content", [b"port = ", b"\xff\xfe\x00", b'port = "x', b"port = " + b"[" * 50_000]
)
def test_a_file_that_is_no_toml_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "house.toml"
    file.write_bytes(content)
    with pytest.raises(SettingsError, match="not valid TOML"):
        load({}, file)


def test_a_file_that_is_named_and_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="can't be read"):
        load({}, tmp_path / "gone.toml")


def test_tz_gives_the_zone_unless_it_is_the_systems_own_kind() -> None:
    assert load({"TZ": "Europe/Berlin"}).local_timezone == "Europe/Berlin"
    assert load({"TZ": "CET-1CEST"}).local_timezone == "UTC"
    assert (
        load({"TZ": "Asia/Tokyo", "LOCAL_TIMEZONE": "Europe/Rome"}).local_timezone == "Europe/Rome"
    )


def test_only_a_server_without_keys_on_the_network_is_open() -> None:
    assert load({"HOST": "0.0.0.0"}).open_to_network
    assert not load({"HOST": "127.0.0.1"}).open_to_network
    assert not load({"HOST": "0.0.0.0", "API_KEYS": "k"}).open_to_network


def test_every_setting_says_what_it_does() -> None:
    assert all(field.description for field in Settings.model_fields.values())

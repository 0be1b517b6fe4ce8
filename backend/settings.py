"""Every setting: its name, type, default, bounds, and what it does.

A value comes from the environment (`NAME`, or `NAME_FILE` naming a file that holds it), else from one TOML file
(the same names in lower case), else from the default. None is "unset"; 0 is a value. A name that isn't known is
refused with the nearest right one: in the TOML file always, in the environment where it is nearly one of ours.
"""

from __future__ import annotations

from collections.abc import Mapping
import difflib
import ipaddress
from pathlib import Path
import re
import tomllib
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
)
from pydantic_core import ErrorDetails

from backend.text.since import Hours

DEFAULT_FILE: Final = Path("mnemolis.toml")
_NEARLY: Final = 0.86
"""From this likeness (0 to 1) on, a name in the environment is taken for one of ours, misspelt."""


LANGUAGE_TAG: Final = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8})*")
"""A BCP 47 tag as people write them: "german" is none."""


class SettingsError(Exception):
    """The settings can't be used; each of `problems` names something that is wrong, and the remedy."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def _split(value: object) -> object:
    """Take "a, b" for ["a", "b"], as environments have no lists; in a file one a line will do."""
    if not isinstance(value, str):
        return value
    parts = [part.strip() for part in re.split(r"[,\r\n]", value) if part.strip()]
    if value and not parts:
        # Who sets it doesn't mean to leave the server open.
        raise ValueError("there is none in it; leave it out")
    return parts


def _at_home(path: Path) -> Path:
    """Take "~" for the home of who runs the server; where there is none, for itself."""
    try:
        return path.expanduser()
    except RuntimeError:
        return path


Seconds = Annotated[float, Field(gt=0, le=86_400 * 365, allow_inf_nan=False)]
Chars = Annotated[int, Field(ge=0, le=1_000_000)]
Kept = Annotated[int, Field(ge=0, le=86_400 * 365)]
Pause = Annotated[float, Field(ge=0.05, le=86_400 * 365, allow_inf_nan=False)]
Keys = Annotated[tuple[SecretStr, ...], BeforeValidator(_split)]
Rate = Annotated[int, Field(ge=1, le=1_000_000)]
Hour = Annotated[int, Field(ge=0, le=23)]
Percent = Annotated[float, Field(ge=0, le=100)]
Where = Annotated[Path, AfterValidator(_at_home)]


def _url(value: str) -> str:
    try:
        parts = urlsplit(value)
        whole = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        whole = False
    if not whole or re.search(r"\s", value):
        raise ValueError("no address that begins with http:// or https://, say http://nas.lan:8080")
    return value


def _server(value: str) -> str:
    """Return the address of a server: it is logged and shown, so that no secret may be in it."""
    parts = urlsplit(_url(value))
    if "@" in parts.netloc or parts.query:
        raise ValueError("a key or password doesn't belong into an address; it has a setting")
    return value.rstrip("/")


def _host(value: str) -> str:
    """Return the name or IP address of a host, as addresses have it."""
    bare = value.lower().rstrip(".").removeprefix("[").removesuffix("]")
    try:
        return str(ipaddress.ip_address(bare))
    except ValueError:
        pass
    if not re.fullmatch(r"[\w-]+(\.[\w-]+)*", bare):
        raise ValueError("no host, say nas.lan or 192.168.1.10, without http:// and port")
    return bare


Url = Annotated[str, AfterValidator(_server)]
Feeds = Annotated[tuple[Annotated[str, AfterValidator(_url)], ...], BeforeValidator(_split)]
Hosts = Annotated[tuple[Annotated[str, AfterValidator(_host)], ...], BeforeValidator(_split)]


class Settings(BaseModel):
    """The settings of one server."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    host: str = Field("0.0.0.0", description="Address to listen on.")
    port: int = Field(8888, ge=0, le=65_535, description="Port to listen on; 0 takes a free one.")
    api_keys: Keys = Field(
        (), description="Keys that clients may use, parted by commas; none leaves the server open."
    )
    rate_limit_per_minute: Rate | None = Field(
        None,
        description="Questions a minute of one key, or of one address where there are no keys.",
    )
    rate_limit_total_per_minute: Rate | None = Field(
        None, description="Questions a minute of all together."
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        "INFO", description="How much the log says."
    )
    local_timezone: str = Field(
        "UTC",
        validation_alias=AliasChoices("local_timezone", "tz"),
        description="IANA zone of the house, used when a request names none; also as TZ.",
    )
    language: str = Field("en", description="Language of a request that names none.")

    data_dir: Where = Field(Path("data"), description="Where the server keeps what it writes.")
    library_dir: Where = Field(Path("library"), description="Folder of the house's documents.")
    library_rescan_seconds: Pause = Field(
        60.0, description="How often the library is looked through for changes."
    )
    zim_dir: Where | None = Field(
        None, description="Folder of ZIM files; unset: the library's folder."
    )
    kiwix_url: Url | None = Field(None, description="kiwix-serve; unset: ZIM files alone.")

    searxng_url: Url | None = Field(None, description="SearXNG, with its JSON format switched on.")
    searxng_request_timeout_seconds: Seconds = Field(
        25.0, description="Limit of a web search; the deadline of the request cuts it short."
    )
    web_fetch_pages: bool = Field(
        True, description="Whether pages that a search finds are read; else what the search says."
    )
    web_private_hosts: Hosts = Field(
        (), description="Hosts inside the house whose pages may be read, parted by commas."
    )

    news_feeds: Feeds = Field((), description="Addresses of RSS or Atom feeds, parted by commas.")
    freshrss_url: Url | None = Field(
        None, description="A server with the GReader API: FreshRSS, Miniflux."
    )
    freshrss_user: str | None = Field(None, description="User of that server.")
    freshrss_api_password: SecretStr | None = Field(
        None, description="Password of that user for the API."
    )

    forecast_latitude: Annotated[float, Field(ge=-90, le=90)] | None = Field(
        None,
        description="Where the house is, in degrees; with the longitude it switches forecasts on.",
    )
    forecast_longitude: Annotated[float, Field(ge=-180, le=180)] | None = Field(
        None, description="Where the house is, in degrees."
    )
    forecast_location_name: str | None = Field(
        None, description="What the house's place is called."
    )
    forecast_timezone: str | None = Field(
        None, description="IANA zone of that place; unset: as Open-Meteo knows it."
    )
    forecast_url: Url | None = Field(
        None, description="Open-Meteo's forecast; unset: the public one, once there is a place."
    )
    geocoding_url: Url | None = Field(
        None, description="Open-Meteo's geocoding; unset: the public one, where forecasts are on."
    )
    forecast_precip_threshold_pct: Percent = Field(
        20.0, description="From this chance of rain on, it is spoken of."
    )
    forecast_wind_threshold_mph: Annotated[float, Field(ge=0, le=500)] = Field(
        15.0, description="From this wind on, it is spoken of."
    )

    uptime_kuma_url: Url | None = Field(None, description="Uptime Kuma.")
    uptime_kuma_api_key: SecretStr | None = Field(
        None, description="Key for its metrics; unset: the status page alone."
    )
    uptime_kuma_status_page: str | None = Field(None, description="Name of its status page.")

    ha_url: Url | None = Field(
        None, description="Home Assistant; unset: the states that come with a question."
    )
    ha_token: SecretStr | None = Field(None, description="Long-lived token of Home Assistant.")
    battery_low_threshold_pct: Percent = Field(
        20.0, description="Below this charge a battery is low."
    )

    morning_start_hour: Hour = Field(6, description="When a morning begins: 0 to 23.")
    work_start_hour: Hour = Field(9, description="When people leave for work: 0 to 23.")
    evening_start_hour: Hour = Field(18, description="When an evening begins: 0 to 23.")

    llm_api_type: Literal["ollama", "openai", "llamacpp", "extractive", "none"] | None = Field(
        None,
        description="What composes answers; unset: Ollama if it answers, else extractive quotes.",
    )
    llm_url: Url | None = Field(
        None, description="Model server; unset: http://127.0.0.1:11434 for Ollama."
    )
    llm_model: str = Field("qwen3:8b", description="Name of the model on its server.")
    llm_api_key: SecretStr | None = Field(None, description="Key of the model server.")
    llm_keep_alive: str = Field("30m", description="How long Ollama keeps the model loaded.")
    llm_num_ctx: int | None = Field(
        None, ge=512, le=1_048_576, description="Context in tokens; unset: what the budget needs."
    )
    llm_model_path: Where | None = Field(None, description="GGUF file for llamacpp.")
    llm_probe_seconds: Pause = Field(
        60.0, description="How often a model server that is down is tried again."
    )

    synthesis_enabled: bool = Field(True, description="Whether answers are composed at all.")
    synthesis_voice_max_chars: Chars = Field(400, description="Cap of a voice answer.")
    synthesis_brief_max_chars: Chars = Field(800, description="Cap of a brief answer.")
    synthesis_max_chars: Chars = Field(3000, description="Cap of a detailed answer.")
    synthesis_min_input_chars: Chars = Field(
        200, description="One section shorter than this is spoken as it is."
    )
    synthesis_input_budget_chars: Annotated[int, Field(ge=200, le=1_000_000)] = Field(
        6000, description="How much material the model is shown."
    )
    synthesis_timeout_seconds: Seconds = Field(8.0, description="Limit of one model call.")
    synthesis_temperature: Annotated[float, Field(ge=0, le=2)] = Field(
        0.1, description="Temperature of the model."
    )

    routing_model_enabled: bool = Field(
        True, description="Whether a model chooses the source where no rule names one."
    )
    routing_timeout_seconds: Seconds = Field(2.0, description="Limit of choosing a source.")
    routing_cache_ttl_seconds: Kept = Field(3600, description="How long such a choice is kept.")
    routing_cache_max_size: Annotated[int, Field(ge=0, le=1_000_000)] = Field(
        1000, description="How many choices are kept."
    )

    cache_ttl_kiwix_seconds: Kept = Field(86_400, description="How long kiwix results are kept.")
    cache_ttl_house_seconds: Kept = Field(86_400, description="How long house results are kept.")
    cache_ttl_web_seconds: Kept = Field(3600, description="How long web results are kept.")
    cache_ttl_news_seconds: Kept = Field(900, description="How long news results are kept.")
    cache_ttl_forecast_seconds: Kept = Field(1800, description="How long forecasts are kept.")
    cache_ttl_uptime_seconds: Kept = Field(60, description="How long service states are kept.")
    cache_ttl_ha_seconds: Kept = Field(
        30, description="How long states read with HA_TOKEN are kept."
    )
    cache_ttl_changes_seconds: Kept = Field(120, description="How long changes are kept.")
    cache_ttl_fusion_seconds: Kept = Field(1800, description="How long fused results are kept.")
    cache_max_size: Annotated[int, Field(ge=0, le=1_000_000)] = Field(
        500, description="How many results and how many answers are kept."
    )

    fusion_max_sources: Annotated[int, Field(ge=1, le=8)] = Field(
        4, description="How many sources one question may ask."
    )
    fusion_max_chars_per_source: Annotated[int, Field(ge=100, le=100_000)] = Field(
        1500, description="Cap of one source's section."
    )
    fusion_timeout_seconds: Seconds = Field(12.0, description="Limit of asking several sources.")
    request_timeout_seconds: Seconds = Field(14.0, description="Deadline of a request.")
    voice_timeout_seconds: Seconds = Field(8.0, description="Deadline of a request by voice.")

    @field_validator("log_level", "llm_api_type", mode="before")
    @classmethod
    def _case(cls, value: object, info: Any) -> object:
        """Take the words in any case; an empty word is unset."""
        if not isinstance(value, str):
            return value
        return value.upper() if info.field_name == "log_level" else value.lower() or None

    @field_validator("local_timezone", "forecast_timezone")
    @classmethod
    def _zone(cls, value: str | None) -> str | None:
        if value is None:
            return None
        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise ValueError("no such IANA time zone, say Europe/Berlin") from error
        return value

    @field_validator("language")
    @classmethod
    def _tag(cls, value: str) -> str:
        """Take a BCP 47 tag, also as the system writes its own variable of this name ("de_DE.UTF-8:en")."""
        tag = re.split(r"[:.@]", value)[0]
        if tag in ("C", "POSIX"):
            return "en"
        if not LANGUAGE_TAG.fullmatch(tag):
            raise ValueError("no tag of a language, say en or de-AT")
        return tag

    @property
    def zims(self) -> Path:
        """The folder of ZIM files."""
        return self.library_dir if self.zim_dir is None else self.zim_dir

    @property
    def hours(self) -> Hours:
        """When the parts of a day begin."""
        return Hours(self.morning_start_hour, self.work_start_hour, self.evening_start_hour)

    @property
    def open_to_network(self) -> bool:
        """Whether anyone on the network may ask without a key."""
        if self.api_keys:
            return False
        try:
            return not ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host != "localhost"

    def cap(self, style: str) -> int:
        """Return the cap of an answer in characters."""
        return {
            "voice": self.synthesis_voice_max_chars,
            "brief": self.synthesis_brief_max_chars,
        }.get(style, self.synthesis_max_chars)


NAMES: Final = (*Settings.model_fields, "tz")
SECRETS: Final = (
    "api_keys",
    "llm_api_key",
    "freshrss_api_password",
    "uptime_kuma_api_key",
    "ha_token",
)


def _nearest(name: str) -> str | None:
    close = difflib.get_close_matches(name.lower(), NAMES, n=1, cutoff=_NEARLY)
    return close[0] if close else None


def _from_file(path: Path, problems: list[str]) -> dict[str, Any]:
    try:
        given = tomllib.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise SettingsError(f"{path}: can't be read ({error.strerror})") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        hint = "; texts stand in quotes" if "Invalid value" in str(error) else ""
        raise SettingsError(f"{path}: not valid TOML: {error}{hint}") from error
    values: dict[str, Any] = {}
    for name, value in given.items():
        secret = _secret_of(name)
        if name in NAMES:
            values[name] = value
        elif secret is not None and isinstance(value, str):
            if secret in given:
                problems.append(f"{path}: {name} and {secret} are both set; keep one")
            else:
                values |= _secret(secret, f"{path}: {name}", value, problems)
        elif isinstance(value, dict):
            problems.append(f"{path}: no setting stands in a table; take [{name}] out")
        else:
            near = difflib.get_close_matches(name.lower(), NAMES, n=1, cutoff=0)[0]
            problems.append(f"{path}: unknown setting {name!r}; did you mean {near!r}?")
    return values


def _from_environment(environment: Mapping[str, str], problems: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for variable, value in environment.items():
        name = variable.lower()
        if variable != variable.upper():
            continue
        if name in NAMES:
            values[name] = value
        elif (secret := _secret_of(name)) is not None:
            if secret.upper() in environment:
                problems.append(f"{variable} and {secret.upper()} are both set; keep one")
            else:
                values |= _secret(secret, variable, value, problems)
        elif "_" in (plain := name.removesuffix("_file")) and plain in NAMES:
            # A name of one word, say PORT_FILE, may be another program's.
            allowed = ", ".join(f"{each.upper()}_FILE" for each in SECRETS)
            problems.append(
                f"unknown setting {variable}; secrets alone may lie in a file: {allowed}"
            )
        elif (near := _nearest(name)) is not None:
            problems.append(f"unknown setting {variable}; did you mean {near.upper()}?")
    return values


def _secret_of(name: str) -> str | None:
    """Return the secret whose file `name` names; None if it names none."""
    secret = name.removesuffix("_file")
    return secret if secret != name and secret in SECRETS else None


def _secret(name: str, said: str, file: str, problems: list[str]) -> dict[str, str]:
    """Return the secret `name` as `file` holds it, which the owner `said` it does."""
    try:
        value = Path(file).read_text("utf-8-sig").strip()
    except OSError as error:
        problems.append(f"{said}: {file}: can't be read ({error.strerror})")
        return {}
    except (UnicodeDecodeError, ValueError):
        problems.append(f"{said}: {file}: is no text")
        return {}
    if not value:
        problems.append(f"{said}: {file}: is empty")
        return {}
    return {name: value}


def load(environment: Mapping[str, str], file: Path | None = None, **overrides: Any) -> Settings:
    """Return the settings of an environment and a TOML file.

    `file` None: `mnemolis.toml` in the working folder, if there. `overrides` win over both; None among them is
    unset. Raises SettingsError.
    """
    problems: list[str] = []
    values: dict[str, Any] = {}
    if file is not None or DEFAULT_FILE.exists():
        values = _from_file(file or DEFAULT_FILE, problems)
    given = _from_environment(environment, problems)
    values |= {name: value for name, value in given.items() if value}
    if "tz" in values and "local_timezone" in values:
        del values["tz"]
    if "tz" in values and not _known_zone(values["tz"]):
        # TZ is the system's own and may be POSIX ("CET-1CEST"); only LOCAL_TIMEZONE is ours alone.
        del values["tz"]
    values |= {name: value for name, value in overrides.items() if value is not None}
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        problems += [_said(row) for row in error.errors(include_url=False, include_input=False)]
        raise SettingsError(*problems) from None
    if problems:
        raise SettingsError(*problems)
    return settings


def _said(row: ErrorDetails) -> str:
    """Return what is wrong with a value, without the value: it may be a secret."""
    name, *inside = row["loc"] or ("settings",)
    which = f" (number {inside[0] + 1})" if inside and isinstance(inside[0], int) else ""
    message = row["msg"].removeprefix("Value error, ").split(", unable to", maxsplit=1)[0]
    message = message.replace("Input should be", "has to be")
    if row["type"] == "bool_parsing":
        message = "has to be true or false"
    return f"{str(name).upper()}{which}: {message}"


def _known_zone(value: str) -> bool:
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True

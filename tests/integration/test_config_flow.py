"""Setting up, moving, giving another key, in the words of what went wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
import datetime as dt
import gc
import ipaddress
from pathlib import Path
import socket
import ssl
import threading
from typing import Any

from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from homeassistant.config_entries import SOURCE_USER, ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.mnemolis_intents import client
from custom_components.mnemolis_intents.config_flow import normalised
from custom_components.mnemolis_intents.const import DOMAIN
from tests.contract import example

from .broker import Broker
from .conftest import set_up

ID = example("health_with_key").body["id"]


@pytest.fixture
def certificate(tmp_path: Path) -> ssl.SSLContext:
    """Return the TLS of a server with a certificate of its own making."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "mnemolis")])
    now = dt.datetime.now(dt.UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]),
            critical=False,
        )
        .sign(key, hashes.SHA256())
    )
    path = tmp_path / "server.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + signed.public_bytes(serialization.Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context


@pytest.fixture
def tls_broker(certificate: ssl.SSLContext, socket_enabled: None) -> Iterator[Broker]:
    """Return a server behind such a certificate, on a loop of its own.

    On Home Assistant's a client that doesn't trust it would count as an error of the test.
    """
    broker = Broker(tls=certificate)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    asyncio.run_coroutine_threadsafe(broker.start(), loop).result()
    yield broker
    asyncio.run_coroutine_threadsafe(broker.stop(), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()
    # asyncio leaves a connection open whose handshake failed; it is to be found here, not in another test.
    gc.collect()


async def submit(hass: HomeAssistant, flow_id: str, **data: Any) -> dict[str, Any]:
    """Fill in the form of a flow."""
    return dict(await hass.config_entries.flow.async_configure(flow_id, data))


async def start(hass: HomeAssistant) -> str:
    """Begin to add a server."""
    result = await hass.config_entries.flow.async_init(DOMAIN, context={"source": SOURCE_USER})
    assert result["type"] is FlowResultType.FORM
    assert not result["errors"]
    flow_id: str = result["flow_id"]
    return flow_id


async def test_a_server_is_added(hass: HomeAssistant, broker: Broker) -> None:
    broker.key = "right"
    result = await submit(
        hass, await start(hass), url=f" {broker.url}/ ", api_key=" right ", verify_ssl=True
    )
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["title"] == "Mnemolis"
    assert result["data"] == {"url": broker.url, "api_key": "right", "verify_ssl": True}
    assert result["result"].unique_id == ID
    await hass.async_block_till_done()
    assert result["result"].state is ConfigEntryState.LOADED


async def test_the_same_server_is_not_added_twice(
    hass: HomeAssistant, broker: Broker, entry: MockConfigEntry
) -> None:
    entry.add_to_hass(hass)
    result = await submit(hass, await start(hass), url=broker.url, verify_ssl=True)
    assert result["type"] is FlowResultType.ABORT
    assert result["reason"] == "already_configured"


@pytest.mark.parametrize("health", [{"status": "ok"}, ["fine"], {"healthy": True, "contract": "x"}])
async def test_an_older_broker_is_known_by_its_address(
    hass: HomeAssistant, broker: Broker, health: Any
) -> None:
    broker.health = health
    result = await submit(hass, await start(hass), url=broker.url, verify_ssl=True)
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert result["result"].unique_id == broker.url


async def test_what_is_wrong_is_told_and_can_be_put_right(
    hass: HomeAssistant, broker: Broker
) -> None:
    flow_id = await start(hass)

    async def error(url: str = broker.url, **data: Any) -> dict[str, str]:
        result = await submit(hass, flow_id, **{"verify_ssl": True, "url": url, **data})
        assert result["type"] is FlowResultType.FORM
        shown = {
            key.schema: (key.description or {}).get("suggested_value")
            for key in result["data_schema"].schema
        }
        assert shown["url"] == url
        assert shown["api_key"] is None
        errors: dict[str, str] = result["errors"]
        return errors

    assert await error("ftp://x") == {"url": "invalid_url"}
    assert await error("http://") == {"url": "invalid_url"}
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        assert await error(f"http://127.0.0.1:{port}") == {"base": "cannot_connect"}
    broker.key = "right"
    assert await error(api_key="wrong") == {"base": "invalid_auth"}
    broker.health = example("health_open").body
    assert await error() == {"base": "invalid_auth"}
    broker.health = "<html>A printer</html>"
    assert await error() == {"base": "not_ours"}
    broker.health, broker.health_status = {"error": "not_found"}, 404
    assert await error() == {"base": "not_ours"}
    broker.health, broker.health_status = "moved", 301
    assert await error() == {"base": "not_ours"}
    assert await error(broker.url.replace("http:", "https:")) == {"base": "tls"}

    broker.health, broker.health_status = example("health_with_key").body, 200
    result = await submit(hass, flow_id, url=broker.url, api_key="right", verify_ssl=True)
    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_an_older_broker_s_key_is_tried_where_it_is_needed(
    hass: HomeAssistant, broker: Broker
) -> None:
    broker.health = {"status": "ok"}

    async def refuse(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if request.headers.get("X-API-Key") == "right":
            return web.json_response([])
        return web.json_response({"detail": "no"}, status=403)

    broker.sources = refuse
    flow_id = await start(hass)
    result = await submit(hass, flow_id, url=broker.url, verify_ssl=True)
    assert result["errors"] == {"base": "invalid_auth"}
    result = await submit(hass, flow_id, url=broker.url, api_key="right", verify_ssl=True)
    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_a_server_that_never_answers_is_told_from_one_that_is_not_there(
    hass: HomeAssistant, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_HEALTH_SECONDS", 0.1)
    broker.silent = asyncio.Event()
    result = await submit(hass, await start(hass), url=broker.url, verify_ssl=True)
    broker.silent.set()
    assert result["errors"] == {"base": "timed_out"}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_a_certificate_of_its_own_making_needs_a_word(
    hass: HomeAssistant, tls_broker: Broker
) -> None:
    flow_id = await start(hass)
    result = await submit(hass, flow_id, url=tls_broker.url, verify_ssl=True)
    assert result["errors"] == {"base": "tls"}
    result = await submit(hass, flow_id, url=tls_broker.url, verify_ssl=False)
    assert result["type"] is FlowResultType.CREATE_ENTRY


async def test_a_fault_of_our_own_is_told_too(
    hass: HomeAssistant, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(self: client.MnemolisClient) -> client.Health:
        raise RuntimeError

    monkeypatch.setattr(client.MnemolisClient, "check", fail)
    result = await submit(hass, await start(hass), url=broker.url, verify_ssl=True)
    assert result["errors"] == {"base": "unknown"}


async def test_a_refused_key_is_renewed(
    hass: HomeAssistant, broker: Broker, entry: MockConfigEntry
) -> None:
    broker.key = "new"
    await set_up(hass, entry)
    async with asyncio.timeout(10):
        while not (flows := hass.config_entries.flow.async_progress_by_handler(DOMAIN)):
            await asyncio.sleep(0.01)
    (flow,) = flows
    assert flow["step_id"] == "reauth_confirm"
    result = await submit(hass, flow["flow_id"], api_key="wrong")
    assert result["errors"] == {"base": "invalid_auth"}
    result = await submit(hass, flow["flow_id"], api_key="new")
    assert result["reason"] == "reauth_successful"
    await hass.async_block_till_done()
    assert entry.data["api_key"] == "new"
    assert entry.state is ConfigEntryState.LOADED


async def test_a_server_moves_and_keeps_its_key(
    hass: HomeAssistant, broker: Broker, entry: MockConfigEntry
) -> None:
    entry.add_to_hass(hass)
    hass.config_entries.async_update_entry(
        entry, data={**entry.data, "url": "http://old.example:8888"}
    )
    broker.key = "right"
    result = await entry.start_reconfigure_flow(hass)
    assert result["type"] is FlowResultType.FORM
    result = await submit(hass, result["flow_id"], url="http:///", verify_ssl=True)
    assert result["errors"] == {"url": "invalid_url"}
    result = await submit(hass, result["flow_id"], url=broker.url, verify_ssl=True)
    assert result["reason"] == "reconfigure_successful"
    assert entry.data == {"url": broker.url, "api_key": "right", "verify_ssl": True}


async def test_another_server_does_not_take_its_place(
    hass: HomeAssistant, broker: Broker, entry: MockConfigEntry
) -> None:
    entry.add_to_hass(hass)
    broker.health = {**broker.health, "id": "another"}
    result = await entry.start_reconfigure_flow(hass)
    result = await submit(hass, result["flow_id"], url=broker.url, verify_ssl=True)
    assert result["reason"] == "another_server"


async def test_an_older_broker_may_learn_its_id(
    hass: HomeAssistant, broker: Broker, entry: MockConfigEntry
) -> None:
    entry.add_to_hass(hass)
    hass.config_entries.async_update_entry(entry, unique_id=broker.url)
    result = await entry.start_reconfigure_flow(hass)
    result = await submit(hass, result["flow_id"], url=broker.url, verify_ssl=True)
    assert result["reason"] == "reconfigure_successful"
    assert entry.unique_id == ID


async def test_options_hold_at_once(hass: HomeAssistant, entry: MockConfigEntry) -> None:
    await set_up(hass, entry)
    result = await hass.config_entries.options.async_init(entry.entry_id)
    result = await hass.config_entries.options.async_configure(
        result["flow_id"], {"timeout": 20, "send_place": False}
    )
    assert result["type"] is FlowResultType.CREATE_ENTRY
    assert entry.options == {"timeout": 20, "send_place": False}


@pytest.mark.parametrize(
    ("entered", "kept"),
    [
        ("box:8888", "http://box:8888"),
        (" http://box:8888/ ", "http://box:8888"),
        ("https://box/mnemolis/?a=b#c", "https://box/mnemolis"),
        ("HTTP://BOX:8888", "http://box:8888"),
        ("[::1]:8888", "http://[::1]:8888"),
    ],
)
def test_an_address_is_kept_in_one_form(entered: str, kept: str) -> None:
    assert normalised(entered) == kept
    assert normalised(kept) == kept

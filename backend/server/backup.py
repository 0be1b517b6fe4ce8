"""A copy of all that the server keeps, as one archive.

Decides what is in it: the database as it is at one moment, whatever is being written, and the server's id. What is
in the library is the owner's own files and stays out.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
import tarfile
import tempfile
from typing import IO, Final

from aiohttp import web

from backend.server.parts import SETTINGS, STORE, Keeping

_CHUNK: Final = 256 * 1024
_ID: Final = "id"


async def get(request: web.Request) -> web.StreamResponse:
    """Send the archive; it is made in a temporary file first."""
    data_dir = request.app[SETTINGS].data_dir
    await request.app[STORE].log.written()
    with tempfile.TemporaryFile() as archive:
        size = await asyncio.to_thread(_write, archive, request.app[STORE], data_dir)
        name = f"mnemolis-{datetime.now(UTC):%Y-%m-%d}.tar.gz"
        response = web.StreamResponse(
            headers={
                "Content-Type": "application/gzip",
                "Content-Disposition": f'attachment; filename="{name}"',
                "Content-Length": str(size),
            }
        )
        await response.prepare(request)
        while chunk := await asyncio.to_thread(archive.read, _CHUNK):
            await response.write(chunk)
        await response.write_eof()
        return response


def _write(archive: IO[bytes], store: Keeping, data_dir: Path) -> int:
    """Write the archive and return its size in bytes, ready to be read; blocks. Raises StoreError."""
    with tempfile.TemporaryDirectory(prefix="mnemolis-") as folder:
        copy = Path(folder) / store.path.name
        store.copy(copy)
        with tarfile.open(fileobj=archive, mode="w:gz") as tar:
            tar.add(copy, copy.name)
            if (data_dir / _ID).is_file():
                tar.add(data_dir / _ID, _ID)
    size = archive.tell()
    archive.seek(0)
    return size


def info(store: Keeping) -> dict[str, int | str | None]:
    """Return how large the database is, in bytes, and when it was last written; blocks."""
    written = [path.stat() for path in _files(store.path) if path.is_file()]
    at = max((stat.st_mtime for stat in written), default=None)
    return {
        "file": store.path.name,
        "bytes": sum(stat.st_size for stat in written),
        "written_at": None if at is None else datetime.fromtimestamp(at, UTC).isoformat(),
    }


def _files(path: Path) -> tuple[Path, Path]:
    """Return the files that belong to a database in WAL mode and hold its rows."""
    return path, path.with_name(f"{path.name}-wal")

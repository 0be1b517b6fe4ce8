"""SQL is here, its meaning elsewhere."""

from backend.store.database import StoreError
from backend.store.store import Store

__all__ = ["Store", "StoreError"]

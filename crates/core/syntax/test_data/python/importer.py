"""Imports cost reports from cloud providers."""

from __future__ import annotations

import os
import json as js, logging
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping as MappingABC
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Generic, Optional, TypeVar

from . import settings
from .base import BaseImporter, register as register_importer
from ..models.report import CostReport
from ...shared import *

try:
    import ujson
except ImportError:
    ujson = None

if TYPE_CHECKING:
    from .client import Client

__all__ = ["AWSImporter", "load", "MAX_ROWS"]
__all__ += ["Row"]

T = TypeVar("T")
MAX_ROWS = 10_000
_cache: dict[str, "CostReport"] = {}
logger = logging.getLogger(__name__)
first, second = 1, 2


@dataclass(frozen=True)
class Row:
    """One line of a report."""

    account: str
    amount: float = 0.0
    tags: list[str] = field(default_factory=list)
    client: Optional[Client] = None
    KINDS: ClassVar[tuple] = ("a", "b")

    @property
    def is_free(self) -> bool:
        return self.amount == 0

    @is_free.setter
    def is_free(self, value: bool) -> None:
        raise AttributeError(value)


# Reads what the provider writes.
# Two lines of comment.
@register_importer("aws", priority=1)
class AWSImporter(BaseImporter, Generic[T], metaclass=settings.Meta):
    """Imports AWS reports.

    Reads them page by page.
    """

    region = "eu-west-1"
    _retries = 3

    def __init__(self, client: Client, *, limit: int = MAX_ROWS, **options):
        super().__init__(**options)
        self.client = client
        self.rows: list[Row] = []
        self.session = Session(client)
        self.limit, self.offset = limit, 0

    async def fetch(self, path: str) -> Optional[CostReport]:
        """Fetches one report."""
        async with self.session.get(path, timeout=30) as response:
            data = await response.json()
        report = CostReport.parse(data)
        self._store(report)
        return report

    def _store(self, report: CostReport) -> None:
        def key(row):
            return row.account

        for row in sorted(report.rows, key=key):
            entry = Row(row.account, amount=row.amount)
            self.rows.append(entry)
            self.client.metrics.increment("rows", *row.tags)

    @classmethod
    def create(cls, *args) -> "AWSImporter[int]":
        return cls(*args)

    @staticmethod
    def __secret(value):
        return js.dumps(value)

    class Options:
        depth: int = 3

        def validate(self):
            return self.depth > 0


def load(path: str | os.PathLike, importer: AWSImporter | None = None) -> Iterable[Row]:
    '''Loads rows.'''
    global _cache
    from .late import LateLoader as Loader

    importer = importer or AWSImporter(Client())
    local_value = 3
    if (tree := ET.parse(path)):
        logger.info("parsed %s", tree)
    with Loader(path) as loader:
        yield from loader.rows(limit=local_value)
    try:
        run(importer.fetch, retry=load)
    except (KeyError, ParseFailure) as error:
        raise ImportFailed(path) from error


def _hidden(items: MappingABC[str, Row], callback=load):
    return [transform(item) for item in items if keep(item)]


handlers = {"load": load, "json": js.loads}


if __name__ == "__main__":
    main = load(os.environ["REPORT"])
    print(len(list(main)))

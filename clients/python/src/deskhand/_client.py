"""The service: starting, listing and finding sessions, and keeping documents."""

from __future__ import annotations

import json
import os
import ssl
import uuid
from typing import Any, Dict, Iterator, Optional, Sequence, Union
from urllib.parse import quote, urlencode

from ._http import Service
from ._session import Session

_PAGE = 200


class Client:
    """A service at an address such as `http://127.0.0.1:4587`, with the token that it printed.

    While it cannot be reached, requests are sent again for up to `patience` seconds; what starts something carries an
    `Idempotency-Key`, so that nothing is started twice. `timeout` is how long one answer may take.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        patience: float = 60.0,
        timeout: float = 300.0,
        context: Optional[ssl.SSLContext] = None,
    ) -> None:
        self._service = Service(url, token, patience, timeout, context)

    def start(
        self,
        request: str,
        *,
        open: Sequence[Union[str, "os.PathLike[str]"]] = (),
        model: Optional[str] = None,
        size: Optional[str] = None,
        max_cost: Optional[float] = None,
        max_steps: Optional[int] = None,
        max_minutes: Optional[int] = None,
        key: Optional[str] = None,
        **more: Any,
    ) -> Session:
        """Starts a session on a desktop of its own, and returns once it runs.

        `open` are documents on the machine of the service, or addresses; `document` brings one there. `key` is the
        `Idempotency-Key`: with the same one, the same session is returned. `more` are further fields of `StartSession`.
        """
        wanted: Dict[str, Any] = {"request": request, "open": [os.fspath(one) for one in open], **more}
        bounds = {"model": model, "size": size, "max_cost": max_cost, "max_steps": max_steps, "max_minutes": max_minutes}
        wanted.update({name: value for name, value in bounds.items() if value is not None})
        started = self._once("/api/sessions", wanted, key)
        return Session(self, started["id"])

    def session(self, id: str) -> Session:
        """A session by its id."""
        return Session(self, id)

    def sessions(self, words: str = "", **filters: Any) -> Iterator[Dict[str, Any]]:
        """All sessions that fit, newest first: rows of the table.

        `filters` are the parameters of `GET /api/sessions`, such as `outcome="finished"` or `sort="cost"`.
        """
        offset = 0
        while True:
            asked = {"q": words, **filters, "offset": offset, "limit": _PAGE}
            table = self._service.call("GET", "/api/sessions?" + urlencode(asked))
            yield from table["rows"]
            offset += len(table["rows"])
            if not table["rows"] or offset >= table["total"]:
                return

    def document(self, path: Union[str, "os.PathLike[str]"], name: Optional[str] = None) -> str:
        """Brings a document to the machine of the service, and returns its path there, for `open` of `start`."""
        path = os.fspath(path)
        name = os.path.basename(path) if name is None else name
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(os.path.getsize(path))}
        with open(path, "rb") as file:
            place = "/api/documents?name=" + quote(name, safe="")
            with self._service.open("POST", place, file, headers) as response:
                return str(json.load(response)["path"])

    def describe(self) -> Dict[str, Any]:
        """The OpenAPI document of the service."""
        described: Dict[str, Any] = self._service.call("GET", "/api/openapi.json")
        return described

    def _once(self, path: str, value: Any, key: Optional[str] = None) -> Any:
        """A request that is carried out once, however often it is sent."""
        return self._service.call("POST", path, value, {"Idempotency-Key": key or str(uuid.uuid4())})

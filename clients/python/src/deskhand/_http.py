"""Requests to the service, sent again when it cannot be reached."""

from __future__ import annotations

import http.client
import json
import random
import socket
import ssl
import time
from typing import Any, BinaryIO, Dict, Optional, Union
from urllib.parse import urlsplit

from ._errors import ApiError, DeskhandError, Unreachable

Body = Union[bytes, BinaryIO, None]

#: The time between two attempts grows from the first to the second of these, in seconds.
_PAUSE_FIRST = 0.05
_PAUSE_MAX = 2.0

#: What a connection fails with when the service is not there, or goes away.
GONE = (OSError, http.client.HTTPException)


class Patience:
    """Attempts until a deadline, with growing pauses between them."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.renew()

    def renew(self) -> None:
        """Begins anew: the service answered."""
        self._deadline = time.monotonic() + self._seconds
        self._pause = _PAUSE_FIRST

    def wait(self, why: BaseException) -> None:
        """Pauses before the next attempt, or raises `Unreachable`."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise Unreachable(f"the service cannot be reached: {why}") from why
        time.sleep(min(left, self._pause * random.uniform(0.5, 1.0)))
        self._pause = min(self._pause * 2, _PAUSE_MAX)


class Service:
    """The address of a service, with its token."""

    def __init__(self, url: str, token: str, patience: float, timeout: float, context: Optional[ssl.SSLContext]) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise DeskhandError(f"`{url}` is no address of a service, such as http://127.0.0.1:4587")
        self._https = parts.scheme == "https"
        self._host = parts.hostname
        self._port = parts.port
        self._token = token
        self._timeout = timeout
        self._context = context
        self.patience = patience

    def open(
        self,
        method: str,
        path: str,
        body: Body = None,
        headers: Optional[Dict[str, str]] = None,
        stays: bool = False,
    ) -> http.client.HTTPResponse:
        """Sends a request once, and returns the response with its body unread. The connection ends with it.

        One that `stays` may be silent for as long as it likes.
        """
        timeout = None if stays else self._timeout
        connection: http.client.HTTPConnection
        if self._https:
            connection = http.client.HTTPSConnection(self._host, self._port, timeout=timeout, context=self._context)
        else:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=timeout)
        sent = {"Authorization": f"Bearer {self._token}", "Connection": "close"}
        sent.update(headers or {})
        try:
            connection.connect()
            connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            connection.request(method, path, body=body, headers=sent)
            response = connection.getresponse()
        except BaseException:
            connection.close()
            raise
        if response.status >= 400:
            with response:
                raise ApiError(response.status, _message(response.read(), response.reason))
        return response

    def call(
        self, method: str, path: str, value: Any = None, headers: Optional[Dict[str, str]] = None, again: bool = True
    ) -> Any:
        """Sends JSON and returns what is answered; sends it again if the service cannot be reached and `again` says so."""
        body = None if value is None else json.dumps(value).encode()
        headers = dict(headers or {})
        if body is not None:
            headers["Content-Type"] = "application/json"
        patience = Patience(self.patience if again else 0)
        while True:
            try:
                with self.open(method, path, body, headers) as response:
                    text = response.read()
                return json.loads(text) if text else None
            except ApiError as error:
                # A first attempt of the same request may still be carried out, or there were too many requests.
                is_passing = error.status == 429 or (error.status == 409 and "still carried out" in error.message)
                if not (again and is_passing):
                    raise
                patience.wait(error)
            except GONE as error:
                patience.wait(error)


def _message(text: bytes, reason: str) -> str:
    try:
        return str(json.loads(text)["error"])
    except (ValueError, KeyError, TypeError):
        return text.decode(errors="replace").strip() or reason

"""One session: its lines, answers to what it asks, and its end."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, Iterator, Mapping, Optional, Sequence, Union

from ._errors import DeskhandError
from ._http import GONE, Patience

if TYPE_CHECKING:
    from ._client import Client

#: A line of the protocol; each has a `kind`.
Line = Dict[str, Any]

#: A line that asks something, or its `id`.
Asked = Union[int, Mapping[str, Any]]


@dataclass(frozen=True)
class Outcome:
    """How a session ended."""

    #: `finished`, `failed`, `rejected`, `budget_exhausted`, `cancelled` or `error`; `None` if its last request is not over.
    outcome: Optional[str]
    reason: str
    #: The last line.
    summary: Line

    @property
    def finished(self) -> bool:
        """Whether the last request was fulfilled."""
        return self.outcome == "finished"


class Session:
    """A session of a service."""

    def __init__(self, client: "Client", id: str) -> None:
        self._client = client
        self._service = client._service
        self.id = id

    def __repr__(self) -> str:
        return f"Session({self.id!r})"

    def lines(self, after: int = 0) -> Iterator[Line]:
        """The lines of the protocol, from the record after `after` on, until the session does not run any more.

        Each line of the journal comes once and in order, also if the connection breaks or the service is started again
        meanwhile. Prompts that are open come again after that. The last line is the `summary`.
        """
        patience = Patience(self._service.patience)
        while True:
            try:
                path = f"/api/sessions/{self.id}/lines?after={after}"
                with self._service.open("GET", path, stays=True) as response:
                    while True:
                        text = response.readline()
                        if not text.endswith(b"\n"):
                            raise ConnectionError("the service has ended")
                        line: Line = json.loads(text)
                        if line.get("kind") == "error" and line.get("line") == 0:
                            raise ConnectionError(line.get("message"))
                        patience.renew()
                        seq = line.get("seq")
                        if line.get("kind") in _RECORDS and isinstance(seq, int):
                            if seq <= after:
                                continue
                            after = seq
                        yield line
                        if line.get("kind") == "summary":
                            return
            except GONE as error:
                patience.wait(error)

    def wait(self) -> Outcome:
        """Waits until the session does not run any more."""
        summary: Line = {}
        for line in self.lines():
            summary = line
        return Outcome(summary.get("outcome"), str(summary.get("reason", "")), summary)

    def answer(self, asked: Asked, *answers: Optional[str]) -> None:
        """Answers questions, one text for each; `None` leaves one open."""
        self._do({"do": "answer", "id": _id_of(asked), "answers": list(answers)})

    def approve(self, asked: Asked, *, for_session: bool = False) -> None:
        """Allows an action; for the rest of the session also the like of it."""
        self._do({"do": "decide", "id": _id_of(asked), "approve": "session" if for_session else "once"})

    def refuse(self, asked: Asked, instead: Optional[str] = None) -> None:
        """Refuses an action; `instead` says what to do in its place."""
        line: Line = {"do": "decide", "id": _id_of(asked), "approve": "no"}
        if instead is not None:
            line["instruction"] = instead
        self._do(line)

    def say(self, text: str) -> None:
        """Says something to the agents."""
        self._do({"do": "say", "text": text})

    def pause(self) -> None:
        """Pauses before the next effect."""
        self._do({"do": "pause"})

    def go_on(self) -> None:
        """Ends a pause."""
        self._do({"do": "resume"})

    def stop(self, *, now: bool = False) -> None:
        """Stops the request after the current action, or at once."""
        self._do({"do": "stop", "now": now})

    def request(self, text: str) -> None:
        """Adds a further request to a session that runs."""
        self._do({"do": "request", "text": text})

    def end(self) -> None:
        """No further requests."""
        self._do({"do": "end"})

    def resume(self, request: str = "", *, model: Optional[str] = None, key: Optional[str] = None) -> "Session":
        """Goes on with a session that does not run, with a further request or with the one that is not over."""
        self._client._once(f"/api/sessions/{self.id}/resume", _with_model({"request": request}, model), key)
        return self

    def fork(self, at: int, request: str = "", *, model: Optional[str] = None, key: Optional[str] = None) -> "Session":
        """Forks the session after a record, and goes on with the fork, which is returned."""
        wanted = _with_model({"at": at, "request": request}, model)
        forked = self._client._once(f"/api/sessions/{self.id}/fork", wanted, key)
        return Session(self._client, forked["id"])

    def moments(self) -> Dict[str, Any]:
        """What happened, moment by moment."""
        moments: Dict[str, Any] = self._service.call("GET", f"/api/sessions/{self.id}/moments")
        return moments

    def remove(self) -> None:
        """Removes the session, which must not run."""
        self._service.call("DELETE", f"/api/sessions/{self.id}", again=False)

    def _do(self, line: Line) -> None:
        self._client._once(f"/api/sessions/{self.id}/do", line)


#: The kinds of lines that are records of the journal.
_RECORDS = ("header", "effect", "event", "changed")


def _with_model(wanted: Line, model: Optional[str]) -> Line:
    return wanted if model is None else {**wanted, "model": model}


def _id_of(asked: Asked) -> int:
    id = asked if isinstance(asked, int) else asked.get("id")
    if not isinstance(id, int):
        raise DeskhandError("this line asks nothing: it has no `id`")
    return id

"""A client of `deskhand serve`.

    client = Client("http://127.0.0.1:4587", token)
    session = client.start("make a chart of the sales table", open=["/home/me/sales.ods"])
    for line in session.lines():
        if line["kind"] == "questions":
            session.answer(line, "PNG")
        elif line["kind"] == "approval":
            session.approve(line)
    print(session.wait().outcome)

It needs nothing but the standard library. The API that it uses is described at `/api/openapi.json` of the service.
"""

from ._client import Client
from ._errors import ApiError, DeskhandError, Unreachable
from ._session import Line, Outcome, Session

__all__ = ["ApiError", "Client", "DeskhandError", "Line", "Outcome", "Session", "Unreachable"]

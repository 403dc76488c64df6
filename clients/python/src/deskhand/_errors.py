"""What can go wrong."""


class DeskhandError(Exception):
    """Anything that this package raises."""


class ApiError(DeskhandError):
    """The service refused a request: `status` is that of HTTP, `message` says why."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{message} ({status})")
        self.status = status
        self.message = message


class Unreachable(DeskhandError):
    """The service did not answer for as long as the client is patient."""

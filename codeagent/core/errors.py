"""The error tree.

    CodeagentError                  has words for a person: what came, what is wanted, what to do
    ├── UsageFault                  bad flag, unknown session, unreadable settings   (exit 2)
    ├── ModelError                  the model could not answer; `category` says why
    │   ├── ModelUnavailable        no key, 401, 403, 404, unreachable               (exit 5)
    │   ├── ModelBusy               429, 5xx, overloaded, dropped or stalled: may be tried again
    │   ├── RequestRejected         400, 413: this request is not acceptable
    │   └── ContextOverflow         the prompt does not fit the model's window
    ├── SessionError                a log that cannot be opened, locked or written
    └── ToolFault                   a tool's expected failure, told to the model

A refusal is a value (`effects.Refusal`), and a failed tool is a result: neither is an exception
beyond the tool boundary.
"""

from __future__ import annotations

from typing import Literal

Category = Literal[
    "authentication_failed",
    "billing_error",
    "permission",
    "rate_limit",
    "overloaded",
    "invalid_request",
    "feature_refused",
    "model_not_found",
    "server_error",
    "connection",
    "timeout",
    "truncated",
    "malformed",
    "prompt_too_long",
    "script",
    "unknown",
]


class CodeagentError(Exception):
    """Something that a person has to be told. `str(error)` is the message, ready to show."""


class UsageFault(CodeagentError):
    """The command line, the settings or a named session cannot be used. Exit code 2."""


class SessionError(CodeagentError):
    """A session log cannot be opened, locked, read or written."""


class ToolFault(CodeagentError):
    """A tool cannot do what was asked; the message tells the model what to do next."""

    def __init__(self, message: str, *, summary: str = "", kind: str = "") -> None:
        super().__init__(message)
        self.summary = summary
        self.kind = kind


class ModelError(CodeagentError):
    """The model could not answer.

    `status` is the HTTP status or 0; `retry_after` the server's wish in seconds or None;
    `feature` names an optional request feature that the server refused, if it did.
    """

    def __init__(
        self,
        message: str,
        *,
        category: Category = "unknown",
        status: int = 0,
        retry_after: float | None = None,
        request_id: str = "",
        feature: str = "",
    ) -> None:
        super().__init__(message)
        self.category: Category = category
        self.status = status
        self.retry_after = retry_after
        self.request_id = request_id
        self.feature = feature


class ModelUnavailable(ModelError):
    """The model cannot be used at all until something is changed: key, name, address."""


class ModelBusy(ModelError):
    """A passing fault: the same request may succeed a little later."""


class RequestRejected(ModelError):
    """The server refuses this very request."""


class ContextOverflow(ModelError):
    """The prompt is longer than the model's window."""

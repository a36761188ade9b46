"""What a server's refusal or a broken connection means: our errors, with words for a person."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from codeagent.core.clean import clean_line
from codeagent.core.errors import Category, ContextOverflow, ModelBusy, ModelError, ModelUnavailable, RequestRejected
from codeagent.models import catalog, features

NO_KEY = (
    "There is no API key. Set ANTHROPIC_API_KEY, or start codeagent in a terminal and enter one; "
    "`codeagent demo` works without."
)


def key_flaw(key: str) -> str:
    """What is wrong with the form of a key, in words; empty when nothing is."""
    fits = key.isascii() and key.isprintable() and " " not in key
    return "" if fits else "The API key holds blanks or characters that no key has. Copy it again."


_TOO_LONG = re.compile(
    r"prompt (?:is )?too long|exceeds? (?:the |this model's )?(?:maximum )?context|context (?:window|length)"
    r"|input length and `?max_tokens`? exceed|maximum context length",
    re.I,
)
_MONEY = re.compile(r"spend(?:ing)? (?:limit|cap)|billing|credit balance|budget (?:limit|exceeded)|quota.*plan", re.I)
_MONEY_CODES = ("spend_limit_reached", "ramp_limit_exceeded", "billing_unavailable")

_BUSY: dict[str, tuple[Category, str]] = {
    "rate_limit_error": ("rate_limit", "The rate limit of this key is reached"),
    "overloaded_error": ("overloaded", "The model is overloaded"),
    "api_error": ("server_error", "The server had an internal error"),
    "timeout_error": ("timeout", "The server took too long"),
    "conflict_error": ("server_error", "The server reported a conflict"),
}

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    409: "conflict_error",
    413: "request_too_large",
    422: "invalid_request_error",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


class Refusal(NamedTuple):
    """A server's no: HTTP status (200 for an `error` event in a stream), the error's type and code, words, headers."""

    status: int
    type: str
    words: str
    code: str = ""
    headers: Mapping[str, str] = {}
    request_id: str = ""


class Asked(NamedTuple):
    """What the refused request was: the model, where it went, the optional features in it."""

    model: str
    host: str
    sent: Collection[str] = features.NAMES


def read(status: int, body: object, headers: Mapping[str, str] = {}, request_id: str = "") -> Refusal:
    """A refusal from an error body, whatever its shape: the API's, a gateway's, text or HTML."""
    error: Any = body.get("error", body) if isinstance(body, Mapping) else body
    if not isinstance(error, Mapping):
        error = {"message": _plain(str(error or ""))}
    details = error.get("details")
    code = details.get("error_code") if isinstance(details, Mapping) else None
    return Refusal(
        status,
        str(error.get("type") or _TYPES.get(status) or ("api_error" if status >= 500 else "")),
        str(error.get("message") or ""),
        str(code or ""),
        headers,
        request_id,
    )


def _plain(text: str) -> str:
    """The first words of a page that is no JSON, without its markup."""
    return " ".join(re.sub(r"<[^>]*>", " ", text[:4000]).split())[:200]


def refusal(said: Refusal, asked: Asked) -> ModelError:
    """The error for a server's no."""
    words = clean_line(said.words.strip())[:500] or "without saying why"
    common: dict[str, Any] = {"status": 0 if said.status == 200 else said.status, "request_id": said.request_id}
    if 300 <= said.status < 400:
        return ModelUnavailable(
            f"{asked.host} answers with a redirect to {clean_line(said.headers.get('location', 'another address'))}. "
            "The key is not sent there: set the base URL to the right address.",
            category="connection",
            **common,
        )
    if said.type == "billing_error" or _names_money(said):
        return ModelUnavailable(
            f"The account cannot pay for this request: {_sentence(words)} "
            "Raise the limit or add credit in the provider's console.",
            category="billing_error",
            **common,
        )
    if said.type in _BUSY or said.status >= 500:
        category, what = _BUSY.get(said.type, _BUSY["api_error"])
        status = f" (HTTP {said.status})" if said.status != 200 else ""
        return ModelBusy(f"{what}{status}: {words}", category=category, retry_after=retry_after(said.headers), **common)
    return _final(said, asked, words, common)


def _names_money(said: Refusal) -> bool:
    if said.status not in (400, 402, 403, 429):
        return False
    return said.code.endswith(_MONEY_CODES) or bool(_MONEY.search(said.words))


def _sentence(words: str) -> str:
    return words if words.endswith((".", "!", "?")) else f"{words}."


def _final(said: Refusal, asked: Asked, words: str, common: dict[str, Any]) -> ModelError:
    match said.type:
        case "authentication_error":
            return ModelUnavailable(
                f"{asked.host} does not accept this API key: {_sentence(words)} Check ANTHROPIC_API_KEY, "
                "or the key that was entered in codeagent.",
                category="authentication_failed",
                **common,
            )
        case "permission_error":
            return ModelUnavailable(
                f"This API key may not use {asked.model}: {_sentence(words)} Use another key or another model.",
                category="permission",
                **common,
            )
        case "not_found_error":
            return _not_found(asked, words, common)
        case "request_too_large":
            return RequestRejected(
                f"The request is too large for {asked.host}: {_sentence(words)} "
                "Compact the conversation or leave out pictures.",
                category="invalid_request",
                **common,
            )
    if _TOO_LONG.search(said.words):
        return ContextOverflow(
            f"The conversation is longer than {asked.model} can read: {words}", category="prompt_too_long", **common
        )
    if feature := features.refused(common["status"] or 400, said.words, asked.sent):
        return RequestRejected(
            f"{asked.model} does not take `{feature}`: {words}", category="feature_refused", feature=feature, **common
        )
    return RequestRejected(f"{asked.host} rejected the request: {words}", category="invalid_request", **common)


def _not_found(asked: Asked, words: str, common: dict[str, Any]) -> ModelError:
    near = catalog.nearest(asked.model)
    hint = "Choose another model, or check the base URL."
    if near and asked.model not in near:
        hint = f"Did you mean {' or '.join(near)}?"
    return ModelUnavailable(
        f"{asked.host} knows no model {clean_line(asked.model)} ({words}). {hint}", category="model_not_found", **common
    )


def unreachable(asked: Asked, cause: BaseException, *, answered: bool) -> ModelError:
    """The connection could not be made, or broke before an answer. `answered`: this host did answer before."""
    if answered:
        return ModelBusy(f"The connection to {asked.host} broke{_because(cause)}.", category="connection")
    return ModelUnavailable(
        f"Cannot reach {asked.host}{_because(cause)}. Check the network, a proxy, or the base URL.",
        category="connection",
    )


def _because(cause: BaseException) -> str:
    words = clean_line(re.sub(r"^\[Errno -?\d+\] ", "", str(cause).strip().rstrip(".")))[:300]
    return f": {words}" if words else ""


def unsendable(asked: Asked) -> ModelError:
    """The request, or a header that a setting adds, has no form that can be sent; the cause may hold a secret."""
    return RequestRejected(
        f"This request cannot be sent to {asked.host}: a value holds what HTTP cannot carry. "
        "Check the headers in the settings.",
        category="invalid_request",
    )


def dropped(asked: Asked, cause: BaseException) -> ModelError:
    """The stream broke in the middle."""
    words = clean_line(f"{cause}" or type(cause).__name__)[:300]
    return ModelBusy(
        f"The connection to {asked.host} dropped in the middle of the reply: {words}", category="connection"
    )


def stalled(asked: Asked, seconds: float) -> ModelError:
    """Nothing came for this long."""
    return ModelBusy(f"{asked.host} sent nothing for {seconds:g} s.", category="timeout")


def truncated(asked: Asked) -> ModelError:
    """The stream ended without the end of the message."""
    return ModelBusy(f"The reply from {asked.host} ended before it was complete.", category="truncated")


def garbled(asked: Asked, cause: BaseException) -> ModelError:
    """The stream holds what is no event."""
    words = clean_line(f"{type(cause).__name__}: {cause}")[:200]
    return ModelBusy(f"The reply from {asked.host} cannot be read ({words}).", category="malformed")


def no_stream(asked: Asked, media_type: str) -> ModelError:
    """The answer is a page or a document and no stream of events."""
    return ModelUnavailable(
        f"{asked.host} answered with {clean_line(media_type) or 'something'} where a stream of events was wanted. "
        "Check the base URL: it should lead to a Messages API.",
        category="malformed",
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait, from its `retry-after-ms` or `retry-after` (seconds or a date)."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        return seconds if 0 <= seconds < float("inf") else None
    import email.utils  # 10 ms, and few servers send a date

    try:
        date = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
    except (ValueError, TypeError):
        return None
    return max(0.0, date.timestamp() - time.time())

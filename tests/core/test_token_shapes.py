"""Credentials of well-known shapes: each row of the case file, and texts that only look like them."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from codeagent.core.token_shapes import INSTEAD, masked

CASES = Path(__file__).parents[1] / "cases" / "security" / "secrets.jsonl"
ROWS = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


def filled(row: dict[str, Any]) -> tuple[str, list[str]]:
    """The row's text with its tokens in place, and those that may not survive."""
    tokens = ["".join(pieces) for pieces in row["tokens"]]
    text = row["text"]
    for number, token in enumerate(tokens):
        text = text.replace(f"{{{number}}}", token)
    return text, [tokens[number] for number in row["redact"]]


def right(row: dict[str, Any]) -> bool:
    """Whether the row comes out as it should."""
    text, secret = filled(row)
    told = masked(text)
    if row["kind"] == "none":
        return told == text
    gone = all(token not in told and (len(token) <= 8 or token[:9] not in told) for token in secret)
    return gone and all(kept in told for kept in row["keep"])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_case(row: dict[str, Any]) -> None:
    assert right(row), masked(filled(row)[0])


@pytest.mark.parametrize(
    "text",
    [
        "token: str = field(default='')",
        "self.api_key = settings.api_key",
        "password=os.environ['X']",
        "tokens_total = 123456789",
        "The token is read from the keyring.",
        'api_key = "your-api-key-here"',
        "a-" * 30_000,
        "secret" * 20_000,
        "://" + "a" * 50_000,
    ],
    ids=range(9),
)
def test_what_only_looks_like_one_stays(text: str) -> None:
    began = time.process_time()
    assert masked(text) == text
    assert time.process_time() - began < 2


def test_json_and_yaml_values_go() -> None:
    assert masked('{"client_secret": "hunter2hunter2"}') == f'{{"client_secret": "{INSTEAD}"}}'
    assert masked("db_password: hunter22") == f"db_password: {INSTEAD}"

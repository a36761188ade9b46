"""Well-known shapes of credentials, taken out of texts that leave the session: exports, debug logs, crash reports.

What codeagent itself holds is replaced by value, and earlier (`withheld`); these shapes are for what it does not know.
"""

from __future__ import annotations

import re

INSTEAD = "[withheld]"

_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|\Z)", re.S
)

_TOKENS = re.compile(
    r"""(?<![\w-])(?:
          sk-ant-[\w-]{16,} | sk-(?:proj-|svcacct-|or-v1-)?[A-Za-z0-9_]{20,}[\w-]*
        | github_pat_\w{20,} | gh[opsur]_\w{20,} | glpat-[\w-]{16,} | xox[abeoprs]-[\w-]{10,} | xapp-[\w-]{10,}
        | hf_\w{20,} | AIza[\w-]{30,} | ya29\.[\w-]{20,} | (?:AKIA|ASIA)[A-Z0-9]{16} | npm_\w{30,} | pypi-[\w-]{30,}
        | (?:sk|rk|whsec)_(?:live|test)_\w{16,} | dop_v1_\w{40,} | SG\.[\w-]{16,}\.[\w-]{16,}
        | eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}
        )""",
    re.VERBOSE,
)

_HEADER = re.compile(
    r"(?i)\b((?:proxy-)?authorization|x-api-key)([\"']?\s*[:=]\s*[\"']?(?:basic|bearer|token)?\s*)[^\s\"']{6,}"
)

_URL_PASSWORD = re.compile(r"(://[^\s/:@]{0,200}:)[^\s/@]{1,500}(?=@)")

_URL_QUERY = re.compile(
    r"(?i)([?&](?:api_?key|key|token|access_token|refresh_token|id_token|secret|client_secret|password|sig|signature)=)"
    r"[^&\s#\"']{6,}"
)

_ASSIGNED = re.compile(
    r"""(?i)(?P<name>\b[\w-]{0,40}?(?:api_?key|access_?key|secret|token|password|passwd|passphrase|private_?key)
         (?:_[a-z0-9]{1,20}){0,4})(?P<sign>["']?\s{0,4}[:=]\s{0,4})
        (?:(?P<quote>["'])(?P<quoted>[^"'\n]{6,500})(?P=quote)|(?P<bare>(?>[^\s"'(){}\[\],;<>$]{6,500}))(?!\())""",
    re.VERBOSE,
)
"""A name that says secret, and its value; a bare value only counts if `_assigned` says so."""

_SAMPLES = re.compile(
    r"(?i)\.{3}|\*{3}|x{6,}|your[_-]|example|changeme|placeholder|^[\w.]*(?:environ|getenv|config|settings)\b"
)


def masked(text: str) -> str:
    """The text without credentials of well-known shapes."""
    text = _PRIVATE_KEY.sub("[private key withheld]", text)
    text = _TOKENS.sub(INSTEAD, text)
    text = _HEADER.sub(rf"\1\2{INSTEAD}", text)
    text = _URL_PASSWORD.sub(rf"\1{INSTEAD}", text)
    text = _URL_QUERY.sub(rf"\1{INSTEAD}", text)
    return _ASSIGNED.sub(_assigned, text)


def _assigned(found: re.Match[str]) -> str:
    """Quoted values go; bare ones where the name is a variable's or the value has a digit: else it is code."""
    name, bare, quoted = found["name"], found["bare"], found["quoted"]
    value = bare or quoted
    if _SAMPLES.search(value) or INSTEAD in value:
        return found[0]
    if bare and not (name.isupper() or any(char.isdigit() for char in bare)):
        return found[0]
    quote = found["quote"] or ""
    return f"{name}{found['sign']}{quote}{INSTEAD}{quote}"

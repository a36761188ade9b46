"""The API key in the system keyring, if the user wants it kept there."""

from __future__ import annotations

_SERVICE = "codeagent"
_NAME = "anthropic-api-key"


def stored_key() -> str:
    """The key that was kept, an empty string when there is none or no keyring works here."""
    import keyring
    from keyring.errors import KeyringError

    try:
        return (keyring.get_password(_SERVICE, _NAME) or "").strip()
    except (KeyringError, RuntimeError):
        return ""


def keyring_works() -> bool:
    """Whether a keyring is there that could keep a key. Imports the keyring's library."""
    import keyring

    return float(keyring.get_keyring().priority) > 0  # its stand-ins for none have 0 and -1


def keep_key(key: str) -> bool:
    """Keep the key; False when no keyring works here."""
    import keyring
    from keyring.errors import KeyringError

    try:
        keyring.set_password(_SERVICE, _NAME, key)
    except (KeyringError, RuntimeError):
        return False
    return True

"""What every entry of a session is."""

from __future__ import annotations

from msgspec import Struct


class Fact(Struct, frozen=True, tag_field="kind", omit_defaults=True):
    """What all entries are: remembered."""

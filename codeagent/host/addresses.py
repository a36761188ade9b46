"""Where a host name leads, and which of those addresses are nobody's private network."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterator

Resolve = Callable[[str, int], Awaitable[list[str]]]
"""From host and port to numeric addresses, the preferred one first. Raises OSError."""

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")
"""NAT64: the last 32 bits are an IPv4 address."""


async def resolve(host: str, port: int) -> list[str]:
    """Ask the system's resolver, hosts file included; it also knows odd spellings such as 0x7f.1."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(each[4][0]).partition("%")[0] for each in found))


def is_public(address: str) -> bool:
    """Whether an address, and each one that is wrapped in it, belongs to the public internet."""
    return all(each.is_global and not each.is_multicast for each in _unwrapped(ipaddress.ip_address(address)))


def _unwrapped(address: _Address) -> Iterator[_Address]:
    """The address that a packet would end at: an IPv4 one may be hidden in an IPv6 one."""
    if isinstance(address, ipaddress.IPv4Address):
        yield address
    elif address.ipv4_mapped:
        yield address.ipv4_mapped
    else:
        yield address
        if address.sixtofour:
            yield address.sixtofour
        if address.teredo:
            yield from address.teredo
        if address in _TRANSLATED:
            yield ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)

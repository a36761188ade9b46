"""A session in a form to hand on: Markdown, HTML or JSON, credentials taken out first."""

from __future__ import annotations

from collections.abc import Sequence

from codeagent.core.errors import UsageFault
from codeagent.core.events import Entry


def format_of(name: str) -> str:
    """The format that a file's name asks for. Raises UsageFault for an ending that means none."""
    ending = name.rpartition(".")[2].lower() if "." in name else "md"
    known = {"md": "md", "markdown": "md", "txt": "md", "html": "html", "htm": "html", "json": "json"}
    if ending not in known:
        raise UsageFault(f"A session cannot be written as .{ending}. Name the file .md, .html or .json.")
    return known[ending]


def render(entries: Sequence[Entry], title: str, form: str) -> str:
    """The session as a text, `form` being md, html or json, without credentials of well-known shapes."""
    from codeagent.core.rewriting import rewritten
    from codeagent.core.token_shapes import masked

    told, name = [rewritten(entry, masked) for entry in entries], masked(title)
    if form == "html":
        from codeagent.fronts.page.document import html

        return html(told, name)
    if form == "json":
        return _json(told, name)
    from codeagent.fronts.reports import markdown

    return markdown(told, name)


def _json(entries: Sequence[Entry], title: str) -> str:
    """One object: `format`, `title` and `entries` as the log has them, in order."""
    import json

    from msgspec import to_builtins

    whole = {"format": 1, "title": title, "entries": to_builtins(entries)}
    return json.dumps(whole, indent=1) + "\n"  # escapes: a lone surrogate has no UTF-8 form

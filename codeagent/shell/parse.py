"""A shell line through the tree-sitter grammar into plain parts: commands, words, redirections, links."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from codeagent.shell.line import Command, Line, Redirect, Word
from codeagent.shell.options import listed
from codeagent.shell.words import RESERVED, decode, suspicious

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

LONGEST = 10_000
"""Characters: a longer line is asked, whatever it says."""
_DEEPEST_UNSEEN = 3
"""Comments inside comments that are looked into."""

_COMMANDS = frozenset({"command", "declaration_command", "unset_command", "test_command", "variable_assignment"})
_STRUCTURE = listed(
    "program list pipeline redirected_statement command command_name file_redirect test_command unary_expression "
    "binary_expression"
)
_WORDS = listed("word string raw_string concatenation number")
_LEAVES = listed("comment file_descriptor test_operator && || | |& ; < > >& &> >> &>> [ ] ! = == !=") | {"\n"}
_LINKS = frozenset({"&&", "||", "|", "|&", ";", "\n", "&", ";;"})
_BEFORE_REMARK = frozenset({b"", b" ", b"\t", b"\n", b";"})
_NAMES = {
    "[[": "a [[ ]] test",
    "ERROR": "bash syntax that could not be read",
    "&": "a background job",
    "ansi_c_string": "a $'...' string",
    "arithmetic_expansion": "an arithmetic expansion",
    "brace_expression": "a brace expansion",
    "case_statement": "a case statement",
    "command_substitution": "a command substitution",
    "compound_statement": "a { ...; } group",
    "declaration_command": "a declaration of variables",
    "expansion": "a variable",
    "for_statement": "a loop",
    "function_definition": "a function definition",
    "heredoc_redirect": "a here-document",
    "herestring_redirect": "a here-string",
    "if_statement": "an if statement",
    "negated_command": "a negation",
    "process_substitution": "a process substitution",
    "simple_expansion": "a variable",
    "subshell": "a subshell",
    "unset_command": "an unset of variables",
    "variable_assignment": "a variable assignment",
    "while_statement": "a loop",
}


@cache
def _parse() -> Callable[[bytes], Tree]:
    from tree_sitter import Language, Parser  # 33 ms with the grammar, so only once a line must be read
    from tree_sitter_bash import language

    return Parser(Language(language())).parse


_WIDE = bytes.maketrans(bytes(range(128, 256)), b"%" * 128)
"""Bash takes all but ASCII for parts of words. So must the grammar: its scanner looks characters up in C tables that
end at 255, and reads beyond them after a brace, which has ended the process."""


def _tree(source: bytes) -> Tree:
    return _parse()(source.translate(_WIDE))


def warm() -> None:
    """Load the grammar now, so that the first line does not wait for it."""
    _parse()


def parse(command: str) -> Line:
    """Read a line. Never raises: what cannot be read is said in `why`, and its commands are still found."""
    source = command.encode("utf-8", "replace")
    root = _tree(source).root_node
    commands, strange = _gather(root, source)
    why = _doubt(command) or strange or _uncovered(root, source, commands)
    why = why or ("" if commands else "there is no command in it")
    return Line(command, (*commands, *(_unseen(root, source) if why else ())), why)


def _unseen(root: Node, source: bytes) -> list[Command]:
    """Commands that bash may run where the grammar sees none: in comments after an escaped blank, and
    in backticks of a here-document."""
    found: list[Command] = []
    for _ in range(_DEEPEST_UNSEEN):
        texts = [text for node in _walk(root) for text in _hidden_in(node, source)]
        if not texts:
            break
        source = "\n".join(texts).encode("utf-8", "replace")
        root = _tree(source).root_node
        found += _gather(root, source)[0]
    return found


def _hidden_in(node: Node, source: bytes) -> list[str]:
    if node.type == "comment" and source[max(node.start_byte - 2, 0) : node.start_byte].startswith(b"\\"):
        return [_text(node, source).lstrip("# \t")]
    if node.type == "heredoc_body" and node.parent and not _quoted_start(node.parent, source):
        return _text(node, source).split("`")[1::2]
    return []


def _quoted_start(heredoc: Node, source: bytes) -> bool:
    """`<<'E'` keeps bash from expanding the text."""
    starts = [_text(child, source) for child in heredoc.children if child.type == "heredoc_start"]
    return any(set(start) & set("'\"\\") for start in starts)


def _doubt(command: str) -> str:
    """What makes a line unreadable before its structure is looked at."""
    if len(command) > LONGEST:
        return f"it has {len(command):,} characters; up to {LONGEST:,} are read"
    if hidden := suspicious(command):
        return f"it contains the invisible or control character {hidden}"
    return ""


def _walk(root: Node) -> Iterator[Node]:
    """All nodes in source order, without recursion: nesting may be thousands deep."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


def _text(node: Node, source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _gather(root: Node, source: bytes) -> tuple[list[Command], str]:
    """Every command at any depth, and the first construct that is not plain."""
    commands: list[Command] = []
    strange = ""
    link = ""
    owned: set[int] = set()
    for node in _walk(root):
        kind = node.type
        if kind in _LINKS and not node.is_named:
            link = ";" if kind in {"\n", ";;"} else kind
        if kind in _COMMANDS and node.id not in owned:
            made = _command(node, source, link)
            owned.update(child.id for child in node.children if child.type == "variable_assignment")
            commands.append(made)
            link = ";"
        elif kind in {"file_redirect", "herestring_redirect", "heredoc_redirect"}:
            _attach(node, source, commands, link)
        if not strange and (node.is_missing or not _accepted(node)):
            strange = f"it contains {_NAMES.get(kind, 'something that is not a plain command')}"
    if root.has_error:
        commands += _crude(source.decode("utf-8", "replace"), commands)
    return commands, strange


def _accepted(node: Node) -> bool:
    """Is this node of a kind that a plain line is made of? Inside words only `decode` judges."""
    kind = node.type
    if kind in _STRUCTURE or kind in _LEAVES or kind in _WORDS:
        return True
    parent = node.parent.type if node.parent else ""
    return parent == "string" and (kind in {'"', "$", "string_content"})


def _command(node: Node, source: bytes, link: str) -> Command:
    if node.type == "test_command":
        pieces = [child for child in _walk(node) if not child.children or child.type in _WORDS]
        pieces = [child for child in pieces if not _within_word(child, node)]
    else:
        pieces = [
            c for c in node.children if c.type not in {"variable_assignment", "file_redirect", "herestring_redirect"}
        ]
    assigned = tuple(_text(c, source) for c in node.children if c.type == "variable_assignment")
    if node.type == "variable_assignment":
        pieces, assigned = [], (_text(node, source),)
    words = tuple(Word(raw, decode(raw)) for raw in (_text(piece, source) for piece in pieces))
    odd = _odd_gaps(pieces, source) or (bool(words) and _not_a_program(words[0].raw))
    return Command(_text(node, source), words, link, assigned, start=node.start_byte, odd=odd)


def _not_a_program(raw: str) -> bool:
    """Grammar, an assignment, or a job (`%1` is `fg %1`): what a first word may be instead."""
    return raw in RESERVED or "=" in raw or (decode(raw) or "").startswith("%")


def _within_word(node: Node, top: Node) -> bool:
    parent = node.parent
    while parent is not None and parent.id != top.id:
        if parent.type in _WORDS:
            return True
        parent = parent.parent
    return False


def _odd_gaps(pieces: list[Node], source: bytes) -> bool:
    """True when two words are not parted by blanks alone."""
    for left, right in pairwise(pieces):
        gap = source[left.end_byte : right.start_byte]
        if not gap or gap.strip(b" \t"):
            return True
    return False


def _attach(node: Node, source: bytes, commands: list[Command], link: str) -> None:
    """Give a redirection to the command before it, or to an empty one when it stands alone."""
    if not commands or (
        node.parent and node.parent.type == "redirected_statement" and node.parent.children[0].id == node.id
    ):
        commands.append(Command(_text(node, source), (), link, start=node.start_byte))
    owner = commands[-1]
    if node.type == "heredoc_redirect":
        owner.body += "".join(_text(child, source) for child in node.children if child.type == "heredoc_body")
        return
    op = next((child.type for child in node.children if not child.is_named), "")
    fd = next((_text(child, source) for child in node.children if child.type == "file_descriptor"), "")
    targets = [child for child in node.children if child.is_named and child.type != "file_descriptor"]
    raw = _text(targets[-1], source) if targets else ""
    if node.type == "herestring_redirect":
        owner.body += decode(raw) or raw
        return
    glued = source[node.start_byte - 1 : node.start_byte].strip(b" \t") != b"" and owner.start != node.start_byte
    owner.odd = owner.odd or glued or len(targets) != 1
    owner.redirects.append(Redirect(op, fd, Word(raw, decode(raw))))
    if owner.words:
        owner.text = source[owner.start : node.end_byte].decode("utf-8", "replace")


def _crude(text: str, known: list[Command]) -> list[Command]:
    """Commands of a line that the grammar rejects and bash may accept (`{rm,-rf,/}`, `exec 3<>x; rm y`):
    cut at everything that could be an operator. Deny rules must see them."""
    seen = {tuple(word.raw for word in command.words) for command in known}
    found: list[Command] = []
    for piece in re.split(r"[;&|\n()`]+|(?:^|(?<=\s))[{}](?=\s|$)", text):
        braced = re.fullmatch(r"\s*\{([^\s{}]*,[^\s{}]*)\}\s*", piece)
        raws = tuple(braced.group(1).split(",") if braced else re.sub(r"\d*[<>]+&?\s*\S+", " ", piece).split())
        if raws and raws not in seen:
            seen.add(raws)
            found.append(Command(piece.strip(), tuple(Word(raw, decode(raw)) for raw in raws), ";"))
    return found


def _uncovered(root: Node, source: bytes, commands: list[Command]) -> str:
    """Every byte must lie in an accepted leaf or be blank: an escaped blank before `#` lies in no node."""
    at = 0
    for node in _walk(root):
        if node.children and node.type not in _WORDS:
            continue
        if node.start_byte < at:
            continue
        if source[at : node.start_byte].strip(b" \t\n"):
            return "part of it could not be read"
        if node.type == "comment" and source[max(node.start_byte - 1, 0) : node.start_byte] not in _BEFORE_REMARK:
            return "part of it could not be read"
        at = node.end_byte
    if source[at:].strip(b" \t\n"):
        return "part of it could not be read"
    if any(command.odd for command in commands):
        return "words and operators could not be told apart"
    return ""

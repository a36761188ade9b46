"""`codeagent completion`: a script for bash, zsh or fish, and the words that such a script asks for at each Tab."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from codeagent.flags import Mistake, Parser, nearest

EXAMPLES = """\
to install it, one line:
  bash   echo 'eval "$(codeagent completion bash)"' >> ~/.bashrc
  zsh    echo 'eval "$(codeagent completion zsh)"' >> ~/.zshrc     (behind compinit)
  fish   codeagent completion fish > ~/.config/fish/completions/codeagent.fish

examples:
  codeagent completion bash                    the script
  codeagent completion words -- sessions sh    what could stand here, as the scripts ask for it

It completes commands, flags and their values, sessions by id and name, models and settings, as they are at that moment.
"""

_BASH = r"""
_codeagent() {
    local kind= line
    COMPREPLY=()
    while IFS= read -r line; do
        if [ -z "$kind" ]; then
            kind=$line
        else
            COMPREPLY+=("$(printf '%q' "${line%%$'\t'*}")")
        fi
    done < <(codeagent completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    if [ "$kind" = directories ]; then
        while IFS= read -r line; do
            COMPREPLY+=("$line")
        done < <(compgen -d -- "${COMP_WORDS[COMP_CWORD]}")
        compopt -o filenames 2>/dev/null # bash before 4 has none
    fi
    return 0
}
complete -o default -F _codeagent codeagent
"""

_ZSH = r"""
#compdef codeagent
_codeagent() {
    local -a lines shown
    local line tab=$'\t'
    lines=("${(@f)$(codeagent completion words -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    case "$lines[1]" in
        files) _files; return ;;
        directories) _files -/; return ;;
    esac
    for line in "${(@)lines[2,-1]}"; do
        shown+=("${${line%%$tab*}//:/\\:}:${line#*$tab}")
    done
    _describe codeagent shown
}
if [ "$funcstack[1]" = _codeagent ]; then
    _codeagent "$@"
else
    compdef _codeagent codeagent
fi
"""

_FISH = r"""
function __codeagent_words
    set -l typed (commandline -opc)
    set -l current (commandline -ct)
    set -e typed[1]
    set -l lines (codeagent completion words -- $typed "$current" 2>/dev/null)
    set -l kind $lines[1]
    set -e lines[1]
    switch "$kind"
        case files
            __fish_complete_path "$current"
        case directories
            __fish_complete_directories "$current"
        case '*'
            test (count $lines) -gt 0; and printf '%s\n' $lines
    end
end
complete -c codeagent -f -a '(__codeagent_words)'
"""

SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def parser(_act: str = "") -> Parser:
    """The parser of `codeagent completion`."""
    return Parser(
        "codeagent completion",
        usage="codeagent completion bash | zsh | fish",
        description="Completion at the Tab key. It costs what a start of codeagent costs: a tenth of a second.",
        epilog=EXAMPLES,
        takes=(tuple(SCRIPTS),),
    )


def run(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Print a script, or what one asks for: the kind, then a line for each word with a Tab and a description."""
    if argv[:2] == ["words", "--"]:
        from codeagent.completing import offer

        found = offer(argv[2:], environ)
        sys.stdout.writelines([f"{found.kind}\n", *(f"{word}\t{about}\n" for word, about in found.words)])
        return 0
    _, words = parser().words(argv)
    if len(words) != 1 or words[0] not in SCRIPTS:
        near = nearest(words[0], SCRIPTS) if len(words) == 1 else ""
        hint = f" Did you mean {near}?" if near else ""
        raise Mistake(f"For which shell? codeagent completion bash, zsh or fish.{hint}")
    sys.stdout.write(SCRIPTS[words[0]].lstrip())
    return 0

"""Git's reading sub-commands with the options under which they run no helper and write nothing.

They count only where the repository's configuration names no program (`git_inert`): a filter, a
text conversion or a file-system monitor would run on a plain `git status`.
"""

from __future__ import annotations

from typing import NamedTuple

from codeagent.shell.options import Options, options


class Reading(NamedTuple):
    """`first`: a first operand, if any, must be one of these, and `bare` says whether it may be left out.

    `needs`: operands are names to be made unless one of these options is given. `most` bounds operands.
    """

    known: Options
    first: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()
    bare: bool = True
    most: int = 1000


_DIFF = (
    "stat=? shortstat numstat dirstat=? name-only name-status summary patch no-patch raw cached staged merge-base "
    "unified= color=? no-color word-diff=? color-words=? word-diff-regex= ignore-all-space ignore-space-change "
    "ignore-space-at-eol ignore-blank-lines minimal patience histogram diff-algorithm= find-renames=? find-copies=? "
    "no-renames diff-filter= exit-code quiet check full-index abbrev=? function-context no-ext-diff no-textconv "
    "no-prefix relative=? text binary pickaxe-regex pickaxe-all compact-summary inter-hunk-context= "
    "ignore-submodules=?"
)
_LOG = (
    "oneline graph all branches=? tags=? remotes=? decorate=? no-decorate max-count= skip= since= until= after= "
    "before= author= committer= grep= all-match invert-grep regexp-ignore-case extended-regexp fixed-strings "
    "perl-regexp merges no-merges first-parent reverse date= relative-date follow format= pretty=? abbrev-commit "
    "no-abbrev-commit left-right cherry-pick cherry-mark topo-order date-order author-date-order full-history "
    "simplify-by-decoration source no-notes ancestry-path boundary walk-reflogs no-walk=? no-mailmap"
)
_DIFF_FLAGS, _DIFF_VALUES = "pusawbBMCDRzW", "USG"
_LOGGING = Reading(options(_DIFF_FLAGS + "igEFPc0", _DIFF_VALUES + "nL", f"{_DIFF} {_LOG}", digits=True))

GIT: dict[str, Reading] = {
    "blame": Reading(
        options(
            "beflnpstwcMC",
            "L",
            "line-porcelain porcelain incremental show-name show-number show-email date= abbrev= root",
        )
    ),
    "branch": Reading(
        options(
            "alrvq",
            long="list all remotes verbose show-current contains=? no-contains=? merged=? no-merged=? "
            "points-at= sort= format= color=? no-color column=?",
        ),
        needs=frozenset({"-l", "--list", "--contains", "--merged", "--no-merged", "--no-contains", "--points-at"}),
    ),
    "cat-file": Reading(options("petsz", long="batch-check=?")),
    "check-ignore": Reading(options("vnqz", long="verbose non-matching quiet no-index")),
    "cherry": Reading(options("v", long="abbrev=?")),
    "config": Reading(
        options("z", long="get get-all local name-only null show-origin show-scope includes type= default="),
        needs=frozenset({"--get", "--get-all"}),
        bare=False,
    ),
    "count-objects": Reading(options("vH", long="verbose human-readable"), most=0),
    "describe": Reading(
        options(
            long="all tags contains abbrev= long always dirty=? match= exclude= first-parent exact-match candidates="
        )
    ),
    "diff": Reading(options(_DIFF_FLAGS, _DIFF_VALUES, _DIFF, digits=True)),
    "diff-tree": Reading(
        options(_DIFF_FLAGS + "rtmcv", _DIFF_VALUES, f"{_DIFF} root no-commit-id stdin format= pretty=?")
    ),
    "for-each-ref": Reading(
        options("", "", "count= sort= format= points-at= merged=? no-merged=? contains=? no-contains=?")
    ),
    "grep": Reading(
        options(
            "acEFGhHiIlLnoPpqrvwWz",
            "ABCem",
            "cached untracked text ignore-case word-regexp invert-match extended-regexp fixed-strings perl-regexp "
            "line-number column files-with-matches files-without-match count heading break show-function context= "
            "after-context= before-context= max-depth= and or not all-match quiet color=? no-color name-only "
            "only-matching max-count=",
            digits=True,
        )
    ),
    "log": _LOGGING,
    "ls-files": Reading(
        options(
            "cdmosuktvzf",
            "x",
            "cached deleted modified others ignored stage unmerged killed directory no-empty-directory eol exclude= "
            "exclude-standard full-name error-unmatch abbrev=? deduplicate",
        )
    ),
    "ls-tree": Reading(
        options("drtlz", long="long name-only name-status object-only full-name full-tree abbrev=? format=")
    ),
    "merge-base": Reading(options("a", long="all octopus independent is-ancestor fork-point")),
    "name-rev": Reading(options(long="tags refs= exclude= all name-only no-undefined always")),
    "reflog": Reading(
        options(_DIFF_FLAGS, _DIFF_VALUES + "n", f"{_DIFF} {_LOG}", digits=True), first=frozenset({"show"})
    ),
    "remote": Reading(options("v", long="verbose"), most=0),
    "rev-list": Reading(
        options(
            "igEFP", "n", f"{_LOG} count objects pretty=? left-only right-only parents children timestamp", digits=True
        )
    ),
    "rev-parse": Reading(
        options(
            "q",
            "",
            "abbrev-ref=? short=? verify quiet symbolic symbolic-full-name show-toplevel show-prefix show-cdup "
            "git-dir git-common-dir absolute-git-dir is-inside-work-tree is-inside-git-dir is-bare-repository "
            "is-shallow-repository all branches=? tags=? remotes=? revs-only no-revs flags no-flags sq",
        )
    ),
    "shortlog": Reading(options("cens", "w", f"{_LOG} numbered summary email committer group=", digits=True)),
    "show": _LOGGING,
    "show-ref": Reading(options("dhsq", long="head heads branches tags dereference hash=? verify quiet abbrev=?")),
    "stash": Reading(
        options(_DIFF_FLAGS, _DIFF_VALUES + "n", f"{_DIFF} {_LOG}", digits=True),
        first=frozenset({"list", "show"}),
        bare=False,
    ),
    "status": Reading(
        options(
            "sbzvunoal",
            "",
            "short branch show-stash porcelain=? long verbose untracked-files=? ignored=? ignore-submodules=? "
            "column=? no-column ahead-behind no-ahead-behind renames no-renames",
        )
    ),
    "symbolic-ref": Reading(options("q", long="quiet short no-recurse"), most=1),
    "tag": Reading(
        options(
            "ln",
            "",
            "list sort= format= contains=? no-contains=? merged=? no-merged=? points-at= column=? no-column color=? "
            "ignore-case",
        ),
        needs=frozenset({"-l", "--list", "--contains", "--merged", "--no-merged", "--no-contains", "--points-at"}),
    ),
    "version": Reading(options(long="build-options"), most=0),
    "whatchanged": _LOGGING,
    "worktree": Reading(options("vz", long="porcelain verbose"), first=frozenset({"list"}), bare=False),
}

"""The documented list: programs that only read, with the options under which that is certain.

Left out on purpose: options that write, run a program, follow links out of the project, read a
list of file names, or never end. `rg --pre`, `sort -o`, `grep -R`, `find -L`, `tail -f` therefore ask.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from codeagent.shell.options import Options, listed, options

Operands = Literal["paths", "text", "pattern", "numbers", "none", "any"]


class Program(NamedTuple):
    """`operands`: what words that are no options mean. `any` words, options included,
    are only printed or compared. `pattern` is one text, then paths; with one of
    `instead` given, paths only. `most` bounds their number.
    """

    known: Options
    operands: Operands = "paths"
    most: int = 1000
    instead: frozenset[str] = frozenset()


_SUM = Program(options("bt", long="binary text tag zero"))
_DUMP = options("bcCdosvx", "jNAtnSw", long="canonical skip-bytes= read-bytes= address-radix= format= width=")

READERS: dict[str, Program] = {
    "arch": Program(options(), "none"),
    "b2sum": _SUM,
    "base32": Program(options("d", "w", "decode wrap="), most=1),
    "base64": Program(options("d", "w", "decode wrap="), most=1),
    "basename": Program(options("az", "s", "multiple suffix= zero"), "text"),
    "cal": Program(options("13jmy"), "text"),
    "cat": Program(options("AbeEnstTuv", long="number number-nonblank show-all show-ends show-tabs squeeze-blank")),
    "cksum": Program(options()),
    "cmp": Program(options("bls", "in", "print-bytes verbose silent quiet bytes= ignore-initial=")),
    "column": Program(options("tx", "sco", "table separator=")),
    "comm": Program(options("123z", long="check-order nocheck-order output-delimiter= total"), most=2),
    "cut": Program(
        options("snz", "bcdf", "bytes= characters= delimiter= fields= only-delimited complement output-delimiter=")
    ),
    "df": Program(options("ahHiklmPT", "t", "all human-readable inodes local portability print-type total type=")),
    "diff": Program(
        options(
            "abBcdeinqstuwyEpNZ",
            "UCW",
            "brief unified=? context=? side-by-side width= suppress-common-lines ignore-case ignore-space-change "
            "ignore-all-space ignore-blank-lines text minimal report-identical-files color=? strip-trailing-cr "
            "new-file",
        ),
        most=2,
    ),
    "dirname": Program(options("z", long="zero"), "text"),
    "du": Program(
        options(
            "0abchkmsSx",
            "dBt",
            "all apparent-size bytes total human-readable summarize max-depth= one-file-system threshold= si",
        )
    ),
    "echo": Program(options(), "any"),
    "egrep": Program(options("cEFhHilnoqsvwx", "ABCem", digits=True), "pattern", instead=frozenset({"-e"})),
    "expand": Program(options("i", "t", "initial tabs=")),
    "expr": Program(options(), "any"),
    "false": Program(options(), "any"),
    "fgrep": Program(options("cFhHilnoqsvwx", "ABCem", digits=True), "pattern", instead=frozenset({"-e"})),
    "file": Program(options("bhiN", "F", "brief mime mime-type mime-encoding no-dereference")),
    "fmt": Program(options("cstu", "w", "width=")),
    "fold": Program(options("bs", "w", "bytes spaces width=")),
    "free": Program(options("bkmghtw", long="bytes kilo mega giga human total wide"), "none"),
    "grep": Program(
        options(
            "abcEFGhHiIlLnoPqrsTvwxyZz",
            "ABCemDd",
            "after-context= before-context= context= count color=? colour=? extended-regexp fixed-strings "
            "basic-regexp perl-regexp files-with-matches files-without-match ignore-case no-ignore-case invert-match "
            "line-number line-regexp word-regexp max-count= no-filename with-filename no-messages only-matching quiet "
            "silent recursive regexp= include= exclude= exclude-dir= binary-files= text null byte-offset initial-tab "
            "line-buffered",
            digits=True,
        ),
        "pattern",
        instead=frozenset({"-e", "--regexp"}),
    ),
    "groups": Program(options(), "text"),
    "head": Program(options("qvz", "cn", "bytes= lines= quiet silent verbose", digits=True)),
    "hexdump": Program(_DUMP),
    "hostname": Program(options("s", long="short"), "none"),
    "id": Program(options("agGnruz", long="group groups name real user"), "text"),
    "join": Program(options("iz", "12aejotv", "ignore-case check-order nocheck-order header"), most=2),
    "locale": Program(options("am", long="all-locales"), "none"),
    "ls": Program(
        options(
            "1aAbBcCdfFgGhiklmnNopqQrRsStuUvxXZ",
            "ITw",
            "all almost-all author block-size= classify=? color=? directory full-time group-directories-first "
            "human-readable si hide= ignore= ignore-backups inode indicator-style= file-type kibibytes literal "
            "numeric-uid-gid no-group quote-name quoting-style= recursive reverse size sort= time= time-style= width= "
            "zero",
        )
    ),
    "md5sum": _SUM,
    "nl": Program(options("p", "bdfhilnsvw", "body-numbering= number-format= number-width= starting-line-number=")),
    "nproc": Program(options(long="all ignore="), "none"),
    "od": Program(_DUMP),
    "paste": Program(options("sz", "d", "serial delimiters=")),
    "pwd": Program(options("LP", long="logical physical"), "none"),
    "readlink": Program(options("efmnqsvz", long="canonicalize canonicalize-existing canonicalize-missing no-newline")),
    "realpath": Program(options("emqsLPz", long="canonicalize-existing canonicalize-missing quiet no-symlinks")),
    "rev": Program(options()),
    "rg": Program(
        options(
            "aciFHhIlnNoPpqsSUvVwx.0u",
            "ABCegmtTjMdEr",
            "after-context= before-context= context= case-sensitive ignore-case smart-case color= colors= column "
            "no-column count count-matches files files-with-matches files-without-match fixed-strings glob= iglob= "
            "heading no-heading hidden no-hidden invert-match json line-number no-line-number line-regexp word-regexp "
            "max-columns= max-count= max-depth= max-filesize= multiline multiline-dotall no-config no-filename "
            "with-filename no-ignore no-ignore-vcs no-messages null only-matching pcre2 passthru pretty quiet regexp= "
            "replace= sort= sortr= stats text threads= trim type= type-not= type-list unrestricted vimgrep "
            "max-columns-preview encoding= no-follow no-pre engine=",
        ),
        "pattern",
        instead=frozenset({"-e", "--regexp", "--files", "--type-list"}),
    ),
    "seq": Program(options("w", "s", "equal-width separator="), "numbers"),
    "sha1sum": _SUM,
    "sha224sum": _SUM,
    "sha256sum": _SUM,
    "sha384sum": _SUM,
    "sha512sum": _SUM,
    "shasum": Program(options("bt", "a", "algorithm= binary text")),
    "sleep": Program(options(), "numbers"),
    "sort": Program(
        options(
            "bcCdfghiMnRrsuVz",
            "kt",
            "key= field-separator= numeric-sort reverse unique human-numeric-sort general-numeric-sort version-sort "
            "stable ignore-case ignore-leading-blanks dictionary-order month-sort check=? zero-terminated",
        )
    ),
    "stat": Program(options("t", "c", "format= printf= terse")),
    "strings": Program(options("aw", "net", "all bytes= radix= encoding=")),
    "sum": Program(options("rs")),
    "tac": Program(options("br", "s", "before regex separator=")),
    "tail": Program(options("qrvz", "cn", "bytes= lines= quiet silent verbose", digits=True)),
    "tr": Program(options("cCdst", long="complement delete squeeze-repeats truncate-set1"), "text", most=2),
    "tree": Program(
        options("acdDfFghinNpQrstuvACSUJX", "ILP", "dirsfirst gitignore noreport prune du si filelimit= charset= sort=")
    ),
    "true": Program(options(), "any"),
    "tty": Program(options("s"), "none"),
    "type": Program(options("afptP"), "text"),
    "uname": Program(
        options("amnoprsv", long="all kernel-name kernel-release kernel-version machine nodename operating-system"),
        "none",
    ),
    "unexpand": Program(options("a", "t", "all first-only tabs=")),
    "uniq": Program(
        options("cdDiuz", "fsw", "count repeated unique ignore-case skip-fields= skip-chars= check-chars="), most=1
    ),
    "uptime": Program(options("ps", long="pretty since"), "none"),
    "wc": Program(options("clLmw", long="bytes chars lines words max-line-length")),
    "which": Program(options("as"), "text"),
    "whoami": Program(options(), "none"),
    "xxd": Program(options("abEiupv", "cgls"), most=1),
    ":": Program(options(), "any"),
}

VERSIONED = listed(
    "python python3 make gmake cmake git node gcc g++ cc c++ clang clang++ ld bash zsh ruby perl lua java javac rg jq "
    "sed awk gawk tar gzip curl wget sqlite3 ninja pip pip3 tmux vim nvim gdb strace ffmpeg openssl"
)
"""Programs whose `--version` answers by itself. Absent: yarn, pnpm, npm, cargo, rustc, go: the project chooses
the binary that answers."""

VERSION_FORMS = frozenset(
    {
        ("python", "-V"),
        ("python3", "-V"),
        ("node", "-v"),
        ("java", "-version"),
        ("javac", "-version"),
        ("curl", "-V"),
        ("lua", "-v"),
    }
)
"""Other spellings that only print a version. `vim -V` is none of them: it opens the editor."""

FIND_TESTS = {
    **dict.fromkeys(
        listed(
            "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -maxdepth "
            "-mindepth -size -mtime -mmin -atime -amin -ctime -cmin -perm -user -group -uid -gid -links -inum -printf "
            "-fstype -used"
        ),
        "text",
    ),
    **dict.fromkeys(listed("-newer -anewer -cnewer -samefile"), "path"),
    **dict.fromkeys(
        listed(
            "-print -print0 -ls -empty -prune -depth -d -xdev -mount -readable -writable -executable -true -false "
            "-not ! -o -or -a -and ( ) , -nouser -nogroup -daystart -quit -noleaf -ignore_readdir_race"
        ),
        "",
    ),
}
"""Tests and actions of find that only look, and what the word after them is."""

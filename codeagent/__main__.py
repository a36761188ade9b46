"""The program's door. `--version` is answered before anything is imported; all else goes to `cli`."""

import sys


def main() -> int | None:
    """Run the command line in `sys.argv`; the process ends here, with its exit code."""
    if sys.argv[1:] in (["--version"], ["-V"], ["-v"]) and sys.stdout is not None:
        from codeagent import __version__

        sys.stdout.write(f"codeagent {__version__}\n")
        return 0
    import os

    _fill_gaps()
    from codeagent.cli import main as run

    code = run(sys.argv[1:], os.environ)
    return _leave(code)


def _fill_gaps() -> None:
    """Open what was closed when we were started, or the next file that is opened would be a standard stream."""
    import os

    for fd, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, which is this one
            setattr(sys, name, os.fdopen(fd, "w" if fd else "r", encoding="utf-8", closefd=False))


def _leave(code: int) -> int:
    """End at once: taking down the interpreter with the SDK in it costs 0.25 s and saves nothing."""
    import os

    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            code = code or 141
    os._exit(code)


def _leave_project_out() -> None:
    """Take the current directory off the module path, where `python -m` puts it: it is a project, and not ours."""
    import os

    try:
        here = os.getcwd()  # noqa: PTH109 - before anything else is imported
    except OSError:
        here = ""
    sys.path[:] = [place for place in sys.path if place not in ("", ".", here)]


if __name__ == "__main__":
    _leave_project_out()
    sys.exit(main())

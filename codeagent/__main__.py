"""The program's door. `--version` is answered before anything is imported; all else goes to `cli`."""

import sys


def main() -> int | None:
    """Run the command line in `sys.argv`; the process ends here, with its exit code."""
    if sys.argv[1:] in (["--version"], ["-V"], ["-v"]):
        from codeagent import __version__

        sys.stdout.write(f"codeagent {__version__}\n")
        return 0
    import os

    from codeagent.cli import main as run

    code = run(sys.argv[1:], os.environ)
    return _leave(code)


def _leave(code: int) -> int:
    """End at once: taking down the interpreter with the SDK in it costs 0.25 s and saves nothing."""
    import os

    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            code = code or 141
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())

"""The command `rankroom`: errors as sentences on standard error, and an exit code for each kind."""

from __future__ import annotations

import os
import sys

INTERNAL_ERROR = 70
INTERRUPTED = 130


def main() -> None:
    """Run the command line, and end the process with its exit code."""
    from rankroom.errors import RankroomError, Refused

    _print_in_any_encoding()
    try:
        from rankroom.cli import Interrupted, OutputClosed, app

        try:
            app()
        except Interrupted:
            raise KeyboardInterrupt from None
        except OutputClosed:
            raise BrokenPipeError from None
    except Refused as error:
        from rankroom.terminal import refusal

        _end(refusal(error.report), error.exit_code)
    except RankroomError as error:
        _end(str(error), error.exit_code)
    except KeyboardInterrupt:
        _end("stopped; nothing that was under way is in the store", INTERRUPTED)
    except BrokenPipeError:
        # the reader of our output, such as `head`, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _end(f"{where}{error.strerror or error}", RankroomError.exit_code)
    except Exception as error:
        if os.environ.get("RANKROOM_TRACEBACK"):
            raise
        _end(
            f"rankroom itself is at fault ({type(error).__name__}: {error}). Nothing that was under way is in"
            " the store. With RANKROOM_TRACEBACK=1 it shows where; please report it.",
            INTERNAL_ERROR,
        )


def _end(sentence: str, code: int) -> None:
    from rankroom.printable import lines

    print(lines(sentence), file=sys.stderr)
    sys.exit(code)


def _print_in_any_encoding() -> None:
    """A name that the terminal's encoding cannot write is written in escapes, and is no error."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    main()

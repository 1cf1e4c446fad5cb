"""The command `rankroom`: errors as sentences on standard error, and an exit code for each kind."""

from __future__ import annotations

import os
import sys

INTERNAL_ERROR = 70
INTERRUPTED = 130


def main() -> None:
    """Run the command line, and end the process with its exit code."""
    from rankroom.cli import app
    from rankroom.errors import RankroomError

    try:
        app()
    except RankroomError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("stopped; nothing that was under way is in the store", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # the reader of our output, such as `head`, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        if os.environ.get("RANKROOM_TRACEBACK"):
            raise
        print(
            f"rankroom itself is at fault ({type(error).__name__}: {error}). Nothing that was under way is in the"
            " store. With RANKROOM_TRACEBACK=1 it shows where; please report it.",
            file=sys.stderr,
        )
        sys.exit(INTERNAL_ERROR)


if __name__ == "__main__":
    main()

"""Starting the dashboard on a store."""

from __future__ import annotations

import os
import socket
import sys

from rankroom.errors import UsageError
from rankroom.resources import folder
from rankroom.store import Store

LOCALHOST = "localhost"
"""Unless told otherwise, only this machine reaches the dashboard: it has no passwords of its own."""


def check_port(port: int, address: str = LOCALHOST) -> None:
    """Raise UsageError if something listens on the port already, or it may not be opened."""
    try:
        with socket.create_connection((address, port), timeout=1):
            raise UsageError(f"port {port} is taken: choose another with --port")
    except OSError:
        pass  # nobody answers
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((address, port))
    except OSError as error:
        raise UsageError(
            f"port {port} of {address} cannot be opened ({error.strerror}): choose another with --port"
        ) from error


def serve(store: Store, *, port: int, browser: bool, address: str = LOCALHOST) -> None:
    """Migrate the store if there is one, and run the dashboard in this process until a signal stops it.

    Streamlit runs here and not in a child, so that nothing is left behind however the process ends.
    """
    if store.exists() or not _can_be_made(store):
        store.migrate()
    print(f"The dashboard is at http://{address}:{port} (Ctrl-C stops it)", flush=True)
    os.environ["RANKROOM_STORE"] = str(store.path.resolve())
    from streamlit.web.cli import main as streamlit

    sys.argv = ["streamlit", "run", *_options(address, port, browser), str(folder("dashboard") / "app.py")]
    streamlit(prog_name="streamlit")


def _can_be_made(store: Store) -> bool:
    """Whether an add could make the missing store: the dashboard waits for it."""
    return store.path.resolve().parent.is_dir() and not store.path.is_dir()


def _options(address: str, port: int, browser: bool) -> list[str]:
    options = {
        "server.port": port,
        "server.address": address,
        "server.baseUrlPath": "",
        "server.headless": not browser,
        "server.showEmailPrompt": False,
        "server.fileWatcherType": "none",
        "browser.gatherUsageStats": False,
        "logger.level": "warning",
        "logger.hideWelcomeMessage": True,
    }
    return [
        f"--{name}={str(value).lower() if isinstance(value, bool) else value}"
        for name, value in options.items()
    ]

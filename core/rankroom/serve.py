"""Starting the dashboard on a store."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

from rankroom.errors import UsageError
from rankroom.resources import folder
from rankroom.store import Store

ADDRESS = "localhost"


def check_port(port: int) -> None:
    """Raise UsageError if something listens on the port already."""
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", port)) == 0:
            raise UsageError(f"port {port} is taken: choose another with --port")


def serve(store: Store, *, port: int, browser: bool) -> None:
    """Migrate the store if there is one, and run the dashboard until it is stopped. Returns with its exit code."""
    if store.exists():
        store.migrate()
    print(f"The dashboard is at http://{ADDRESS}:{port} (Ctrl-C stops it)", flush=True)
    app = folder("dashboard")
    command = [
        sys.executable, "-m", "streamlit", "run", str(app / "app.py"),
        "--server.port", str(port),
        "--server.address", ADDRESS,
        "--server.headless", str(not browser).lower(),
        "--server.fileWatcherType", "none",
        "--browser.gatherUsageStats", "false",
        "--logger.level", "warning",
    ]  # fmt: skip
    environment = os.environ | {"RANKROOM_STORE": str(store.path.resolve())}
    process = subprocess.Popen(command, env=environment)
    try:
        code = process.wait()
    except KeyboardInterrupt:
        process.terminate()
        code = process.wait()
        return
    if code:
        sys.exit(code)

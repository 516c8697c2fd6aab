# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Send messages to notification targets: a program of its own, so that no drain waits for a receiver.

Standard input has the order as JSON, so that no list of processes shows a URL: C(seconds), C(file), and C(targets), each with C(name), C(url) and
C(messages). The file gets, for each target that is done, whether each message was delivered, and why not. It has no text of a URL or of a receiver.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import logging
import os
import re
import sys
import threading
import time
from typing import Any

# The reasons that are told: whole words of a known kind, because the text of an error may have the URL.
REASONS = (
    r"certificate verify failed",
    r"wrong version number",
    r"[Cc]onnection refused",
    r"[Nn]ame or service not known|[Tt]emporary failure in name resolution|Failed to resolve",
    r"timed? ?out",
    r"[Aa]uthentication (?:failed|unsuccessful|credentials invalid)",
    r"[Rr]emote end closed connection|[Cc]onnection reset",
    r"Tunnel connection failed: \d{3}",
    r"error=\d{3}",
)
UNKNOWN = "apprise does not say why"


class _Log(logging.Handler):
    """What apprise logs in each thread."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: dict[int, list[str]] = {}

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.setdefault(record.thread or 0, []).append(record.getMessage())

    def reason(self) -> str:
        """Return the first known reason that this thread has logged, the one nearest to its end."""
        for line in reversed(self.lines.pop(threading.get_ident(), [])):
            for reason in REASONS:
                if found := re.search(reason, line):
                    return found[0].replace("error=", "HTTP status ")
        return UNKNOWN


def main() -> None:
    """Send what standard input orders."""
    order = json.load(sys.stdin)
    try:
        apprise = importlib.import_module("apprise")
    except Exception as error:  # an installation that is broken, perhaps because a package is missing that apprise needs
        why = f"apprise is installed and cannot be loaded ({' '.join(filter(None, (type(error).__name__, getattr(error, 'name', None))))})"
        _write(order["file"], {target["name"]: {"delivered": [], "reason": why, "refused": True} for target in order["targets"]})
        return

    log, asset = _Log(), apprise.AppriseAsset(app_id="maintenance.azure", app_desc="Azure maintenance", app_url="")
    # A redirected POST becomes a GET without the message, and its 200 would count as delivered. Not an argument: older versions refuse those they do not know.
    asset.http_redirects = False
    logging.getLogger("apprise").addHandler(log)
    logging.getLogger("apprise").setLevel(logging.DEBUG)
    results: dict[str, Any] = {}
    lock = threading.Lock()

    def serve(target: dict[str, Any]) -> None:
        found = _send(apprise, asset, log, target)
        with lock:
            results[target["name"]] = found
            _write(order["file"], results)

    ends = time.monotonic() + order["seconds"]
    threads = [threading.Thread(target=serve, args=(target,), daemon=True) for target in order["targets"]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(ends - time.monotonic(), 0))
    with lock:
        late = {target["name"]: {"delivered": [False] * len(target["messages"]), "reason": "no answer in time"} for target in order["targets"]}
        _write(order["file"], {**late, **results})
        # Not sys.exit: a thread may still wait for its receiver.
        os._exit(0)


def _send(apprise: Any, asset: Any, log: _Log, target: dict[str, Any]) -> dict[str, Any]:
    """Send the messages of one target, unless its URL is refused. After one that failed the others are not tried: its receiver is the same."""
    delivered: list[bool] = []
    reason, refused = "", False
    with contextlib.suppress(Exception):
        service = apprise.Apprise.instantiate(target["url"], asset=asset)
        refused = service is None
        reason = "apprise does not know this URL, or it lacks a part" if refused else ""
        for one in target["messages"] if service is not None else ():
            reason = UNKNOWN
            if not service.notify(body=one["text"], title=one["title"], notify_type=one["type"], body_format="text"):
                reason = log.reason()
                break
            delivered.append(True)
            reason = ""
    missing = len(target["messages"]) - len(delivered)
    return {"delivered": delivered + [False] * missing, "reason": reason, "refused": refused}


def _write(path: str, results: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):
        with open(f"{path}.new", "w", encoding="ascii") as file:
            json.dump(results, file)
        os.replace(f"{path}.new", path)


if __name__ == "__main__":
    main()

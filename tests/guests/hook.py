# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A receiver of messages on the guest, and what it got."""

from __future__ import annotations

import json
from typing import Any

from test_service import guest

# A receiver on the guest that keeps each message and its headers in a file of its own.
HOOK = """
import http.server, itertools, json, os
numbers = itertools.count()
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        content = {"headers": dict(self.headers), "body": json.loads(body)}
        with open("/srv/hook/%06d" % next(numbers), "w") as stream:
            json.dump(content, stream)
        self.send_response(200); self.end_headers()
    def log_message(self, *unused): pass
os.makedirs("/srv/hook", exist_ok=True)
http.server.HTTPServer(("127.0.0.1", 5000), Handler).serve_forever()
"""


class Hook:
    """Messages that the guest's receiver got."""

    def __init__(self) -> None:
        guest("rm -rf /srv/hook; mkdir -p /srv/hook")
        self.start()

    @staticmethod
    def start() -> None:
        guest(f"cat > /srv/hook.py <<'E'\n{HOOK}\nE")
        guest("systemd-run --quiet --unit=hook python3 /srv/hook.py")

    @staticmethod
    def stop() -> None:
        guest("systemctl stop hook.service")

    @staticmethod
    def got() -> list[dict[str, Any]]:
        text = guest("for f in $(ls /srv/hook 2>/dev/null | sort); do cat /srv/hook/$f; echo; done")
        return [json.loads(line) for line in text.splitlines() if line]

    def kinds(self, event: str) -> list[str]:
        """The news of one event in the order of their first arrival. A repetition has the same id."""
        first = {item["body"]["id"]: item["body"]["type"].rpartition(".")[2] for item in reversed(self.got()) if item["body"]["subject"] == event}
        return list(reversed(first.values()))

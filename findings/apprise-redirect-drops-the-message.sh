#!/usr/bin/env bash
# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# apprise 2.3.0 (PyPI): where a receiver of notifications answers with a redirect (301, 302 or 303), such as one that has moved, the message is dropped: the
# new address gets a GET without a body. notify() calls it delivered. With 307 and 308 the message arrives. Who alerts through it never learns of the loss.
# Needs python3 with venv, and a package index. Everything is on loopback, and in a temporary folder.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check apprise==2.3.0
"$work/venv/bin/python" - <<'PYTHON'
import http.server
import sys
import threading

import apprise

seen = []


class Receiver(http.server.BaseHTTPRequestHandler):
    def answer(self):
        length = len(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        seen.append((self.command, self.path, length > 0))
        self.send_response(int(self.path[1:]) if self.path != "/moved" else 200)
        self.send_header("Location", "/moved")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST = answer

    def log_message(self, *_arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
changed = False
print("apprise", apprise.__version__)
for status in (301, 302, 303, 307, 308):
    seen.clear()
    sender = apprise.Apprise()
    sender.add(f"json://127.0.0.1:{server.server_port}/{status}")
    delivered = bool(sender.notify(title="a VM is held", body="near its deadline"))
    last = seen[-1]
    print(f"{status}: notify() says {delivered}; the new address got {last[0]} {'with' if last[2] else 'without'} the message")
    changed |= (delivered, *last) != (True, "GET" if status < 304 else "POST", "/moved", status > 304)
sys.exit("changed: it was otherwise with 2.3.0" if changed else 0)
PYTHON

#!/usr/bin/env bash
# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# apprise 2.3.0 (PyPI): what stands in the query of a notification URL is decoded twice, what stands before it once. A password or a header with a percent sign,
# encoded once as RFC 3986 has it, arrives as another text from the query (50%41 as 50A), and as it is from the user part and the path. The token of a matrix://
# URL is decoded three times. Nothing fails until the receiver refuses the credential.
# Needs python3 with venv, and a package index. Everything is on loopback, and in a temporary folder.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check apprise==2.3.0
"$work/venv/bin/python" - <<'PYTHON'
import base64
import http.server
import sys
import threading
from urllib.parse import quote, unquote

import apprise

SECRET = "50%41"
seen = {}


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        pair = self.headers.get("Authorization", "Basic Og==").split()[1]
        password = base64.b64decode(pair).decode().partition(":")[2]
        seen.update(header=self.headers.get("X-Key"), password=password, path=unquote(self.path.rpartition("/")[2]))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_arguments):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
once = quote(SECRET, safe="")


def arrived(url, what):
    assert apprise.Apprise.instantiate(url).notify(body="hello"), url
    return seen[what]


place = f"127.0.0.1:{server.server_port}"
found = {
    "password in the user part": arrived(f"json://me:{once}@{place}/", "password"),
    "last part of the path": arrived(f"json://{place}/{once}", "path"),
    "password in the query": arrived(f"json://me@{place}/?pass={once}", "password"),
    "header in the query": arrived(f"json://{place}/?+X-Key={once}", "header"),
}
thrice = quote(quote(once, safe=""), safe="")
found["matrix token, encoded three times"] = apprise.Apprise.instantiate(f"matrix://{place}/?mode=matrix&token={thrice}").password
for place, text in found.items():
    print(f"apprise {apprise.__version__}: {place}: sent {SECRET}, arrived {text}")
wanted = [SECRET, SECRET, "50A", "50A", SECRET]
sys.exit(0 if list(found.values()) == wanted else "This has changed.")
PYTHON

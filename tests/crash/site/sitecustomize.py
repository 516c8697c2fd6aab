# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Loaded by the modules' Python in the crash tests: each write and each POST becomes two points."""

from __future__ import annotations

import http.client
import os

import cutting

if "CODE_CACHE_FOLDER" in os.environ:
    import code_cache

    # Python imports one sitecustomize only, and this one comes first.
    code_cache.use_if_wanted()

if "CUT_FOLDER" in os.environ:
    _link, _rename, _request = os.link, os.rename, http.client.HTTPConnection.request

    def link(source, target, **more):  # type: ignore[no-untyped-def]
        cutting.point("module", "before a record is written")
        _link(source, target, **more)
        cutting.point("module", "after a record is written")

    def rename(source, target, **more):  # type: ignore[no-untyped-def]
        names = os.path.basename(source), os.path.basename(target)
        what = "a lease is renewed" if names[0].startswith("claim-") else "a mark is written" if names[1].startswith("upgrade-") else ""
        if not what:
            return _rename(source, target, **more)
        cutting.point("module", f"before {what}")
        _rename(source, target, **more)
        cutting.point("module", f"after {what}")

    def request(self, method, url, body=None, **more):  # type: ignore[no-untyped-def]
        if method != "POST":
            return _request(self, method, url, body, **more)
        cutting.point("module", "before a POST")
        _request(self, method, url, body, **more)
        with open(cutting.folder() / "posted", "a") as file:
            file.write("posted\n")
        cutting.point("module", "after a POST")

    os.link, os.rename, http.client.HTTPConnection.request = link, rename, request  # type: ignore[method-assign]

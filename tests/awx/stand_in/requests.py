# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A STAND-IN for awx.awx's module_utils/controller_api.py: only what role awx sends by it, which is OPTIONS."""

from __future__ import annotations

from ansible_collections.awx.awx.plugins.plugin_utils.store import Refused, Store


class ControllerAPIModule:
    def __init__(self, argument_spec, direct_params=None, error_callback=None, warn_callback=None):
        self.error_callback = error_callback

    def make_request(self, method, endpoint):
        if method != "OPTIONS":
            raise NotImplementedError(method)
        store = Store()
        try:
            store.enter("GET", endpoint)
        except Refused as refused:
            self.error_callback(msg=str(refused))
        # As there: a method that the user may not use here is left out.
        allowed = [each for each in ("GET", "POST") if "%s %s" % (each, endpoint) not in store.rules.get("deny", [])]
        return {"status_code": 200, "json": {"actions": {each: {} for each in allowed}}}

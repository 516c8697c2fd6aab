# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Ask AWX, with what collection awx.awx has for it. What the lookups of role awx share."""

from __future__ import annotations

import importlib
from typing import Any

from ansible.errors import AnsibleError
from ansible.plugins.loader import lookup_loader
from ansible.plugins.lookup import LookupBase

from ...module_utils._scheduled_events.core.types import Data, Values

COLLECTION = "awx.awx"
READER = "awx.awx.controller_api"
# Seconds between two looks at what AWX is about.
EVERY = 2.0


class AskingLookup(LookupBase):
    """A lookup that reads from AWX."""

    def ask(self, endpoint: str, query: Values) -> list[Data]:
        """Send one request, or one for each page. Return an answer that is not a list as a list of one."""
        reader = lookup_loader.get(READER, loader=self._loader, templar=self._templar)
        if reader is None:
            raise AnsibleError(f"lookup {READER} is missing in the installed collection {COLLECTION}")
        return list(reader.run([endpoint], None, query_params=dict(query), return_all=True))


def may_make(endpoint: str) -> bool:
    """Return whether this user may create an object here, as far as AWX tells: OPTIONS leaves out POST. True where AWX does not answer that."""
    try:
        requests = importlib.import_module(f"ansible_collections.{COLLECTION}.plugins.module_utils.controller_api")
        module = requests.ControllerAPIModule(argument_spec={}, direct_params={}, error_callback=_fail, warn_callback=lambda _warning: None)
        answer = module.make_request("OPTIONS", endpoint)
        actions = answer["json"]["actions"]
    except (AnsibleError, ImportError, AttributeError, KeyError, TypeError):
        return True
    return "POST" in actions


def _fail(**given: Any) -> None:
    raise AnsibleError(str(given.get("msg")))

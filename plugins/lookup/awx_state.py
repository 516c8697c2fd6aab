# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Lookup awx_state: what AWX has of the objects of role awx."""

from __future__ import annotations

DOCUMENTATION = r"""
name: awx_state
author: [The maintenance.azure authors (@maintenance-azure)]
version_added: 1.3.0
short_description: (internal) Read from AWX the objects of role awx
description:
  - Looks for objects as P(maintenance.azure.awx_objects#filter) returns them, by lookup C(awx.awx.controller_api), and changes nothing.
  - Never fails because of AWX. RV(_raw[].refused) has what is missing or refused, so that a play can report it in one message.
  - Since version 1.4.0 of the collection, the result hides values that can be secrets. They are compared here, so pass the objects with their secrets.
notes:
  - The address of AWX and the user come from the environment, in C(CONTROLLER_HOST), C(CONTROLLER_OAUTH_TOKEN) or C(CONTROLLER_USERNAME) and
    C(CONTROLLER_PASSWORD), and C(CONTROLLER_VERIFY_SSL), or from a file of tower-cli. The modules of C(awx.awx) do the same, and so does a
    credential of AWX of the type Red Hat Ansible Automation Platform.
requirements: ["Collection awx.awx, 21.11.0 or newer, where Ansible runs"]
options:
  _terms: {required: true, description: The objects.}
  with_users: {type: bool, default: false, description: "Whether to also read what uses the objects, and which of their jobs run. Removing objects needs it."}
  wait_seconds:
    description: Seconds to wait while AWX deletes an inventory of one of the names. With V(0), it counts as gone.
    type: int
    default: 0
    version_added: 2.1.0
seealso: [{plugin: maintenance.azure.awx_objects, plugin_type: filter}, {plugin: maintenance.azure.awx_changes, plugin_type: filter}]
"""

EXAMPLES = r"""
- name: Print what AWX lacks
  ansible.builtin.debug:
    msg: "{{ (objects | maintenance.azure.awx_changes(state.found)).lines }}"
  vars:
    objects: "{{ data | maintenance.azure.awx_objects(specs) }}"
    state: "{{ lookup('maintenance.azure.awx_state', *objects) }}"
"""

RETURN = r"""
_raw:
  description: What was found.
  type: list
  elements: dict
  contains:
    refused: {type: str, description: Why nothing could be read. Empty if it could.}
    found: {type: list, elements: dict, description: "For each object what AWX has of it, in the same order. Empty where it has none."}
    denied: {type: list, elements: str, description: "Kinds of objects that are missing, and that the user may not create, as far as AWX tells."}
    version: {type: str, description: The version of collection awx.awx.}
"""

import importlib
import json
import os
import pathlib
import time
from typing import Any

import yaml
from ansible.errors import AnsibleError

from ..module_utils._scheduled_events.core.types import Data
from ..plugin_utils._awx import hiding, reading, refusals
from ..plugin_utils._awx.asking import COLLECTION, EVERY, AskingLookup, may_make
from ..plugin_utils._core.wrong_input import WrongInput

CONFIGURED = (pathlib.Path("/etc/tower/tower_cli.cfg"), pathlib.Path("~/.tower_cli.cfg"), pathlib.Path("tower_cli.cfg"))


def installed() -> str | None:
    """Return the version of awx.awx, or None if it is not installed."""
    try:
        package = importlib.import_module(f"ansible_collections.{COLLECTION}")
    except ImportError:
        return None
    for path in package.__path__:
        for name in ("MANIFEST.json", "galaxy.yml"):
            file = pathlib.Path(path) / name
            if file.is_file():
                known = json.loads(file.read_text(encoding="utf-8"))["collection_info"] if name == "MANIFEST.json" else yaml.safe_load(file.read_text("utf-8"))
                return str(known["version"])
    return "unknown"


class LookupModule(AskingLookup):
    """Ansible's entry point."""

    def run(self, terms: list[Any], variables: Any = None, **kwargs: Any) -> list[Data]:
        """Return what AWX has of the objects, or why it could not be read."""
        self.set_options(var_options=variables, direct=kwargs)
        version = installed()
        configured = any(path.expanduser().is_file() for path in CONFIGURED)
        refused = refusals.collection(version) or refusals.login(os.environ, configured)
        found: list[Data] = []
        denied: list[str] = []
        if not refused:
            try:
                found = self._read(terms)
                denied = reading.denied(terms, found, may_make)
            except WrongInput as error:
                refused = str(error)
            except AnsibleError as error:
                refused = refusals.explain(str(error))
        refused = hiding.redact(refused, hiding.secrets(terms))
        return [{"refused": refused, "found": found, "denied": denied, "version": version or ""}]

    def _read(self, terms: list[Any]) -> list[Data]:
        seconds = int(self.get_option("wait_seconds"))
        ends = time.monotonic() + seconds
        found = reading.read(terms, self.ask, bool(self.get_option("with_users")))
        while seconds and reading.deleting(found):
            if time.monotonic() >= ends:
                names = ", ".join(reading.deleting(found))
                raise WrongInput(f"AWX is still deleting {names} after {seconds} s: run this again when that has ended, or raise awx_wait_seconds")
            time.sleep(EVERY)
            found = reading.read(terms, self.ask, bool(self.get_option("with_users")))
        return [{} if item.get("pending_deletion") else item for item in found]

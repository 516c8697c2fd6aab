# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run a module's main() with options, as Ansible would."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import typing as t

import pytest
import yaml
from ansible.module_utils import basic


def run_module(monkeypatch: pytest.MonkeyPatch, module: t.Any, check: bool = False, **options: t.Any) -> dict[str, t.Any]:
    """The module's result; failed tells whether it failed."""
    arguments = {"ANSIBLE_MODULE_ARGS": {"_ansible_check_mode": check, "_ansible_remote_tmp": "/tmp", **options}}
    monkeypatch.setattr(basic, "_ANSIBLE_ARGS", json.dumps(arguments).encode())
    # Core 2.19 and later want to know how the arguments are written.
    monkeypatch.setattr(basic, "_ANSIBLE_PROFILE", "legacy", raising=False)
    # Beside tests of filters, which run on the controller, warnings would go to the screen instead of into the result.
    monkeypatch.setattr("ansible.module_utils._internal.is_controller", False, raising=False)
    output = io.StringIO()
    with contextlib.redirect_stdout(output), pytest.raises(SystemExit) as caught:
        module.main()
    result = json.loads(output.getvalue())
    assert bool(result.get("failed")) == (caught.value.code != 0)
    return t.cast("dict[str, t.Any]", result)


def documentation(module: t.Any) -> dict[str, t.Any]:
    """A module's documentation, with the options of the fragments that it extends."""
    document: dict[str, t.Any] = yaml.safe_load(module.DOCUMENTATION)
    for name in document["extends_documentation_fragment"]:
        file, unused, part = name.partition("maintenance.azure.")[2].partition(".")
        fragment = importlib.import_module("ansible_collections.maintenance.azure.plugins.doc_fragments." + file)
        options = yaml.safe_load(getattr(fragment.ModuleDocFragment, part.upper() or "DOCUMENTATION"))["options"]
        document["options"] = {**options, **document.get("options", {})}
    return document

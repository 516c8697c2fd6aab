# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Variables of a host of which one cannot be evaluated: that one is missing, and an error that is not of its template ends the run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from ansible.errors import AnsibleError

from ansible_collections.maintenance.azure.plugins.plugin_utils._settings.vm_variables import Evaluated


class Variables(Mapping[str, Any]):
    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getitem__(self, name: str) -> Any:
        if name == "broken":
            raise self._error
        return {"good": 1}[name]

    def __iter__(self) -> Iterator[str]:
        return iter(("good", "broken"))

    def __len__(self) -> int:
        return 2


def test_what_cannot_be_evaluated_is_missing() -> None:
    variables = Evaluated(Variables(AnsibleError("'x' is undefined")))
    assert (variables.get("good"), variables.get("broken"), variables.get("other")) == (1, None, None)
    assert (list(variables), len(variables)) == (["good", "broken"], 2)


def test_any_other_error_is_not_hidden() -> None:
    with pytest.raises(RuntimeError):
        Evaluated(Variables(RuntimeError("a bug"))).get("broken")

# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Prepared answers of ansible.windows; tests/contract runs the whole path over stand-ins of the modules."""

from __future__ import annotations

import typing as t

from ansible_collections.maintenance.azure.plugins.plugin_utils._windows.calls import Calls


class PreparedCalls(Calls):
    """An answer for each module: a dict, an error to raise, a function of the arguments, or a list of those, one for each call."""

    def __init__(self, **answers: t.Any) -> None:
        self.answers = answers
        self.made: list[tuple[str, dict[str, t.Any]]] = []
        self.resets = 0

    def call(self, module: str, **arguments: t.Any) -> dict[str, t.Any]:
        self.made.append((module, arguments))
        answer = self.answers[module]
        if isinstance(answer, list):
            answer = answer.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return dict(answer(arguments) if callable(answer) else answer)

    def reset(self) -> None:
        self.resets += 1

    def modules(self) -> list[str]:
        return [module for module, _arguments in self.made]

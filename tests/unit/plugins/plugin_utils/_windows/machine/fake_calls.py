# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fake Calls: no module runs. It answers as a test says, and notes what was asked for."""

from __future__ import annotations

import contextlib
import typing as t

from ansible_collections.maintenance.azure.plugins.plugin_utils._windows.calls import Calls


class FakeCalls(Calls):
    """For each module a function of its arguments, an answer, or an error to raise."""

    def __init__(self, **answers: t.Any) -> None:
        self.answers = answers
        self.made: list[tuple[str, dict[str, t.Any]]] = []
        self.variables: list[dict[str, str]] = []
        self.resets = 0

    def call(self, module: str, **arguments: t.Any) -> dict[str, t.Any]:
        self.made.append((module, arguments))
        answer = self.answers[module.rpartition(".")[2]]
        if isinstance(answer, BaseException):
            raise answer
        return dict(answer(arguments) if callable(answer) else answer)

    @contextlib.contextmanager
    def environment(self, variables: t.Mapping[str, str]) -> t.Iterator[None]:
        self.variables.append(dict(variables))
        yield

    def reset(self) -> None:
        self.resets += 1

    def modules(self) -> list[str]:
        return [module for module, _arguments in self.made]

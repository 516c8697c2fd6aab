# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Callback plugin: a point after each result of each task."""

from __future__ import annotations

import os
import pathlib
import sys
import typing as t

from ansible.plugins.callback import CallbackBase

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "site"))

import cutting  # noqa: E402  the folder is for the modules' Python first


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "cut"
    CALLBACK_NEEDS_ENABLED = True

    def v2_playbook_on_start(self, playbook: t.Any) -> None:
        (cutting.folder() / "controller").write_text(str(os.getpid()))

    def _point(self, result: t.Any) -> None:
        task = getattr(result, "task", None) or result._task
        cutting.point("task", task.get_name())

    def v2_runner_on_ok(self, result: t.Any) -> None:
        self._point(result)

    def v2_runner_on_failed(self, result: t.Any, ignore_errors: bool = False) -> None:
        self._point(result)

    def v2_runner_on_unreachable(self, result: t.Any) -> None:
        self._point(result)

    def v2_runner_on_skipped(self, result: t.Any) -> None:
        self._point(result)

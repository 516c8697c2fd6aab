# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Stand-in for the action plugin of ansible.windows.win_copy: one file or content, not folders."""

from __future__ import annotations

import hashlib
import json
import pathlib
import typing as t

from ansible.module_utils.parsing.convert_bool import boolean
from ansible.plugins.action import ActionBase

INTERNAL = {"content", "decrypt", "local_follow", "remote_src"}


class ActionModule(ActionBase):
    def run(self, tmp: t.Any = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        result: dict[str, t.Any] = super().run(tmp, task_vars)
        given = dict(self._task.args)
        source, content, dest = given.get("src"), given.get("content"), given.get("dest")
        if (source is None and content is None) or dest is None:
            return {**result, "failed": True, "msg": "src (or content) and dest are required"}
        if source is not None and content is not None:
            return {**result, "failed": True, "msg": "src and content are mutually exclusive"}
        arguments = {key: value for key, value in given.items() if key not in INTERNAL}
        if boolean(given.get("remote_src", False), strict=False):
            result.update(self._call(task_vars, **arguments, _copy_mode="remote"))
            return result
        if content is None:
            path = pathlib.Path(self._find_needle("files", source))
            data, name = path.read_bytes(), path.name
        else:
            data, name = (content if isinstance(content, str) else json.dumps(content)).encode(), "content"
        checksum = hashlib.sha1(data).hexdigest()
        result.update(src=source, dest=dest, operation="file_copy", original_basename=name, checksum=checksum, size=len(data), changed=False)
        arguments.pop("src", None)
        asked = self._call(task_vars, **arguments, _copy_mode="query", _checksum=checksum, _original_basename=name)
        if asked.get("failed"):
            return {**result, **asked}
        if asked["needed"]:
            result.update(self._send(task_vars, arguments, data, name))
        return result

    def _send(self, task_vars: dict[str, t.Any] | None, arguments: dict[str, t.Any], data: bytes, name: str) -> dict[str, t.Any]:
        if self._task.check_mode:
            return {"changed": True}
        shell = self._connection._shell
        if not shell.tmpdir:
            self._make_tmp_path()
        sent = self._transfer_data(shell.join_path(shell.tmpdir, "source"), data)
        answer = self._call(task_vars, **arguments, src=sent, _copy_mode="single", _original_basename=name)
        self._remove_tmp_path(shell.tmpdir)
        return answer

    def _call(self, task_vars: dict[str, t.Any] | None, **arguments: t.Any) -> dict[str, t.Any]:
        return self._execute_module(module_name="ansible.windows.win_copy", module_args=arguments, task_vars=task_vars)

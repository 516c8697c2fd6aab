# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# PRIVATE to the collection: it can have breaking changes at any time.
"""A small file that is replaced in one step: whoever reads it has the old or the new one, never half of one."""

from __future__ import annotations

import json
import typing as t
import uuid

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.files import Files
from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.journal.record_schema import (
    TEMPORARY,
    RecordsError,
)


def replace_file(files: Files, name: str, content: t.Mapping[str, t.Any], what: str) -> None:
    """Write it beside and rename it over. ``what`` it is stands in the error."""
    temporary = f"{TEMPORARY}{uuid.uuid4().hex}.json"
    try:
        text = json.dumps(content, indent=1, sort_keys=True, allow_nan=False).encode("ascii") + b"\n"
        files.make()
        files.write_exclusive(temporary, text)
        files.rename(temporary, name)
        files.sync()
    except (OSError, ValueError) as error:
        try:
            files.unlink(temporary)
        except OSError:
            pass
        raise RecordsError(f"{what} {name} in {files.where} cannot be written: {error}.")

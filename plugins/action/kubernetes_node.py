# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# An API server, too, could say anything.

from __future__ import annotations

from ..plugin_utils._actions.checked import CheckedAction


class ActionModule(CheckedAction):
    answers = "kubernetes_node"

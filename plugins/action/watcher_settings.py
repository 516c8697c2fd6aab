# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

from __future__ import annotations

from ansible.utils.display import Display

from ..module_utils._scheduled_events.core.errors import ScheduledEventsError
from ..module_utils._scheduled_events.core.printable_text import LONGEST_LINE, printable
from ..module_utils._scheduled_events.core.types import Data, Values
from ..module_utils._scheduled_events.imds.transport import split_endpoint
from ..module_utils._scheduled_events.watch.settings import parse_settings
from ..plugin_utils._actions.on_controller import OnController
from ..plugin_utils._core.plain_values import plain
from ..plugin_utils._settings import near_misses

SPEC: Data = {"settings": {"type": "dict"}}
# An option of role watch is named as the setting that it gives, behind this.
PREFIX = "watch_"
# Whether role watch installs or removes.
STATE = f"{PREFIX}state"
STATES = ("present", "absent")


class ActionModule(OnController):
    """Check what is set for the watcher: the values of its settings, or without them the names of the variables."""

    spec = SPEC

    def answer(self, arguments: Data, variables: Data) -> Values:
        if arguments["settings"] is None:
            _check_names(variables)
        else:
            _check_values(arguments["settings"])
        return {}


def _check_names(variables: Data) -> None:
    """Warn of misspelt options, which Ansible ignores. Raise ValueError for one that turns the run into its opposite.

    The same words are displayed once for a run. No VM chooses by its facts what is displayed or refused.
    """
    names = set(map(str, variables)) - set(map(str, variables.get("ansible_facts") or ()))
    misspelt = near_misses.misspelt(names)
    # A variable of the user's own, with a value of its own, may have such a name.
    wrong = [name for name, right in misspelt.items() if right == STATE and variables.get(name) in STATES]
    for name, right in misspelt.items():
        if name not in wrong:
            Display().warning(printable(near_misses.warning(name, right), LONGEST_LINE))
    if wrong:
        raise ValueError(
            f"The variable {wrong[0]} is no option of maintenance.azure. Did you mean {STATE}? Nothing was changed, because without {STATE} the role "
            "may install what you want removed. Next: correct the name, or rename a variable of your own."
        )


def _check_values(settings: Data) -> None:
    """Raise ValueError for settings that the watcher would refuse, by the name of their option: before anything is written on the VM."""
    given = parse_settings(plain(settings), PREFIX)
    try:
        split_endpoint(given.endpoint)
    except ScheduledEventsError as error:
        raise ValueError(f"{PREFIX}{error}") from error

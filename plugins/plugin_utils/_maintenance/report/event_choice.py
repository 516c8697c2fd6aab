# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Select the event that an operator types: by its whole id, by the beginning of it, or by a hash of it.

Ids are written by Azure, or by a compromised VM. So input has letters, digits and hyphens only, and ambiguous input is an error: no VM can
add an event that is selected instead of the intended one.
"""

from __future__ import annotations

import hashlib
import os.path
import re
from collections.abc import Iterable, Mapping

from ....module_utils._scheduled_events.core.names import folded
from ....module_utils._scheduled_events.core.printable_text import LONGEST_NAME, printable
from ..._core.wrong_input import WrongInput

SHORTEST = 4
SHORTEST_HASH = 8
SHOWN = 20
HASH = "sha256:"
SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}")
# Ids of this form all have one length, so none is the beginning of another: a whole id is unambiguous.
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
NUMBER = re.compile(r"#?[0-9]{1,3}")


def handles(event_ids: Iterable[str]) -> dict[str, str]:
    """Return for each id, as ids compare, the shortest input that selects this event only."""
    keys = {folded(one): one for one in event_ids}
    ordered, found = sorted(keys), {}
    hashes = sorted((_hash(one), one) for one in ordered)
    for place, one in enumerate(ordered):
        if SAFE.fullmatch(one) and SAFE.fullmatch(keys[one].strip()) and not NUMBER.fullmatch(one):
            length = max(SHORTEST, _shared(ordered, place) + 1)
            if length <= len(one) or UUID.fullmatch(one) or not _begins_another(ordered, place):
                found[one] = one[:length]
    digests = [digest for digest, _one in hashes]
    for place, (digest, one) in enumerate(hashes):
        found.setdefault(one, HASH + digest[: max(SHORTEST_HASH, _shared(digests, place) + 1)])
    return found


def select(given: str, events: Mapping[str, str]) -> str | None:
    """Return the key of the selected event, or None if there is none. ``events`` has a description of each, by its key.

    Raise WrongInput for ambiguous input, and for a number: the next run may number the events in another order.
    """
    wanted = folded(given)
    if NUMBER.fullmatch(wanted):
        raise WrongInput(f"{wanted} is a number in a list that changes; type what status shows after the number{_known(events)}")
    if wanted.startswith(HASH):
        digest = wanted.removeprefix(HASH)
        found = [one for one in events if _hash(one).startswith(digest)] if len(digest) >= SHORTEST_HASH else []
    elif wanted in events and (UUID.fullmatch(wanted) or len(wanted) < SHORTEST):
        found = [wanted]
    elif SAFE.fullmatch(wanted) and len(wanted) >= SHORTEST:
        found = [one for one in events if one.startswith(wanted)]
    else:
        found = [wanted] if wanted in events else []
    if len(found) > 1:
        raise WrongInput(f"{printable(given, LONGEST_NAME)} may be any of {len(found)} events; type more of it{_known(events, found)}")
    return found[0] if found else None


def unknown(given: str, events: Mapping[str, str]) -> str:
    """Return the message for input that matches no event."""
    short = f"; the beginning of an id needs {SHORTEST} characters" if len(given.strip()) < SHORTEST else ""
    return f"no VM lists event {printable(given, LONGEST_NAME)} or has a record of it{_known(events)}{short}"


def _known(events: Mapping[str, str], only: Iterable[str] | None = None) -> str:
    short = handles(events)
    chosen = list(events if only is None else only)
    shown = [f"{printable(events[one], 300)}, type {short[one]}" for one in chosen[:SHOWN]]
    more = f" and {len(chosen) - SHOWN} more" if len(chosen) > SHOWN else ""
    return f"; known are: {'; '.join(shown) or 'none'}{more}"


def _hash(one: str) -> str:
    return hashlib.sha256(one.encode("utf-8", "surrogatepass")).hexdigest()


def _shared(ordered: list[str], place: int) -> int:
    """Return how many characters it shares with its predecessor or its successor, whichever is more."""
    beside = [ordered[other] for other in (place - 1, place + 1) if 0 <= other < len(ordered)]
    return max((len(os.path.commonprefix([ordered[place], other])) for other in beside), default=0)


def _begins_another(ordered: list[str], place: int) -> bool:
    return place + 1 < len(ordered) and ordered[place + 1].startswith(ordered[place])

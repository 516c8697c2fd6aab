# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The spool: messages that wait to be delivered, in order, across reboots and without growing.

The asker writes, the teller removes. A message is a file; its name holds its number, its id and whether a receiver has accepted it.
"""

from __future__ import annotations

import errno
import json
import re
import typing as t

from ..core.bounded_json import load_bounded
from ..core.types import Data, Values
from .shared_folder import SharedFolder

MOST_MESSAGES = 1000
MOST_BYTES = 4 * 1024 * 1024
# Numbers end far below the highest of twelve digits, so that the next one never has thirteen.
NAME = re.compile(r"(0[0-9]{11})-([0-9a-f]{32})\.(waiting|accepted)")
WAITING, ACCEPTED = "waiting", "accepted"
# What is no message, and must not keep those after it from being delivered: too large or no regular file (SharedFolder says so without a number), a link.
NO_FILE = (None, errno.ELOOP)


class Entry(t.NamedTuple):
    """One message in the spool."""

    number: int
    id: str
    state: str
    """waiting, or accepted: a receiver has said so, but no record shows that a run has seen the event."""

    @property
    def name(self) -> str:
        return f"{self.number:012d}-{self.id}.{self.state}"


class Spool:
    """Messages in one folder. The methods raise OSError where it cannot be read or written."""

    def __init__(self, folder: SharedFolder, most_messages: int = MOST_MESSAGES, most_bytes: int = MOST_BYTES) -> None:
        self._folder = folder
        self._most_messages = most_messages
        self._most_bytes = most_bytes

    def entries(self) -> list[Entry]:
        """Return all messages, oldest first."""
        matches = (NAME.fullmatch(name) for name in self._folder.names())
        return [Entry(int(match[1]), match[2], match[3]) for match in matches if match]

    def add(self, messages: t.Sequence[Values]) -> int:
        """Add messages, but for those that are there. Return how many old ones were dropped for them."""
        entries = self.entries()
        present = {entry.id for entry in entries}
        new = [(message["id"], json.dumps(message, separators=(",", ":")).encode("ascii")) for message in messages if message["id"] not in present]
        # The last ones, because news of now is worth more than news of long ago.
        fitting = new[-self._most_messages :]
        dropped = len(new) - len(fitting) + self._make_room(entries, len(fitting), sum(len(content) for _id, content in fitting))
        number = entries[-1].number if entries else 0
        for message_id, content in fitting:
            number += 1
            self._folder.write(Entry(number, message_id, WAITING).name, content, durable=True)
        return dropped

    def read(self, entry: Entry) -> Data | None:
        """Return a message, or None for a file that holds none."""
        try:
            data = load_bounded(self._folder.read(entry.name).decode("utf-8"), lambda digits: None)
        except OSError as error:
            if error.errno not in NO_FILE:
                raise  # the message may be there, and is read the next time
            return None
        except (ValueError, RecursionError, OverflowError):
            return None
        whole = isinstance(data, dict) and data.get("id") == entry.id and all(isinstance(data.get(key), str) for key in ("type", "subject"))
        return data if whole else None

    def accept(self, entry: Entry) -> Entry:
        """Note that a receiver has accepted the message."""
        accepted = entry._replace(state=ACCEPTED)
        self._folder.rename(entry.name, accepted.name)
        return accepted

    def remove(self, entry: Entry) -> None:
        """Remove a message that is delivered, or that is not needed any more."""
        self._folder.remove(entry.name)

    def _make_room(self, entries: list[Entry], messages: int, needed: int) -> int:
        """Remove the oldest messages until the new ones fit. Return how many."""
        sizes = [self._folder.size(entry.name) for entry in entries]
        dropped = 0
        while entries[dropped:] and (len(entries) - dropped + messages > self._most_messages or sum(sizes[dropped:]) + needed > self._most_bytes):
            self._folder.remove(entries[dropped].name)
            dropped += 1
        return dropped

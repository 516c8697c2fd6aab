# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""What becomes of a delivery: shapes that the rules see. It remembers senders and messages, because a sender beyond its rate is dropped."""

from __future__ import annotations

import dataclasses
import hashlib
import logging
from typing import Any

from ..messages import deliveries
from ..messages.deliveries import header_in, messages_in, unread_message
from ..messages.normalizing import normalized, sender_of
from ..messages.shape import UNKNOWN, Shape, about_drops, unknown
from .memory import Introducers, Memory, NamedVms, Rate, Runs

logger = logging.getLogger(__name__)

UNNAMED = "(a sender without a name)"
ALL = "(all senders together)"
NEW_EVENTS = "(new events of all senders together)"
# A run holds one of ansible-rulebook's 25 places until its event is over. So events are counted for longer than messages.
SENDER_EVENTS_SECONDS = 3600.0
# What is read for each message that the rates allow. A watcher's message has 2 KiB; one of Event Grid grows with its resources.
MESSAGE_BYTES = 8 * 1024
# After a day without news an event counts as new again. The rulebooks keep what they know of an event for longer than that.
FORGOTTEN_SECONDS = 86400.0


@dataclasses.dataclass(frozen=True)
class Limits:
    """The options of event filter normalize."""

    most_per_minute: int = 30
    most_in_all_per_minute: int = 3000
    most_new_events_per_minute: int = 60
    most_new_events_per_sender: int = 4
    repeat_seconds: float = 60.0
    sender_header: str = ""
    """The header in which a proxy says who sends; empty to take the messages' own word for it."""

    @property
    def bytes_per_minute(self) -> int:
        """How much of a sender is read in a minute: two deliveries of any size, or as many messages as it may send."""
        return max(2 * deliveries.BYTES, self.most_per_minute * MESSAGE_BYTES)

    @property
    def bytes_in_all_per_minute(self) -> int:
        """How much of all senders together is read in a minute."""
        return max(2 * deliveries.BYTES, self.most_in_all_per_minute * MESSAGE_BYTES)


class Receiver:
    """One source's messages."""

    def __init__(self) -> None:
        # Apart from each other: no sender's name may stand for the count of all, and many names must not push that count out of the memory.
        self._senders = Rate()
        self._all = Rate()
        self._bytes = Rate()
        self._all_bytes = Rate()
        self._new_events = Rate()
        self._senders_new_events = Rate(SENDER_EVENTS_SECONDS)
        self._large_messages = Rate()
        self._messages = Memory()
        self._events = Memory()
        self._vms = NamedVms()
        self._runs = Runs()
        self._introducers = Introducers()

    def receive(self, delivery: Any, limits: Limits, now: float) -> list[Shape]:
        """Return what the rules see of a delivery. Never raise."""
        sender = None
        try:
            proven = header_in(delivery, limits.sender_header) if limits.sender_header else None
            if limits.sender_header and proven is None:
                return self._limited(None, unknown(f"Not of a known sender: there is no header {limits.sender_header}."), limits, now)
            sender = proven or sender_of(unread_message(delivery))
            # All rates first: reading a large delivery takes the rulebook's loop much longer than dropping it.
            messages = self._messages_in(delivery, sender, limits, now)
        except ValueError as error:
            return self._limited(sender, unknown(f"Not a message about scheduled events: {error}."), limits, now)
        except Exception as error:  # a delivery is never a reason for the rulebook to end
            return self._limited(sender, unknown(f"Not a readable message: {type(error).__name__}."), limits, now)
        if messages is None:
            return self._reports(sender, limits, now)
        return [shape for message in messages for shape in self._message(message, proven, limits, now)]

    def _messages_in(self, delivery: Any, sender: str | None, limits: Limits, now: float) -> list[Any] | None:
        """Return the messages of a delivery; None where a rate is used up, so that it is dropped. Raise ValueError if it cannot be read."""
        rates = [(self._all, ALL, limits.most_in_all_per_minute)]
        volumes = [(self._all_bytes, ALL, limits.bytes_in_all_per_minute)]
        # Without a name, it may be in a text who sends. Then there is only what all have together.
        if sender is not None:
            rates.insert(0, (self._senders, sender, limits.most_per_minute))
            volumes.insert(0, (self._bytes, sender, limits.bytes_per_minute))
        for rate, of, most in (*rates, *volumes):
            if not rate.room(of, most, now):
                rate.drop(of, 1, now)
                return None
        allowance = deliveries.Allowance(min(deliveries.BYTES, *(rate.room(of, most, now) for rate, of, most in volumes)))
        try:
            return messages_in(delivery, allowance)
        except deliveries.TooLarge:
            if allowance.most == deliveries.BYTES:
                raise
            volumes[0][0].drop(volumes[0][1], 1, now)
            return None
        finally:
            for rate, of, _most in volumes:
                rate.use(of, allowance.used, now)

    def _message(self, message: Any, proven: str | None, limits: Limits, now: float) -> list[Shape]:
        try:
            sender = proven or sender_of(message)
        except Exception:  # a strange mapping
            sender = None
        # The rate first: what is dropped is not read any further.
        if not self._within_rate(sender, limits, now):
            return self._reports(sender, limits, now)
        return self._read(message, sender, limits, now)

    def _read(self, message: Any, sender: str | None, limits: Limits, now: float) -> list[Shape]:
        reading = normalized(message)
        first, *others = ({**shape, "sender": sender} for shape in reading.shapes)
        passed = self._passed(first, limits, now)
        # The message was counted once, for its first event. Each other event counts like one more message: it may start a run as well.
        for shape in others:
            passed += self._limited(sender, shape, limits, now)
        if not reading.dropped:
            return passed
        self._large_messages.drop(sender or UNNAMED, reading.dropped, now)
        return passed + self._reports(sender, limits, now)

    def _limited(self, sender: str | None, shape: Shape, limits: Limits, now: float) -> list[Shape]:
        return self._passed(shape, limits, now) if self._within_rate(sender, limits, now) else self._reports(sender, limits, now)

    def _within_rate(self, sender: str | None, limits: Limits, now: float) -> bool:
        # Both count: a flood of one sender must not use up what all have together.
        return self._senders.admit(sender or UNNAMED, limits.most_per_minute, now) and self._all.admit(ALL, limits.most_in_all_per_minute, now)

    def _passed(self, shape: Shape, limits: Limits, now: float) -> list[Shape]:
        if shape["form"] == UNKNOWN or not shape["news"]:
            return [shape]
        key = _key(shape)
        if self._messages.within(key, limits.repeat_seconds, now):
            # A run was started after the first one, or will be: the second one tells nothing more.
            return []
        event_id, sender = shape["event_id"], shape["sender"] or UNNAMED
        is_new = not self._events.within(event_id, FORGOTTEN_SECONDS, now)
        if is_new or self._introducers.has_to_count(event_id, sender, SENDER_EVENTS_SECONDS, now):
            if not self._may_be_new(sender, limits, now):
                return self._reports(shape["sender"], limits, now)
            self._introducers.count(event_id, sender, now)
        self._messages.add(key, now)
        self._events.add(event_id, now)
        vms = self._vms.add(event_id, shape["resources"])
        if is_new:
            return [{**shape, "vms": vms, "run": self._runs.begin(event_id, vms, sender, now), "new_event": True, "new_run": True}]
        # A run beside another one takes a place of its own, so it counts like a new event. Without room for it, the news waits for the end of the other.
        if self._runs.wants_another(event_id, vms, sender, now) and self._has_room(sender, limits, now) and self._may_be_new(sender, limits, now):
            return [{**shape, "vms": vms, "run": self._runs.begin_another(event_id, vms, sender, now), "new_run": True}]
        return [{**shape, "vms": vms, "run": self._runs.key(event_id)}]

    def _has_room(self, sender: str, limits: Limits, now: float) -> bool:
        wanted = ((self._senders_new_events, sender, limits.most_new_events_per_sender), (self._new_events, NEW_EVENTS, limits.most_new_events_per_minute))
        return all(rate.room(name, most, now) for rate, name, most in wanted)

    def _may_be_new(self, sender: str, limits: Limits, now: float) -> bool:
        # The sender first: its made-up events must not use up what all have together.
        if not self._senders_new_events.admit(sender, limits.most_new_events_per_sender, now):
            return False
        if self._new_events.admit(NEW_EVENTS, limits.most_new_events_per_minute, now):
            return True
        # A flood of other senders must not cost this one its next hour.
        self._senders_new_events.take_back(sender)
        return False

    def _reports(self, sender: str | None, limits: Limits, now: float) -> list[Shape]:
        wanted = (
            (self._senders, sender or UNNAMED, f"{limits.most_per_minute} in a minute"),
            (self._all, ALL, f"{limits.most_in_all_per_minute} in a minute"),
            (self._bytes, sender or UNNAMED, f"{limits.bytes_per_minute} bytes in a minute"),
            (self._all_bytes, ALL, f"{limits.bytes_in_all_per_minute} bytes in a minute"),
            (self._new_events, NEW_EVENTS, f"{limits.most_new_events_per_minute} in a minute"),
            (self._senders_new_events, sender or UNNAMED, f"{limits.most_new_events_per_sender} new events in an hour"),
            (self._large_messages, sender or UNNAMED, f"{deliveries.EVENTS} events or {deliveries.RESOURCES} resources in a message"),
        )
        reports = []
        for rate, name, most in wanted:
            dropped = rate.to_report(name, now)
            if dropped:
                problem = f"{name}: more than {most}; dropped since the last report: {dropped}. Watchers repeat what no run has seen."
                logger.warning("%s", problem)
                reports.append(about_drops(problem, sender, dropped))
        return reports


def _key(shape: Shape) -> str:
    """Return what tells one message from another: its id, and all of it that a run gets.

    Ids and senders can be forged, and VMs of one availability set know each other's events. Without the names a forged message that was first would make the
    real one a repetition, and the run would look at the forger's VM alone.
    """
    parts = (shape["sender"], shape["message_id"], shape["event_id"], shape["change"], shape["event_status"], sorted(shape["resources"]))
    return hashlib.sha256(repr(parts).encode("utf-8", "replace")).hexdigest()

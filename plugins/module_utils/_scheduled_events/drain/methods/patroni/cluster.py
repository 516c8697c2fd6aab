# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""A cluster as Patroni's REST API describes it, and who may lead it or be synchronous instead of a member. Pure: what Patroni and the settings say goes in.

Its texts come from a daemon: they are compared, shown in a printable form, and sent to nobody but the Patroni of the VM itself.
"""

from __future__ import annotations

import typing as t

from ....core.printable_text import printable
from ....core.types import Values
from ..method import LONGEST_MESSAGE, MethodError, NotYet, is_true

LEADERS = ("leader", "standby_leader")
SYNCHRONOUS = ("sync_standby", "quorum_standby")
# Of Patroni 3.0 and before a replica that follows is "running", later "streaming" or, from an archive, "in archive recovery".
ARCHIVE = "in archive recovery"
UP = ("running", "streaming", ARCHIVE)
# The tag, of no meaning for Patroni, that says in the cluster itself which event a member is drained for.
OUR_TAG = "maintenance_azure"
LONGEST_NAME = 80


class Member(t.NamedTuple):
    """One member at one moment."""

    name: str
    role: str
    state: str
    lag: int | None
    """Bytes behind the leader; None where it is not known."""
    tags: Values
    host: str = ""
    """Of its PostgreSQL."""

    @property
    def leads(self) -> bool:
        return self.role in LEADERS

    @property
    def is_synchronous(self) -> bool:
        return self.role in SYNCHRONOUS

    @property
    def is_up(self) -> bool:
        return self.state in UP

    @property
    def may_lead(self) -> bool:
        return not _is_never(self.tags, "nofailover", "failover_priority")

    @property
    def may_be_synchronous(self) -> bool:
        return not _is_never(self.tags, "nosync", "sync_priority")

    @property
    def is_out(self) -> bool:
        return not self.may_lead and not self.may_be_synchronous

    @property
    def drained_for(self) -> str:
        """The EventId of the event that this collection has drained it for, as far as the cluster knows."""
        return str(self.tags.get(OUR_TAG) or "")

    @property
    def shown(self) -> str:
        return printable(self.name, LONGEST_NAME)


class View(t.NamedTuple):
    """What GET /cluster says."""

    members: t.Sequence[Member]
    is_paused: bool
    scheduled: str
    """When a person wants a switchover; empty if none is scheduled."""

    def member(self, name: str) -> Member:
        """Return a member by its name. Raise MethodError."""
        found = next((one for one in self.members if one.name == name), None)
        if found is None:
            names = ", ".join(one.shown for one in self.members)
            raise MethodError(f"no member of the cluster is named {printable(name, LONGEST_NAME)}, only {names}; set the option member"[:LONGEST_MESSAGE])
        return found

    @property
    def leader(self) -> Member | None:
        return next((one for one in self.members if one.leads), None)

    def has_synchronous_beside(self, me: Member) -> bool:
        """Return whether another member is synchronous. Of none Patroni says so where PostgreSQL takes any that streams ("*")."""
        return any(one.is_synchronous and one.is_up for one in self.members if one.name != me.name)


class Rules(t.NamedTuple):
    """Who may take over, by the settings and by the cluster's own."""

    candidates: t.Sequence[str]
    """In order; any, where it is empty."""
    why_hit: t.Callable[[str], str]
    """Return why a member may be hit by the event, or an empty text."""
    longest_lag: int
    """In bytes."""
    is_synchronous: bool
    """Whether only a synchronous standby may lead."""
    is_quorum: bool
    """Whether that is a quorum commit. Patroni 4.0.5 hands over to no member by name then ("Switchover failed"): it chooses by itself."""
    is_strict: bool
    """Whether nothing is written while no standby is synchronous."""
    is_failsafe: bool
    """Whether a leader that reaches all members goes on without its store."""


def view_of(answer: t.Any) -> View:
    """Parse GET /cluster. Raise MethodError for what is no cluster."""
    members = answer.get("members") if isinstance(answer, t.Mapping) else None
    if not isinstance(members, list) or not all(isinstance(one, t.Mapping) and isinstance(one.get("name"), str) for one in members):
        raise MethodError("GET /cluster describes no cluster: this is not Patroni's REST API, or it is older than 2.0")
    scheduled = answer.get("scheduled_switchover")
    at = str(scheduled.get("at") or "an unknown time") if isinstance(scheduled, t.Mapping) else ""
    return View([_member(one) for one in members], bool(answer.get("pause")), printable(at, LONGEST_NAME))


def _member(given: Values) -> Member:
    lag, tags = given.get("lag"), given.get("tags")
    known = isinstance(lag, int) and not isinstance(lag, bool)
    name, role, state, host = (str(given.get(key) or "") for key in ("name", "role", "state", "host"))
    return Member(name, role, state, lag if known else None, tags if isinstance(tags, t.Mapping) else {}, host)


def _is_never(tags: Values, tag: str, priority: str) -> bool:
    """As Patroni reads them: the tag counts if it is set at all, and else a priority that is not positive, also as a text (of a long one its beginning)."""
    if tags.get(tag) is not None:
        return bool(tags[tag])
    try:
        return int(str(tags.get(priority))[:LONGEST_NAME]) <= 0
    except ValueError:
        return False


def candidate(view: View, leader: Member, rules: Rules, first: str = "") -> str:
    """Return who takes over; C(first) if it may. Raise NotYet where time may help, and MethodError where it does not, with the reason of each member."""
    reasons, waits = {}, False
    others = sorted((one for one in view.members if one.name != leader.name), key=lambda one: _rank(one, rules, first))
    for one in others:
        why = _why_never(one, rules)
        passing = "" if why else _why_not_now(one, rules)
        if not why and not passing:
            _refuse_choice(others, rules)
            return one.name
        reasons[one.shown] = why or passing
        waits = waits or not why
    words = "; ".join(f"{name}: {why}" for name, why in reasons.items()) or "it has no other member"
    message = f"no member may take over from {leader.shown}: {words}"[:LONGEST_MESSAGE]
    raise NotYet(message) if waits else MethodError(message)


def _refuse_choice(others: t.Sequence[Member], rules: Rules) -> None:
    """Where Patroni chooses, whoever must not lead has to say so by a tag, as the drain of its VM does."""
    able = {one.shown: _why_never(one, rules) for one in others if one.may_lead and _why_never(one, rules)} if rules.is_quorum else {}
    if able:
        words = "; ".join(f"{name}: {why}" for name, why in able.items())
        raise NotYet(f"with a quorum commit Patroni chooses who takes over, and may take one that must not: {words}"[:LONGEST_MESSAGE])


def _rank(one: Member, rules: Rules, first: str) -> tuple[bool, int, bool, int]:
    """Of members that may take over, the one with the least leads. A lag that is not known is refused elsewhere."""
    place = rules.candidates.index(one.name) if one.name in rules.candidates else 0
    return one.name != first, place, not one.is_synchronous, one.lag or 0


def _why_never(one: Member, rules: Rules) -> str:
    if rules.candidates and one.name not in rules.candidates:
        return "not one of candidates"
    hit = rules.why_hit(one.name)
    if hit or one.may_lead:
        return hit
    return f"drained for event {printable(one.drained_for, LONGEST_NAME)}" if one.drained_for else "has the tag nofailover"


def _why_not_now(one: Member, rules: Rules) -> str:
    if not one.is_up:
        return f"its state is {printable(one.state, LONGEST_NAME) or 'not known'}"
    if rules.is_synchronous:
        return "" if one.is_synchronous else "no synchronous standby yet"
    if one.lag is None:
        return "its lag is not known"
    return f"lags {one.lag} bytes behind" if one.lag > rules.longest_lag else ""


def is_alone(view: View, me: Member, to: str, rules: Rules) -> bool:
    """Return whether no other standby may be synchronous once C(to), or who leads already, leads.

    Where all writes would stop then, raise NotYet if time may help, and MethodError if not.
    """
    if not rules.is_synchronous:
        return False
    leader = to or (view.leader.name if view.leader else "")
    # Not by what is shown: the names of two may look alike.
    reasons = [(one.shown, *_why_not_synchronous(view, one, leader, rules)) for one in view.members if one.name not in (me.name, leader)]
    if any(not why for _name, why, _passes in reasons):
        return False
    matters = me.leads or me.is_synchronous
    if rules.is_strict and (matters or me.may_be_synchronous and not view.has_synchronous_beside(me)):
        words = "; ".join(f"{name}: {why}" for name, why, _passes in reasons) or "it has no other member"
        said = f"with {me.shown} out no member could be the synchronous standby, and synchronous_mode_strict would stop all writes: {words}"
        raise (NotYet if any(passes for _name, _why, passes in reasons) else MethodError)(said[:LONGEST_MESSAGE])
    return matters


def _why_not_synchronous(view: View, one: Member, leader: str, rules: Rules) -> tuple[str, bool]:
    """Return why a member cannot be the synchronous standby of a leader, and whether that may pass."""
    upstream = str(one.tags.get("replicatefrom") or "")
    if hit := rules.why_hit(one.name):
        return hit, False
    if one.drained_for:
        return f"drained for event {printable(one.drained_for, LONGEST_NAME)}", True
    if not one.may_be_synchronous or is_true(one.tags.get("nostream")):
        return "has the tag nosync or nostream", False
    # It follows the leader only when that member is in the cluster no more, which takes its whole ttl.
    if upstream != leader and any(other.name == upstream for other in view.members):
        return f"streams from {printable(upstream, LONGEST_NAME)} (replicatefrom)", False
    if one.state == ARCHIVE or not one.is_up:
        return f"its state is {printable(one.state, LONGEST_NAME) or 'not known'}", True
    return "", False

# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The votes of a cluster, as Corosync counts them. Pure."""

from __future__ import annotations

import re
import typing as t

COUNT = re.compile(r"^(Expected votes|Quorum): +([0-9]{1,6})\b", re.MULTILINE)
FLAGS = re.compile(r"^Flags: +(.*)", re.MULTILINE)
# The id of a member, its votes, and its name, or what its quorum device does. A quorum device is member 0, and has no votes while it does not vote.
MEMBER = re.compile(r"^ *([0-9]{1,10}) +([0-9]{1,6}) +\S", re.MULTILINE)


class Votes(t.NamedTuple):
    """The votes at one moment."""

    expected: int
    quorum: int
    """How many are needed: 1 with two_node. It falls with last_man_standing alone, some seconds after a loss that has left a majority."""
    flags: str
    """The settings, in the words of corosync-quorumtool."""
    members: t.Mapping[str, int]
    """The votes that are there, by the id of the node. What is down is not among them."""

    def is_tie(self, left: t.Mapping[str, int]) -> bool:
        """Return whether auto_tie_breaker decides: half is left, and what goes is no majority by itself."""
        return "AutoTieBreaker" in self.flags and sum(left.values()) == self.expected // 2 and len(self.members) - len(left) < self.quorum


def parse_votes(text: str) -> Votes | None:
    """Parse what corosync-quorumtool says. Return None for anything else."""
    counts, flags = dict(COUNT.findall(text)), FLAGS.search(text)
    members = {member: int(votes) for member, votes in MEMBER.findall(text)}
    if len(counts) < 2 or not flags or not members:
        return None
    return Votes(int(counts["Expected votes"]), int(counts["Quorum"]), flags.group(1), members)


def decider(text: str, members: t.Collection[str]) -> str:
    """Return which member decides by what corosync-cmapctl says of auto_tie_breaker_node: lowest, which is the default, highest, or ids in their order."""
    order = re.findall("[0-9]+", text) or sorted(members, key=int, reverse="highest" in text)
    return next((one for one in order if one in members), "")

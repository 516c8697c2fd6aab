# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""The failover cluster of a Windows VM, and the availability groups of its SQL Server."""

from __future__ import annotations

import typing as t


class Node(t.NamedTuple):
    """One node of a cluster."""

    name: str
    state: str
    """Up, Paused, Down, Joining or any other state of Windows."""
    drain: str
    """How far its drain is: NotInitiated, InProgress, Completed or Failed."""


class ClusterRole(t.NamedTuple):
    """One role (cluster group), and the node that owns it."""

    name: str
    owner: str
    state: str
    """Online, Offline, Pending or any other state of Windows."""


class ClusterState(t.NamedTuple):
    """A cluster as one of its nodes reports it."""

    name: str
    managed_events: int
    """DetectManagedEvents: with 3 or more the cluster itself drains a node that Azure announces an event for."""
    computer: str
    """The computer that reported the state."""
    nodes: t.Sequence[Node]
    roles: t.Sequence[ClusterRole]


class Replica(t.NamedTuple):
    """One replica of one availability group. Away from the primary SQL Server knows role and health of the local one alone."""

    group: str
    name: str
    mode: str
    """SYNCHRONOUS_COMMIT or ASYNCHRONOUS_COMMIT."""
    here: bool
    """Whether it is the local replica of the instance that reported it."""
    role: str
    health: str
    ready: bool
    """Whether a failover would lose nothing of any database."""


class FailoverCluster(t.Protocol):
    """The cluster of one VM. Raise OSError where it cannot be reached, or refuses."""

    def describe(self) -> ClusterState:
        """Return the cluster, its nodes and its roles."""

    def replicas(self, instance: str) -> list[Replica]:
        """Return the replicas of all availability groups, as this instance of SQL Server reports them."""

    def pause(self, node: str) -> None:
        """Pause a node and have its roles moved away, without waiting."""

    def resume(self, node: str, failback: str) -> None:
        """Resume a node. ``failback`` decides which roles return: immediate, policy or none."""

    def take_over(self, instance: str, group: str) -> None:
        """Make this instance of SQL Server primary of an availability group, by a planned failover without data loss."""

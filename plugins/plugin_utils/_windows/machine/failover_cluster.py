# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The failover cluster of a Windows VM, and the availability groups of its SQL Server."""

from __future__ import annotations

import typing as t

from ....module_utils._scheduled_events.host.machine.failover_cluster import ClusterRole, ClusterState, Node, Replica
from ..calls import Answer, OverCalls, accepted, json_output

# Each text is a command line with its parameters; nothing is ever put into one. Reviewed against
# https://learn.microsoft.com/en-us/powershell/module/failoverclusters/get-cluster
# https://learn.microsoft.com/en-us/powershell/module/failoverclusters/get-clusternode
# https://learn.microsoft.com/en-us/powershell/module/failoverclusters/get-clustergroup
# https://learn.microsoft.com/en-us/windows/win32/api/clusapi/ne-clusapi-cluster_node_drain_status
CLUSTER_SCRIPT = """\
$cluster = Get-Cluster
$nodes = @(Get-ClusterNode | ForEach-Object -Process { @{ name = $_.Name; state = [string]$_.State; drain = [string]$_.DrainStatus } })
$groups = @(Get-ClusterGroup | ForEach-Object -Process { @{ name = $_.Name; owner = $_.OwnerNode.Name; state = [string]$_.State } })
$seen = @{ cluster = $cluster.Name; managed = [int]$cluster.DetectManagedEvents; node = $env:COMPUTERNAME; nodes = $nodes; groups = $groups }
ConvertTo-Json -InputObject $seen -Depth 4 -Compress
"""
# Without -Wait it returns at once; what is still on its way is seen by the next observation.
# https://learn.microsoft.com/en-us/powershell/module/failoverclusters/suspend-clusternode
PAUSE_SCRIPT = """\
param([string]$Node)
$null = Suspend-ClusterNode -Name $Node -Drain
"""
# https://learn.microsoft.com/en-us/powershell/module/failoverclusters/resume-clusternode
RESUME_SCRIPT = """\
param([string]$Node, [string]$Failback)
$null = Resume-ClusterNode -Name $Node -Failback $Failback
"""
# https://learn.microsoft.com/en-us/powershell/module/sqlps/invoke-sqlcmd
REPLICAS_SCRIPT = """\
param([string]$Instance, [string]$Query)
$rows = @(Invoke-Sqlcmd -ServerInstance $Instance -Query $Query -QueryTimeout 20 -DisableVariables |
  Select-Object -Property 'name', 'replica', 'mode', 'here', 'role', 'health', 'ready')
ConvertTo-Json -InputObject $rows -Compress
"""
# https://learn.microsoft.com/en-us/sql/database-engine/availability-groups/windows/perform-a-planned-manual-failover-of-an-availability-group-sql-server
FAILOVER_SCRIPT = """\
param([string]$Instance, [string]$Group)
$statement = 'ALTER AVAILABILITY GROUP [' + $Group.Replace(']', ']]') + '] FAILOVER;'
Invoke-Sqlcmd -ServerInstance $Instance -Query $statement -QueryTimeout 60 -DisableVariables
"""
# One row for each replica; away from the primary SQL Server knows the state of the local one alone. ready: 1 when a failover would lose
# nothing of any database.
# https://learn.microsoft.com/en-us/sql/relational-databases/system-dynamic-management-views/sys-dm-hadr-availability-replica-states-transact-sql
# https://learn.microsoft.com/en-us/sql/relational-databases/system-dynamic-management-views/sys-dm-hadr-database-replica-cluster-states-transact-sql
REPLICAS_QUERY = (
    "SELECT g.name AS name, r.replica_server_name AS replica, r.availability_mode_desc AS mode, CAST(ISNULL(s.is_local, 0) AS int) AS here, "
    "ISNULL(s.role_desc, '') AS role, ISNULL(s.synchronization_health_desc, '') AS health, "
    "ISNULL((SELECT MIN(CAST(d.is_failover_ready AS int)) FROM sys.dm_hadr_database_replica_cluster_states AS d "
    "WHERE d.replica_id = r.replica_id), 0) AS ready "
    "FROM sys.availability_groups AS g JOIN sys.availability_replicas AS r ON r.group_id = g.group_id "
    "LEFT JOIN sys.dm_hadr_availability_replica_states AS s ON s.replica_id = r.replica_id"
)
FAILBACK = {"immediate": "Immediate", "policy": "Policy", "none": "NoFailback"}
CLUSTER = "the failover cluster"


class WindowsFailoverCluster(OverCalls):
    """A failover cluster over ansible.windows; see FailoverCluster."""

    def describe(self) -> ClusterState:
        answer = self._calls.call("win_powershell", script=CLUSTER_SCRIPT, error_action="stop")
        seen = json_output(answer, CLUSTER)
        if not isinstance(seen, dict) or not isinstance(seen.get("nodes"), list) or not isinstance(seen.get("groups"), list):
            raise OSError(f"{CLUSTER}: the script printed no nodes and groups")
        nodes = [Node(_text(one, "name"), _text(one, "state"), _text(one, "drain")) for one in _rows(seen["nodes"])]
        roles = [ClusterRole(_text(one, "name"), _text(one, "owner"), _text(one, "state")) for one in _rows(seen["groups"])]
        return ClusterState(_text(seen, "cluster"), _whole(seen, "managed"), _text(seen, "node"), nodes, roles)

    def replicas(self, instance: str) -> list[Replica]:
        parameters = {"Instance": instance, "Query": REPLICAS_QUERY}
        answer = self._calls.call("win_powershell", script=REPLICAS_SCRIPT, parameters=parameters, error_action="stop")
        what = f"the availability groups of {instance}"
        rows = json_output(answer, what)
        if not isinstance(rows, list):
            raise OSError(f"{what}: the script printed no rows")
        return [_replica(row) for row in _rows(rows)]

    def pause(self, node: str) -> None:
        parameters = {"Node": node}
        answer = self._calls.call("win_powershell", script=PAUSE_SCRIPT, parameters=parameters, error_action="stop")
        accepted(answer, f"node {node} was to be paused")

    def resume(self, node: str, failback: str) -> None:
        if failback not in FAILBACK:
            raise OSError(f"node {node} cannot be resumed with failback {failback!r}; it must be {', '.join(FAILBACK)}")
        parameters = {"Node": node, "Failback": FAILBACK[failback]}
        answer = self._calls.call("win_powershell", script=RESUME_SCRIPT, parameters=parameters, error_action="stop")
        accepted(answer, f"node {node} was to be resumed")

    def take_over(self, instance: str, group: str) -> None:
        parameters = {"Instance": instance, "Group": group}
        answer = self._calls.call("win_powershell", script=FAILOVER_SCRIPT, parameters=parameters, error_action="stop")
        accepted(answer, f"{instance} was to take over availability group {group}")


def _replica(row: Answer) -> Replica:
    ready, here = _whole(row, "ready") == 1, _whole(row, "here") == 1
    return Replica(_text(row, "name"), _text(row, "replica"), _text(row, "mode"), here, _text(row, "role"), _text(row, "health"), ready)


def _rows(value: list[t.Any]) -> list[Answer]:
    return [one for one in value if isinstance(one, dict)]


def _text(row: Answer, key: str) -> str:
    """Return a text, empty for null: a role may have no owner."""
    value = row.get(key)
    return "" if value is None else str(value)


def _whole(row: Answer, key: str) -> int:
    value = row.get(key)
    return value if isinstance(value, int) else 0

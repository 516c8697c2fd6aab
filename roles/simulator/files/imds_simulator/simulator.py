# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""The simulator: the simulated world, and a server for each VM and for the control API."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from imds_simulator.control.api import Control
from imds_simulator.control.guard import Guard, is_loopback
from imds_simulator.endpoint.handler import Endpoint
from imds_simulator.vm import Vm
from imds_simulator.wire import Connection, Handler
from imds_simulator.world import World


class Simulator(World):
    """Serve the world."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.groups.on_vm_end = self._end_vm
        self._servers: Dict[str, Any] = {}
        self._connections: Dict[str, List[Connection]] = {}

    async def add_vm(self, vm: Vm) -> None:
        """Add a VM and open its server. Raise ValueError."""
        self.groups.add(vm)
        try:
            vm.url = await self._listen(vm.name, vm.host, vm.port, Endpoint(self, vm).handle)
        except OSError:
            del self.groups.vms[vm.name]
            raise
        self.refresh()

    async def start_control(self, host: str, port: int, guard: Optional[Guard] = None) -> None:
        """Open the server of the control API."""
        guard = guard or Guard()
        if not is_loopback(host) and not guard.wants_token:
            raise ValueError("the control API at %s may be reached from elsewhere: that needs --control-token-file" % host)
        # This name cannot be a VM's: those are not empty.
        self.control_url = await self._listen("", host, port, Control(self, guard, self.add_vm).handle)

    async def _listen(self, name: str, host: str, port: int, handler: Handler) -> str:
        connections = self._connections.setdefault(name, [])
        server = await self.loop.create_server(lambda: Connection(handler, connections), host, port, backlog=256)
        self._servers[name] = server
        address = server.sockets[0].getsockname()
        return "http://%s:%d" % ("[%s]" % address[0] if ":" in address[0] else address[0], address[1])

    def _end_vm(self, vm: Vm) -> None:
        """Close the server of an evicted or deleted VM."""
        server = self._servers.pop(vm.name, None)
        if server is not None:
            server.close()
        for connection in list(self._connections.get(vm.name, [])):
            connection.drop()

    async def close(self) -> None:
        """Close all servers, after the hooks have run."""
        await self.hooks.finish()
        for server in self._servers.values():
            server.close()
        for connections in self._connections.values():
            for connection in list(connections):
                connection.drop()
        self.recorder.close()

# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Options of arguments.shared_arguments()."""


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  endpoint:
    description:
      - Where the VM's metadata service is, as V(http://ADDRESS) or V(http://ADDRESS:PORT).
      - Set it to rehearse against a simulator, or for a VM outside a virtual network whose endpoint you know.
      - V(discover), since version 1.2.0 of the collection, looks for the endpoint of a VM outside a virtual network. On Linux it looks at the environment
        variable E(SCHEDULEDEVENTSIP) and the line that sets it in C(/etc/profile), at the leases of dhclient, systemd-networkd, NetworkManager and cloud-init,
        then at the answer to one DHCP request for option 245, which takes root and at most 10 seconds, and last at V(http://169.254.169.254).
      - On Windows V(discover) looks at the system variable E(SCHEDULEDEVENTSIP), at the registry value C(ScheduledEventsIp) in
        C(HKLM\Software\ScheduledEvents), and last at V(http://169.254.169.254). No DHCP request is sent there.
      - The first address that answers with a document of Scheduled Events is used. C(endpoint) and
        C(endpoint_source) in the result say which one, and where it was found.
      - The DHCP request is sent in check mode as well. It asks, and changes nothing on the VM.
      - Proxies are never used, whatever the environment says, and redirects are refused.
    type: str
    default: http://169.254.169.254
  api_version:
    description:
      - The version of Scheduled Events to ask for.
      - V(auto) asks for the newest one, and for older ones where the service says that it does not know the version.
      - Older versions show less. Before V(2020-07-01) no event has a duration, before V(2019-08-01) none has a source.
      - With V(2017-03-01) Azure puts an underscore in front of the names of VMs. It is taken off in C(resources), so that
        names compare as with all other versions, and kept in C(raw).
    type: str
    default: auto
    choices: [auto, "2020-07-01", "2019-08-01", "2019-04-01", "2019-01-01", "2017-11-01", "2017-08-01", "2017-03-01"]
  connect_timeout:
    description: Seconds until an address at which nothing answers is given up, together with a connection that is refused meanwhile.
    type: float
    default: 5.0
  request_timeout:
    description:
      - Seconds to wait for a complete answer once connected.
      - The first request to Scheduled Events enables them and may take two minutes, so give less only where they are in use.
    type: float
    default: 125.0
  retries:
    description:
      - How often a request is sent again after an answer with status 404, 429, 500, 503 or 504, or a connection that broke,
        with pauses of 1, 2, 4, 8 and then 10 seconds, or as C(Retry-After) says, at most 30.
      - Status 410 (the service is being updated) is retried for 70 seconds, whatever the number.
      - With V(0) nothing is sent again.
    type: int
    default: 3
  vm_name:
    description:
      - This VM's own name as Azure knows it.
      - By default it is read from the instance metadata (C(compute.name)). It is never taken from the host name, which differs in scale sets.
    type: str
"""

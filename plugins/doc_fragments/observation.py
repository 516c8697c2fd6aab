# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors
"""Options of observation_arguments(): how a VM is observed."""


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  records_path:
    description:
      - Directory of the records on the VM, see M(maintenance.azure.maintenance_record).
      - Where it may not be read or written, the result says so in RV(maintenance.azure.maintenance_info#module:records_problems). The rest of the
        look is the same.
    type: str
    default: /var/lib/azure-maintenance
  health:
    description:
      - How to see that the application is in service. Give one of C(port), C(url), C(file) and C(service).
      - Without it nothing is known about the service.
    type: dict
    suboptions:
      port: {type: int, description: It is in service while this TCP port accepts connections.}
      url:
        description:
          - It is in service while a GET of this URL answers with a status from 200 to 399.
          - Proxies are never used. Redirects are not followed.
        type: str
      file: {type: str, description: "It is in service while this file exists, with or without content."}
      service: {type: str, description: It is in service while systemd calls this unit active.}
      host: {type: str, default: 127.0.0.1, description: Where O(health.port) is.}
      timeout: {type: float, default: 5.0, description: Seconds until O(health.port) or O(health.url) must have answered.}
      validate_certs: {type: bool, default: true, description: Whether the certificate of O(health.url) must be valid.}
  include_raw: {type: bool, default: false, description: "Return each event also as it was received, in C(raw)."}
  boot_id:
    description: What to return as RV(maintenance.azure.maintenance_info#module:boot_id), for tests and rehearsals where nothing is really rebooted.
    type: str
"""

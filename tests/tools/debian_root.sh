#!/usr/bin/env bash
# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# "debian_root.sh FOLDER [MIRROR]": FOLDER/base becomes the root of a Debian guest, once, with what the suites guests and fleet need in it.
# Installs debootstrap, systemd-nspawn and the like with apt where they are missing. As root, on Debian or Ubuntu.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cache=$1 mirror=${2:-}
suite=bookworm
packages=systemd,systemd-sysv,dbus,python3,openssh-server,iproute2,procps,nginx-light,haproxy
# HAProxy's configuration and Debian's timers are none of the guests' work.
unwanted=(haproxy.service e2scrub_reap.service apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer)

install_tools() {
  local missing=()
  command -v debootstrap > /dev/null || missing+=(debootstrap)
  command -v systemd-nspawn > /dev/null || missing+=(systemd-container)
  command -v ip > /dev/null || missing+=(iproute2)
  command -v ssh-keygen > /dev/null || missing+=(openssh-client)
  [ ${#missing[@]} -eq 0 ] && return
  command -v apt-get > /dev/null || { echo "needs ${missing[*]}, and apt-get to install them"; exit 2; }
  echo "installing ${missing[*]}"
  # Suites that run side by side on a fresh machine must not meet at apt's lock: it does not wait for anybody.
  flock "$root/.build/apt.lock" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive flock "$root/.build/apt.lock" apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null
}

build() {
  local unit
  echo "building the guests' root in $cache (once, about a minute)"
  rm -rf "$cache/base"
  timeout 900 debootstrap --variant=minbase --include="$packages" "$suite" "$cache/base" ${mirror:+"$mirror"} \
    > "$cache/debootstrap.log" 2>&1 || { tail -5 "$cache/debootstrap.log"; return 1; }
  for unit in "${unwanted[@]}"; do ln -sfn /dev/null "$cache/base/etc/systemd/system/$unit"; done
  rm -f "$cache"/base/etc/systemd/system/{multi-user.target.wants/haproxy.service,timers.target.wants/apt-daily.timer}
  touch "$cache/base/.complete"
}

mkdir -p "$root/.build" "$cache"
install_tools
# Two suites may ask at a time; the second waits.
exec 9> "$cache/lock"
flock 9
[ -e "$cache/base/.complete" ] || build

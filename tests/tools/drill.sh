#!/usr/bin/env bash
# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# The drill, with the Ansible that is first on PATH: three machines that the simulator plays on loopback, at 60 times the speed; with
# --spot the eviction of one of them, at the real pace. Runs from an empty folder, so that no ansible.cfg and no inventory of this
# checkout can help it along.
set -eu

usage="usage: drill.sh [--spot] [-v|-vv|-vvv|-vvvv] [-e NAME=VALUE]..."
playbook=drill
options=()
while [ $# -gt 0 ]; do
  case "$1" in
    --spot) playbook=drill_spot ;;
    -v | -vv | -vvv | -vvvv) options+=("$1") ;;
    -e)
      [ $# -gt 1 ] || { echo "drill.sh: -e needs NAME=VALUE. $usage" >&2; exit 2; }
      options+=(-e "$2")
      shift
      ;;
    -h | --help) echo "$usage"; exit 0 ;;
    *) echo "drill.sh does not know $1. $usage" >&2; exit 2 ;;
  esac
  shift
done

root=$(cd "$(dirname "$0")/../.." && pwd)
: "${ANSIBLE_COLLECTIONS_PATH:=$root/.build/tree}"
export ANSIBLE_COLLECTIONS_PATH ANSIBLE_LOCALHOST_WARNING=0 ANSIBLE_INVENTORY_UNPARSED_WARNING=0
folder=$(mktemp -d)
# Ansible cleans up after a failure, but not when it is interrupted. With the simulator all that the drill started ends.
end() {
  for note in "$folder"/maintenance-drill-*/simulator.pid; do
    if [ -e "$note" ]; then kill "$(cat "$note")" && sleep 2; fi
  done
  rm -rf "$folder"
}
trap end EXIT
cd "$folder"
export TMPDIR="$folder"
: "${ANSIBLE_STDOUT_CALLBACK:=maintenance.azure.maintenance_progress}"
export ANSIBLE_STDOUT_CALLBACK
mkdir -p "$root/.build"
ansible-playbook "maintenance.azure.$playbook" -e "drill_report=$root/.build/drill-report.html" ${options[@]+"${options[@]}"}

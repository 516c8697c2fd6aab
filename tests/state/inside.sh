#!/usr/bin/env bash
# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# The first process of a product's namespaces, started by run.sh: "inside.sh ROOT PYTHON ARCHIVES PRODUCT [pytest arguments]".
# It stays, so that it can wait for the processes that daemons leave behind: Slurm takes a job whose process nobody waits for as running.
set -euo pipefail
root=$1 python=$2 archives=$3 product=$4
shift 4
memory=$(mktemp -d)
mount -t tmpfs -o mode=755 tmpfs "$memory"
mkdir "$memory/upper" "$memory/work" "$memory/merged"
merged=$memory/merged
mount -t overlay overlay -o "lowerdir=/,upperdir=$memory/upper,workdir=$memory/work" "$merged"
for archive in "$archives"/*.deb; do
  # Where a folder is a link on this machine (/lib), what comes into it goes where the link points.
  dpkg-deb --fsys-tarfile "$archive" | tar -x -C "$merged" --keep-directory-symlink
done
for folder in proc run tmp sys dev; do mkdir -p "$merged/$folder"; done
mount -t proc proc "$merged/proc"
mount --rbind /sys "$merged/sys"
mount --rbind /dev "$merged/dev"
mount -t tmpfs -o mode=1777 tmpfs "$merged/dev/shm"
mount -t tmpfs -o mode=755 tmpfs "$merged/run"
mount -t tmpfs -o mode=1777 tmpfs "$merged/tmp"
# The repository may lie on another file system than the root.
mkdir -p "$merged$root"
mount --rbind "$root" "$merged$root"
hostname host
ip link set lo up
# The users that the packages would have made when installed.
if [ -e "$root/tests/state/$product/users" ]; then
  while read -r user; do chroot "$merged" useradd --system --user-group --home-dir "/var/lib/$user" "$user" 2> /dev/null || chroot "$merged" id "$user" > /dev/null; done \
    < "$root/tests/state/$product/users"
fi
chroot "$merged" /bin/bash -c 'ldconfig; grep -q " host$" /etc/hosts || echo "127.0.0.1 host" >> /etc/hosts'
code=0
chroot "$merged" /usr/bin/env HOME=/tmp TMPDIR=/tmp LC_ALL=C.UTF-8 PATH="${python%/*}:/usr/sbin:/usr/bin:/sbin:/bin" \
  /usr/bin/env --chdir="$root" "$python" -m pytest -q -s -p no:cacheprovider --basetemp=/tmp/pytest "tests/state/$product" "$@" || code=$?
exit "$code"

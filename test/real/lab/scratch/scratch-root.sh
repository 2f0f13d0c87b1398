#!/usr/bin/env bash
# Runs a script in a scratch root: the file system of this machine, where every change goes to memory and is gone
# afterwards. It has its own processes and its own loopback addresses. `unshare --mount bash scratch-root.sh FOLDER
# INPUT` runs INPUT/script.sh as root in /root, where the files of INPUT are; FOLDER is an empty folder.
set -euo pipefail
folder=$1 input=$2 project=$PWD

mount --make-rprivate /
mount -t tmpfs -o mode=755 scratch "$folder"
mkdir "$folder/upper" "$folder/work" "$folder/root"
root=$folder/root
mount -t overlay overlay -o "lowerdir=/,upperdir=$folder/upper,workdir=$folder/work" "$root"
mount --rbind /dev "$root/dev"
if [ ! -e "$root$project/package.json" ]; then
  mkdir -p "$root$project"
  mount --bind "$project" "$root$project"
  mount -o remount,bind,ro "$root$project"
fi
cp -R "$input/." "$root/root/"

# Only npm may use the network of the machine: it installs the packages that rolecall needs.
touch "$root/run/machine-network"
mount --bind /proc/self/ns/net "$root/run/machine-network"
npm=$(command -v npm)
printf '#!/bin/sh\nexec nsenter --net=/run/machine-network %s "$@" --prefer-offline --no-audit --no-update-notifier\n' \
  "$npm" >"$root/usr/local/sbin/npm"
install -m 755 test/real/lab/scratch/systemctl.sh "$root/usr/local/sbin/systemctl"
chmod 755 "$root/usr/local/sbin/npm"

exec unshare --net --pid --fork --kill-child bash -euc '
  ip link set lo up
  mount -t proc proc "$1/proc"
  exec chroot "$1" /bin/bash -c "cd /root && exec bash script.sh"
' bash "$root"

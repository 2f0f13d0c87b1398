#!/usr/bin/env bash
# Stands in for systemctl in a scratch root, where no systemd runs. It starts what the installed units say: the sockets,
# the user, the directories and the command. It knows the calls of the documents and no other.
set -euo pipefail
readonly log=/var/log/rolecall.log pid_file=/run/rolecall.pid

# The file of a unit: that of the administrator before that of a package.
unit() {
  local folder
  for folder in /etc/systemd/system /lib/systemd/system; do
    if [ -e "$folder/rolecall.$1" ]; then echo "$folder/rolecall.$1" && return; fi
  done
  echo "Unit rolecall.$1 not found." >&2 && return 1
}

# The values of a key of a unit, one a line.
values() {
  sed -n "s/^$2=//p" "$(unit "$1")"
}

start() {
  local -a sockets command
  local user cache
  mapfile -t sockets < <(values socket ListenStream)
  read -ra command < <(values service ExecStart)
  user=$(values service User)
  install -d -m "$(values service StateDirectoryMode)" -o "$user" -g "$user" "/var/lib/$(values service StateDirectory)"
  cache=/var/cache/$(values service CacheDirectory)
  install -d -m "$(values service CacheDirectoryMode)" -o "$user" -g "$user" "$cache"
  setsid setpriv --reuid="$user" --regid="$user" --init-groups --no-new-privs env -i "PATH=$PATH" \
    systemd-socket-activate "--setenv=CACHE_DIRECTORY=$cache" "${sockets[@]/#/--listen=}" "${command[@]}" >>"$log" 2>&1 </dev/null &
  echo "$!" >"$pid_file"
  # A client that is too early would be refused: the sockets of systemd are open when `systemctl` returns.
  for _ in $(seq 100); do
    if grep -q "^Listening on ${sockets[-1]}" "$log"; then return; fi
    sleep 0.05
  done
  cat "$log" >&2 && return 1
}

stop() {
  local pid
  [ -e "$pid_file" ] || return 0
  pid=$(cat "$pid_file")
  kill "$pid" 2>/dev/null || true
  for _ in $(seq 100); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  if kill -0 "$pid" 2>/dev/null; then echo "rolecall does not end after SIGTERM" >&2 && return 1; fi
  rm "$pid_file"
  : >"$log"
}

case "$*" in
  daemon-reload) ;;
  "enable --now rolecall.socket rolecall.service")
    systemd-analyze verify --man=no "$(unit socket)" "$(unit service)"
    start
    ;;
  "restart rolecall.service") stop && start ;;
  "disable --now rolecall.socket rolecall.service") stop ;;
  *) echo "systemctl $*: not known in a scratch root" >&2 && exit 1 ;;
esac

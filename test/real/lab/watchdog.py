"""Runs a program as a unit of systemd with WatchdogSec=1s, Restart=always and NotifyAccess=all: kills it when it has not
sent WATCHDOG=1 for a second, and starts it again when it ends. Prints what happens. Arguments: the address of the notify
socket (a path, or a name that begins with @), and the command.
"""

import array
import os
import socket
import subprocess
import sys

LIMIT_SECONDS = 1
address, command = sys.argv[1], sys.argv[2:]
notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
notify.bind("\0" + address[1:] if address.startswith("@") else address)
notify.settimeout(LIMIT_SECONDS)


def message():
    """The next message. The descriptor that a sender waits for (BARRIER=1) is closed."""
    data, parts, _, _ = notify.recvmsg(4096, socket.CMSG_SPACE(4))
    for _, kind, content in parts:
        if kind == socket.SCM_RIGHTS:
            for descriptor in array.array("i", content):
                os.close(descriptor)
    return data.decode()


env = {**os.environ, "NOTIFY_SOCKET": address, "WATCHDOG_USEC": str(LIMIT_SECONDS * 1_000_000)}
while True:
    unit = subprocess.Popen(command, env=env)
    print("started", unit.pid, flush=True)
    try:
        while unit.poll() is None:
            if message() == "WATCHDOG=1":
                print("alive", unit.pid, flush=True)
    except TimeoutError:
        print("watchdog", unit.pid, flush=True)
        unit.kill()
    unit.wait()

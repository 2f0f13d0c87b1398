"""Delays packets: `delay.py DEVICE MS`. The kernel routes packets into the tun device DEVICE, which must exist. Each is
written back after MS milliseconds, in order. Ends when its standard input ends."""
import collections, fcntl, os, select, struct, sys, time

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
device, delay = sys.argv[1], float(sys.argv[2]) / 1000
tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH", device.encode(), IFF_TUN | IFF_NO_PI))
print("ready", flush=True)
waiting = collections.deque()
while True:
    patience = None if not waiting else max(0, waiting[0][0] - time.monotonic())
    readable, _, _ = select.select([tun, 0], [], [], patience)
    if 0 in readable and os.read(0, 1) == b"":
        break
    if tun in readable:
        waiting.append((time.monotonic() + delay, os.read(tun, 65536)))
    while waiting and waiting[0][0] <= time.monotonic():
        os.write(tun, waiting.popleft()[1])

/**
 * File descriptors of the sockets that systemd passed: LISTEN_FDS of them from 3 on, if LISTEN_PID is ours
 * (sd_listen_fds(3)).
 */
export function systemdSockets(env: Readonly<Record<string, string | undefined>>): readonly number[] {
  if (Number(env["LISTEN_PID"]) !== process.pid) return [];
  const count = Number(env["LISTEN_FDS"]);
  return Number.isInteger(count) && count > 0 && count < 1_000
    ? Array.from({ length: count }, (_, index) => 3 + index)
    : [];
}

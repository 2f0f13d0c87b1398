import type { PoolerConfig } from "../../../core/config/model/config.ts";
import { listText } from "../../../core/health/wording.ts";
import type { Supervisor } from "../../../core/program/supervisor.ts";
import { errorLine, okLine, type PreflightLine, warningLine } from "./preflight-line.ts";

/** What resumes clients if this process dies while they are held. */
export interface PauseGuards {
  /** The file of the state; beside it is written what is paused. */
  readonly stateFile: string | null;
  /** The names of the peers of the configuration. */
  readonly peers: readonly string[];
  /** Whether poolers may be paused that no peer reaches. Then no peer is asked. */
  readonly isUnguarded: boolean;
  readonly supervisor: Supervisor;
}

/** Whether what is paused is written down, so that the next start resumes it. */
export function stateFileLine({ stateFile }: Pick<PauseGuards, "stateFile">): PreflightLine {
  const subject = "state_file";
  if (stateFile !== null)
    return okLine(subject, `what is paused is written beside ${stateFile} before the first PAUSE`);
  const text = "must be set, got none: what is paused is written down before the first PAUSE, for the next start";
  return errorLine(subject, text, "Set state_file in the configuration.");
}

/** Who finishes the switchover if this process dies: the guardian process, where it lives on. */
export function guardianLine({ peers, isUnguarded, supervisor: { ends } }: PauseGuards): PreflightLine {
  const subject = "guardian";
  if (ends === "none") return okLine(subject, "a process of its own finishes the switchover if rolecall dies or hangs");
  const why =
    ends === "container"
      ? "rolecall runs in a container, which ends with it"
      : "systemd ends the processes of a unit with it (KillMode=mixed or control-group)";
  const hangs = "The guardian process finishes the switchover if rolecall hangs";
  if (peers.length > 0 && !isUnguarded)
    return okLine(
      subject,
      `${hangs}; if it dies, the guardian ends too (${why}), and ${listText(peers)} finishes it. A file that a peer does not write is not led: those clients go on at the deadline`,
    );
  return warningLine(
    subject,
    `${hangs}; if it dies, the guardian ends too (${why}), and nobody leads clients to the new primary until rolecall runs again`,
    ends === "unit" ? "Configure peers, or set KillMode=process in the unit." : "Configure peers.",
  );
}

/** Who resumes the clients of a pooler if this process cannot. Peers reach consoles over TCP only. */
export function guardLine({ name, pgbouncer }: PoolerConfig, guards: PauseGuards): PreflightLine {
  const { peers, isUnguarded, supervisor } = guards;
  const isReachable = "host" in pgbouncer.address;
  if (isReachable && peers.length > 0 && !isUnguarded)
    return okLine(
      name,
      `before the first PAUSE ${listText(peers)} must acknowledge it: if rolecall dies, it is resumed from there`,
    );
  const ofPeers = peers.length > 0 ? "an unguarded switchover asks none" : "no peer is configured";
  const why = isReachable ? ofPeers : "a peer cannot reach the folder of a Unix socket";
  if (!isUnguarded)
    return errorLine(
      name,
      `must be reached by a peer, got none: ${why}`,
      "Configure peers and an address host:port, or allow an unguarded switchover (--unguarded).",
    );
  const text = `is not reached by a peer (${why}): if rolecall and its guardian process die or hang, it stays paused until rolecall runs again`;
  return warningLine(name, `${text}, ${restartText(supervisor)}`, "Configure peers and an address host:port.");
}

function restartText({ isPresent, watchdogMs }: Supervisor): string {
  if (!isPresent) return "without a bound, because no supervisor is seen that starts it";
  if (watchdogMs === null)
    return "which its supervisor starts; if they hang, without a bound, because no watchdog is seen";
  const seconds = watchdogMs / 1000;
  return `which its supervisor starts: if they hang, within ${seconds} s (WatchdogSec) + RestartSec + 1 s`;
}

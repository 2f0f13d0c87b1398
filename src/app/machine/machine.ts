import { randomBytes } from "node:crypto";
import type { CancelTimer, SetTimer } from "../../core/cluster/timer.ts";
import { NodeClient } from "../../core/probe/client/client.ts";
import type { IsTlsServer } from "../../core/probe/client/https-hint.ts";
import type { ConnectToNode } from "../../core/probe/probers.ts";
import { AnswerTurns } from "../../core/probe/schedule/answer-turns.ts";
import { setSystemTimer } from "../../core/probe/schedule/system-timer.ts";
import { TimerWheel } from "../../core/probe/schedule/timer-wheel.ts";
import type { ClockOptions } from "../../core/state/clock.ts";
import { linuxBootId } from "../../core/state/boot-clock.ts";

/** What monitoring takes from the machine: time, random numbers and connections. */
export interface Machine {
  /** The time sources of the clock; those that are absent are Node's. */
  readonly time: Pick<ClockOptions, "monotonic" | "boot" | "wall">;
  readonly setTimer: SetTimer;
  /** Sets the timers of probes, which may end a little late, together with others. Default: `setTimer`. */
  readonly setProbeTimer?: SetTimer;
  /** How much later than asked `setProbeTimer` may end a timer of this length, in ms. Default: not later. */
  readonly timerLateMs?: (delayMs: number) => number;
  /** A number from 0 up to 1. */
  readonly random: () => number;
  /** Returns an identifier for one run of rolecall. */
  readonly newInstanceId: () => string;
  /** Returns an identifier of the present boot, by which a later run may compare times since boot; `null`: unknown. */
  readonly bootId: () => string | null;
  readonly connect: ConnectToNode;
  /** Shares the event loop between the answers of nodes. Default: each is read at once. */
  readonly turns?: AnswerTurns;
  /** Whether a TLS server answers at an address. Default: a TLS handshake decides. */
  readonly isTlsServer?: IsTlsServer;
}

const probeTimers = new TimerWheel();

/** The machine that this process runs on. */
export const thisMachine: Machine = {
  time: {},
  setTimer: setSystemTimer,
  random: Math.random,
  newInstanceId: () => randomBytes(6).toString("hex"),
  bootId: linuxBootId,
  connect: (origin, limits, tls) => new NodeClient(origin, limits, tls),
  turns: new AnswerTurns(),
  setProbeTimer: probeTimers.setTimer,
  timerLateMs: probeTimers.lateMs,
};

/** Waits for a promise, for a time in ms at most. */
export async function waitAtMost(setTimer: SetTimer, limitMs: number, promise: Promise<void>): Promise<void> {
  let cancel: CancelTimer | null = null;
  const late = new Promise<void>((resolve) => {
    cancel = setTimer(resolve, limitMs);
  });
  await Promise.race([promise.finally(() => cancel?.()), late]);
}

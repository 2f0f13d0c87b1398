import type { Machine } from "../../../src/app/machine/machine.ts";
import type { Chance } from "../chance.ts";
import type { VirtualNetwork } from "./virtual-network.ts";
import type { SeenTime } from "./virtual-time.ts";

/** Wall time at the virtual instant 0, in ms since the epoch. */
export const epochMs: number = Date.UTC(2026, 0, 1);

/** What a virtual machine is made of. */
export interface MachineParts {
  readonly time: SeenTime;
  readonly chance: Chance;
  readonly network: Pick<VirtualNetwork, "connect" | "latencyMs">;
}

/** The machine that rolecall sees in a simulation: its clock, timers, chance and connections are virtual. */
export function virtualMachine({ time, chance, network }: MachineParts): Machine {
  return {
    time: {
      monotonic: () => time.monotonicMs,
      boot: () => time.nowMs,
      wall: () => epochMs + time.nowMs,
    },
    setTimer: (callback, delayMs) => {
      const event = time.after("timer", delayMs, callback);
      return () => {
        event.run = null;
      };
    },
    random: () => chance.next(),
    newInstanceId: () => "simulated",
    bootId: () => "simulated",
    connect: network.connect,
    isTlsServer: () =>
      new Promise((resolve) => {
        time.after("delivery", network.latencyMs(), () => resolve(false));
      }),
  };
}

/** The machine as a process sees it that starts now: the monotonic clock of a process begins with it. */
export function withOwnClock(machine: Machine): Machine {
  const { monotonic } = machine.time;
  if (monotonic === undefined) return machine;
  const beganMs = monotonic();
  return { ...machine, time: { ...machine.time, monotonic: () => monotonic() - beganMs } };
}

/** The kinds of losses of a primary, on real processes. */
import { execFileSync } from "node:child_process";
import type { PatroniNode } from "../../../test/real/lab/patroni.ts";
import { childrenOf } from "../../../test/real/lab/processes.ts";
import { signal } from "../../../test/real/lab/reaper.ts";

/** A loss that can be struck at once. */
export interface PreparedLoss {
  /** @returns when it struck, of the monotonic clock, in ms */
  readonly strike: () => number;
  /** Brings the node back, once all is over. */
  readonly heal: () => void;
}

export const lossKinds = [
  "postgres killed",
  "node killed",
  "backend killed",
  "immediate stop",
  "stopped processes",
  "dropped packets",
] as const;
export type LossKind = (typeof lossKinds)[number];

/** Finds the processes of the leader, so that the loss itself takes a moment. @throws Error if they are not there */
export function prepareLoss(kind: LossKind, leader: PatroniNode): PreparedLoss {
  const { postmaster } = leader;
  if (postmaster === undefined) throw new Error(`Cannot lose ${leader.name}: its PostgreSQL must run, got none`);
  const nothing = (): void => {};
  // Looked up before: the list of all processes takes as long as many transactions.
  const pids = [postmaster, ...childrenOf(postmaster).map((child) => child.pid)];
  const killAll = (): void => {
    for (const pid of pids) signal(pid, "SIGKILL");
  };
  switch (kind) {
    case "postgres killed":
      return struck(killAll, nothing);
    case "node killed":
      return struck(
        () => {
          signal(leader.pid, "SIGKILL");
          killAll();
        },
        () => leader.start(),
      );
    case "backend killed": {
      const backend = childrenOf(postmaster).find(({ title }) => title.includes("127.0.0.1"));
      if (backend === undefined) throw new Error(`Cannot kill a backend of ${leader.name}: one must run, got none`);
      return struck(() => signal(backend.pid, "SIGKILL"), nothing);
    }
    // What `pg_ctl stop -m immediate` sends.
    case "immediate stop":
      return struck(() => signal(postmaster, "SIGQUIT"), nothing);
    case "stopped processes": {
      const all = [leader.pid, ...pids];
      const each = (name: NodeJS.Signals): void => {
        for (const pid of all) signal(pid, name);
      };
      return struck(
        () => each("SIGSTOP"),
        () => each("SIGCONT"),
      );
    }
    case "dropped packets": {
      const rules = [leader.databasePort, leader.apiPort].flatMap((port) => [
        ["INPUT", "-i", "lo", "-p", "tcp", "--dport", String(port), "-j", "DROP"],
        ["INPUT", "-i", "lo", "-p", "tcp", "--sport", String(port), "-j", "DROP"],
      ]);
      const change = (what: "-A" | "-D"): void => {
        for (const rule of rules) execFileSync("iptables", [what, ...rule]);
      };
      return struck(
        () => change("-A"),
        () => change("-D"),
      );
    }
  }
}

function struck(strike: () => unknown, heal: () => void): PreparedLoss {
  return {
    strike: () => {
      const atMs = performance.now();
      strike();
      return atMs;
    },
    heal,
  };
}

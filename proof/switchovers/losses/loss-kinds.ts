/** The kinds of losses of a primary, on real processes. */
import type { PatroniNode } from "../../../test/real/lab/patroni.ts";
import { childrenOf } from "../../../test/real/lab/processes.ts";
import { signal } from "../../../test/real/lab/reaper.ts";
import type { NodeNetwork } from "./node-network.ts";

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

/**
 * Finds the processes of the leader, so that the loss itself takes a moment.
 * @param network where packets of the nodes can be dropped; `null`: nowhere
 * @throws Error if they are not there
 */
export function prepareLoss(
  kind: LossKind,
  leader: PatroniNode,
  network: Pick<NodeNetwork, "cutNode"> | null = null,
): PreparedLoss {
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
      const backend = childrenOf(postmaster).find(({ title }) => / \d+\.\d+\.\d+\.\d+\(/.test(title));
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
      if (network === null) throw new Error("Cannot drop packets: the nodes must have namespaces, got none");
      let restore = nothing;
      return struck(
        () => {
          restore = network.cutNode(leader);
        },
        () => restore(),
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

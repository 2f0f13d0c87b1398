import type { Snapshot } from "../cluster/snapshot.ts";
import type { Config } from "../config/config.ts";
import { overview, type Overview } from "../health/overview.ts";
import type { Settings } from "../health/settings.ts";
import { Probers } from "../probe/probers.ts";
import { Store } from "../store.ts";
import { livenessEvery, tend } from "../tend.ts";
import type { Session } from "./session.ts";

/** What one round of probes has found. Ages go on from the instant each probe was sent. */
export interface Probed {
  readonly snapshot: Snapshot;
  readonly settings: (cluster: string) => Settings | undefined;
  readonly now: () => number;
  readonly overview: () => Overview;
}

/** Who is told of how it goes. */
export interface Telling {
  readonly progress: Pick<Session["progress"], "say" | "done">;
  readonly result: Pick<Session["result"], "diagnose">;
}

/**
 * Probes every node of every cluster once, as the running rolecall would, and stops. It takes one timeout at most. A lag in
 * time, an attachment and a leader's history need more than one look: what they need is not there.
 */
export async function probeOnce(config: Config, { progress, result }: Telling): Promise<Probed> {
  const store = new Store("once", tend(config, new Map()));
  const settings = (cluster: string): Settings | undefined => store.settings(cluster);
  const probers = new Probers({
    record: (outcome) => store.record(outcome, now()),
    part: (cluster) => store.current.parts[store.current.index.get(cluster) ?? -1],
    settings,
    now,
    wall: () => Date.now(),
    random: Math.random,
    onAsked: () => {},
    onTls: (cluster, problem) => {
      if (problem !== null) result.diagnose("RC111", { message: `TLS of cluster ${cluster}: ${problem}` });
    },
  });
  store.watch((before, after) => probers.follow(before, after));
  progress.say("probing the nodes once");
  try {
    await probers.start(config, livenessEvery);
  } finally {
    probers.stop();
    progress.done();
  }
  return { snapshot: store.current, settings, now, overview: () => overview(store.current, settings, now()) };
}

/** Our clock while one command runs, in ms. */
function now(): number {
  return performance.now();
}

/** Changes of the leader: what is done to the cluster, and how long its pools are watched. */
import { setTimeout as sleep } from "node:timers/promises";
import type { PatroniNode } from "../../test/real/lab/patroni.ts";
import { until } from "../../test/fake/until.ts";
import type { OutageLab } from "./outage-lab.ts";
import type { LeaderChange } from "./samples.ts";

/** How long a pool may take to write on the new leader before it counts as one that does not. */
const writesWithinSeconds = 20;
/** Recorded before the event, so that each pool's last write before it is known. */
const beforeMs = 500;
/** Recorded after the last pool wrote: an old primary that still takes writes shows in it. */
const afterMs = 3_000;

/**
 * Changes the leader once and records what every pool sees. Before it, waits until the cluster is whole and every pool
 * reads and writes.
 * @throws Error if no node is promoted within 90 s, or the cluster does not become whole
 */
export async function changeLeader(lab: OutageLab, number: number, kind: LeaderChange["kind"]): Promise<LeaderChange> {
  lab.renewBursts();
  await lab.settle();
  await sleep(Math.random() * 2_000); // no fixed phase between the event and any check
  const leader = await lab.cluster.leader();
  lab.recorder.begin(leader.name);
  await sleep(beforeMs);
  let refusal: Error | undefined;
  try {
    if (kind === "kill") await leader.kill();
    else switchOver(lab, leader, number).catch((error: unknown) => (refusal = error as Error));
    await until({ what: `promotion in event ${number}`, seconds: 90 }, () => {
      if (refusal !== undefined) throw refusal;
      return lab.recorder.promoted !== undefined;
    });
    await until({ what: "writes", seconds: writesWithinSeconds }, () => lab.recorder.haveWritten(lab.names)).catch(
      () => {}, // the figures name the pools that did not write
    );
    await sleep(afterMs);
    lab.assertRunning();
    return lab.recorder.end(number, kind);
  } finally {
    lab.recorder.abandon();
    if (kind === "kill") lab.restart(leader);
  }
}

/** Switches over to the replicas in turn. @throws Error if the leader refuses */
async function switchOver(lab: OutageLab, leader: PatroniNode, number: number): Promise<void> {
  const replicas = lab.cluster.nodes.filter((node) => node !== leader);
  const candidate = replicas[number % replicas.length];
  const body = { leader: leader.name, candidate: candidate?.name };
  const { status, body: text } = await leader.ask("/switchover", { method: "POST", body, deadlineMs: 60_000 });
  // 0: the answer was lost; 503: it took longer than the node waits. The promotion shows whether it was done.
  if (status >= 400 && status !== 503) throw new Error(`Cannot switch over: ${leader.name} answers ${status} ${text}`);
}

/** A cluster for incidents, whose primary soon drops a silent receiver, and rolecall, which explains its verdicts. */
import assert from "node:assert/strict";
import { after, before } from "node:test";
import type { Reply } from "../lab/ask.ts";
import type { Command } from "../lab/beside.ts";
import { Cluster } from "../lab/cluster.ts";
import type { PatroniNode } from "../lab/patroni.ts";
import { psql } from "../lab/psql.ts";
import { Rolecall } from "../lab/rolecall.ts";
import { until } from "../../fake/until.ts";
import { Stage } from "./stage.ts";

/** What the hooks start, for tests that run later. */
export interface IncidentLab {
  readonly cluster: Cluster;
  readonly rolecall: Rolecall;
  readonly stage: Stage;
}

/** Hooks that start it for the tests of a `describe`, and end it. @returns what the tests take it by */
export function incidentLab(command: Command, version: string): () => IncidentLab {
  let lab: IncidentLab | undefined;
  let stop = async (): Promise<void> => {};
  before(async () => {
    const cluster = await Cluster.start(command);
    stop = () => cluster.stop();
    // A primary drops a silent receiver after a minute by default.
    await cluster.configure({ postgresql: { parameters: { wal_sender_timeout: "2s" } } });
    await sendersTimeOut(cluster);
    const rolecall = await Rolecall.start(cluster, { guards: { attach_window: "2s" } });
    stop = async () => {
      await rolecall.stop();
      await cluster.stop();
    };
    const routes = ["/primary", "/leader", "/replica", "/replica?lag=1MB", "/health"];
    lab = {
      cluster,
      rolecall,
      stage: new Stage({ cluster, rolecall, title: `Patroni ${version}`, watched: routes, settled: routes }),
    };
  });
  after(() => stop());
  return () => {
    assert.ok(lab !== undefined, "the lab is up");
    return lab;
  };
}

/**
 * Waits until the leader's senders to both replicas have the new timeout, and live. A sender that takes it over drops a
 * receiver that was silent for longer, and that receiver takes 5 s to come back.
 */
async function sendersTimeOut(cluster: Cluster): Promise<void> {
  const { databasePort } = await cluster.leader();
  await until({ what: "both receivers under the new wal_sender_timeout", seconds: 40 }, async () => {
    const answers = await psql(
      databasePort,
      `select count(*) from pg_stat_replication where state = 'streaming'
       and current_setting('wal_sender_timeout') = '2s' and reply_time > pg_conf_load_time() + interval '3 s'`,
    );
    return answers === "2" ? true : undefined;
  });
}

interface Asked {
  readonly lab: IncidentLab;
  readonly node: PatroniNode;
  readonly check: string;
}

/** Waits (20 s) until we refuse the check for this reason. */
export async function refusedFor({ lab: { rolecall }, node, check }: Asked, reason: string): Promise<Reply> {
  return until(
    { what: `${reason} for ${check} of ${node.name}`, seconds: 20, evidence: () => rolecall.tail },
    async () => {
      const reply = await rolecall.ask(node.name, check);
      return reply.reason === reason ? reply : undefined;
    },
  );
}

/** Makes sure that the explanation names the reason, and the rule that decided. */
export async function assertTold(
  { lab: { rolecall }, node, check }: Asked,
  [reason, rule]: readonly [string, string],
): Promise<void> {
  const explanation = await rolecall.explain(node.name, check);
  assert.deepEqual(
    [explanation.fit, explanation.reason, explanation.decisive],
    [false, reason, rule],
    JSON.stringify(explanation.rules),
  );
}

/** The time since an instant of the monotonic clock, for people. */
export function since(ms: number): string {
  return `${((performance.now() - ms) / 1000).toFixed(1)} s`;
}

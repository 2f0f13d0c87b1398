/**
 * Switchovers of a real cluster under load: the replica that stays one is never refused, by a limit in bytes or in
 * time, without `keep`. Three for each version; ROLECALL_SWITCHOVERS sets another number, as in
 * `ROLECALL_SWITCHOVERS=10 node --test build/test/real/promotion.drill.test.js`.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { beside } from "./lab/beside.ts";
import { Cluster } from "./lab/cluster.ts";
import type { PatroniNode } from "./lab/patroni.ts";
import { psql } from "./lab/psql.ts";
import { Rolecall } from "./lab/rolecall.ts";
import { until } from "../fake/until.ts";
import { account, Refusals } from "./watch/refusals.ts";

const switchovers = Number(process.env["ROLECALL_SWITCHOVERS"] ?? 3);
const checks = ["/replica?lag=10MB", "/replica?lag_time=10s"];
/** How long a replica is watched before a switchover, and after the cluster is whole again, in ms. */
const aroundMs = { before: 2_000, after: 3_000 };

for (const version of ["3.0.2", "4.1"] as const)
  beside(
    version,
    "promotions",
    (command) => {
      let cluster: Cluster | undefined;
      let rolecall: Rolecall | undefined;
      before(async () => {
        cluster = await Cluster.start(command);
        rolecall = await Rolecall.start(cluster);
      });
      after(async () => {
        await rolecall?.stop();
        await cluster?.stop();
      });

      for (let round = 1; round <= switchovers; round += 1)
        test(`switchover ${round} refuses no replica that stays one`, async () => {
          assert.ok(cluster !== undefined && rolecall !== undefined);
          const [next, staying] = await cluster.replicas();
          assert.ok(next !== undefined && staying !== undefined);
          const load = new Load(cluster);
          const refusals = new Refusals({ rolecall, node: staying.name, checks });
          try {
            await sleep(aroundMs.before);
            await cluster.switchOver(next);
            await cluster.whole();
            await sleep(aroundMs.after);
          } finally {
            await Promise.all([refusals.stop(), load.stop()]);
          }
          console.log(
            `Patroni ${version}, switchover ${round} to ${next.name}: ${account(refusals)}; ${load.written} writes`,
          );
          assert.ok(refusals.requestCount > 300 && load.written > 10);
          assert.deepEqual(
            refusals.found.map(({ check, reason }) => `${check} ${reason}`),
            [],
          );
          await cluster.streaming();
        });

      test("replicas reach the min_lsn that the query of docs/checks.md returns, and none beyond it", async () => {
        assert.ok(cluster !== undefined && rolecall !== undefined);
        const running = rolecall;
        const query = /^```sql\n(.*)\n```$/m.exec(readFileSync("docs/checks.md", "utf8"))?.[1] ?? "";
        const leader = await cluster.leader();
        const floor = (await psql(leader.databasePort, query)) ?? "";
        assert.match(floor, new RegExp(`^${switchovers + 1}@[0-9A-F]+/[0-9A-F]+$`));
        const [replica] = await cluster.replicas();
        assert.ok(replica !== undefined);
        const answer = async (minimum: string): Promise<string> => {
          const { status, reason } = await running.ask(replica.name, `/replica?min_lsn=${minimum}`);
          return `${status} ${reason}`;
        };
        await until("a replica with that write", async () => (await answer(floor)).startsWith("200"));
        assert.match(await answer(floor.replace(/@.*/, "@FFFF/0")), /^503 min_lsn/);
        assert.match(await answer(floor.replace(/.*@/, `${switchovers + 9}@`)), /^503 min_lsn/);
      });
    },
    5 + switchovers,
  );

/** Writes on whichever node takes writes, one small transaction after the other. */
class Load {
  readonly #cluster: Cluster;
  readonly #running: Promise<void>;
  #isStopped = false;
  written = 0;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    const statement =
      "create table if not exists load (n int, filling text); insert into load select 1, repeat('x', 5000)";
    let [node] = this.#cluster.nodes as readonly PatroniNode[];
    while (!this.#isStopped && node !== undefined) {
      if ((await psql(node.databasePort, statement, 2_000)) === "") this.written += 1;
      else node = this.#cluster.nodes[(this.#cluster.nodes.indexOf(node) + 1) % this.#cluster.nodes.length];
      await sleep(20);
    }
  }
}

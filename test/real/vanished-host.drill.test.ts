/**
 * The machine of the primary stops behind two PgBouncers (`hold_on_loss`): every process of it stands still, and its kernel
 * takes packets. PgBouncer refuses nobody, and its pools are full of servers that never answer: with the new primary they grow
 * by these, and the clients of these are cut.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { database, Lab } from "../../proof/switchovers/lab.ts";
import type { Load } from "../../proof/switchovers/load.ts";
import { until } from "../fake/until.ts";
import { beside } from "./lab/beside.ts";
import { freezeMachine } from "./lab/freeze.ts";
import { type Pgbouncer, pgbouncer124 } from "./lab/pgbouncer.ts";

const clients = 12;
const poolSize = 4;

const { title: version, found } = pgbouncer124();
if ("notRun" in found) test(`a machine that stops behind ${version}`, { skip: `not run: ${found.notRun}` }, () => {});
else beside("3.0.2", `a machine that stops behind ${version}`, (command) => scenario(command, found.path), 8);

function scenario(patroni: readonly [string, ...string[]], pgbouncer: string): void {
  let lab: Lab;
  let load: Load;
  let thaw = (): void => {};
  before(async () => {
    lab = await Lab.start({
      patroni,
      pgbouncer,
      route: "file",
      pooler: { hold_on_loss: "45s" },
      settings: { default_pool_size: poolSize },
    });
    load = lab.load(clients, 0);
  });
  after(async () => {
    thaw();
    await load?.stop();
    await lab?.stop();
  });

  test("clients that wait go on at the new primary; those that hang are cut there, and nobody else", async () => {
    const leader = await lab.settled();
    const { postmaster, pid } = leader;
    assert.ok(postmaster !== undefined);
    load.mark();
    await until("transactions before the loss", () => load.window.acknowledged.length > 1_000);
    const lostAtMs = performance.now();
    thaw = freezeMachine(postmaster, pid);
    await until({ what: "transactions of all clients", seconds: 90, evidence: () => lab.rolecall.tail }, () => {
      const later = load.window.acknowledged.filter(({ startedMs }) => startedMs > lostAtMs + 500);
      return new Set(later.map(({ client }) => client)).size === clients ? true : undefined;
    });
    const { failures, acknowledged } = load.window;
    const ends = acknowledged.map(({ endedMs }) => endedMs - lostAtMs).filter((ms) => ms > 3_000);
    const first = Math.min(...ends);
    console.log(`${failures.length} failed, first transaction ${Math.round(first)} ms after the loss`);
    console.log(failures.map(({ error, waitMs }) => `${Math.round(waitMs)} ms ${error}`).join("\n"));
    console.log(
      lab.rolecall.log
        .split("\n")
        .filter((line) => /"step"|hold_|pool|clients that/.test(line))
        .slice(-20)
        .join("\n"),
    );
    // Each hung server had one client.
    assert.ok(failures.length <= 2 * poolSize, lab.rolecall.log);
    for (const pooler of lab.poolers) {
      await until("the old pool size", () => !readFileSync(pooler.includedFile, "utf8").includes("pool_size"));
      await until("the old login retry", async () => (await settingOf(pooler, "server_login_retry")) === "15");
      const servers = await pooler.ask("SHOW SERVERS");
      assert.deepEqual(
        servers.filter((server) => server["database"] === database && server["port"] === leader.databasePort),
        [],
      );
    }
  });
}

async function settingOf(pooler: Pgbouncer, key: string): Promise<unknown> {
  return (await pooler.ask("SHOW CONFIG")).find((row) => row["key"] === key)?.["value"];
}

/**
 * rolecall dies while it holds clients after a loss: the next process says since when they wait, and lets them go on at the new
 * primary; without a next one, its guardian does.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { database, Lab } from "../../proof/switchovers/lab.ts";
import { Load } from "../../proof/switchovers/load.ts";
import { until } from "../fake/until.ts";
import { ask } from "./lab/ask.ts";
import { beside } from "./lab/beside.ts";
import type { PatroniNode } from "./lab/patroni.ts";
import { type Pgbouncer, pgbouncer124 } from "./lab/pgbouncer.ts";

const clients = 12;

const { title: version, found } = pgbouncer124();
if ("notRun" in found) test(`death during a hold, ${version}`, { skip: `not run: ${found.notRun}` }, () => {});
else beside("3.0.2", `death during a hold, ${version}`, (command) => scenarios(command, found.path), 8);

function scenarios(patroni: readonly [string, ...string[]], pgbouncer: string): void {
  let lab: Lab;
  let load: Load;
  let lost: PatroniNode | undefined;
  before(async () => {
    lab = await Lab.start({ patroni, pgbouncer, route: "file", pooler: { hold_on_loss: "45s" } });
    load = lab.load(clients);
  });
  after(async () => {
    await load?.stop();
    await lab?.stop();
  });

  /**
   * Kills the node of the leader, and rolecall once it holds.
   * @param poolers how many poolers it has to hold, as the headline says it
   * @returns when the node was killed
   */
  const loseBoth = async (poolers = "2 poolers"): Promise<number> => {
    lost?.start();
    lost = await lab.settled(90);
    load.mark();
    await until("transactions before the loss", () => load.window.acknowledged.length > 1_500);
    const lostAtMs = performance.now();
    await lost.kill();
    await until({ what: `held clients of ${poolers}`, seconds: 10, evidence: () => lab.rolecall.tail }, async () =>
      new RegExp(`wait since [^"]*\\(${poolers},`).test((await situation()) ?? "") ? true : undefined,
    );
    await lab.rolecall.kill();
    return lostAtMs;
  };

  const goOn = async (what: string, lostAtMs: number): Promise<void> => {
    await until({ what: "transactions of all clients", seconds: 60, evidence: () => lab.rolecall.tail }, () => {
      const later = load.window.acknowledged.filter(({ startedMs }) => startedMs > lostAtMs + 500);
      return new Set(later.map(({ client }) => client)).size === clients ? true : undefined;
    });
    const { failures, acknowledged } = load.window;
    const longest = Math.max(...acknowledged.map(({ startedMs, endedMs }) => endedMs - startedMs));
    console.log(`${what}: ${failures.length} failed of ${acknowledged.length}, longest wait ${Math.round(longest)} ms`);
    assert.ok(failures.length <= 2 * clients, failures.map(({ error }) => error).join("\n"));
    for (const pooler of lab.poolers) {
      const settingOf = async (): Promise<unknown> =>
        (await pooler.ask("SHOW CONFIG")).find(({ key }) => key === "server_login_retry")?.["value"];
      await until({ what: "the old login retry", seconds: 20 }, async () => (await settingOf()) === "15");
      assert.ok((await pooler.ask("SHOW DATABASES")).every(({ paused }) => paused === 0));
    }
  };

  const situation = async (): Promise<string | undefined> => {
    const { body } = await ask({ port: lab.rolecall.adminPort, path: "/status" });
    return body;
  };

  test("a restart goes on, and says since when clients wait", async () => {
    const lostAtMs = await loseBoth();
    await lab.startRolecall();
    let body = "";
    const said = await until({ what: "the headline", seconds: 15, evidence: () => body }, async () => {
      body = (await situation()) ?? "";
      const match = /clients of demo wait since ([\d.]+) s \((\d+) poolers, (\d+) clients; at most 45\.0 s\)/.exec(
        body,
      );
      return match !== null && match[3] !== "0" ? match : undefined;
    });
    const sinceS = (performance.now() - lostAtMs) / 1_000;
    console.log(`${said[0]}, ${sinceS.toFixed(1)} s after the loss`);
    assert.ok(Math.abs(Number(said[1]) - sinceS) < 2, said[0]);
    assert.equal(said[2], "2");
    await goOn("killed and started again", lostAtMs);
    assert.match(lab.rolecall.log, /finishing the switchover of an earlier process/);
  });

  test("without a restart the guardian lets clients go on at the new primary", async () => {
    const lostAtMs = await loseBoth();
    await goOn("killed", lostAtMs);
    await lab.startRolecall();
  });

  for (const isStarted of [false, true])
    test(`a pooler whose clients come after the death is held by the guardian${isStarted ? ", or the next process" : ""}`, async () => {
      await load.stop();
      const [first, second] = lab.poolers;
      assert.ok(first !== undefined && second !== undefined);
      const loadOf = (pooler: Pgbouncer): Load =>
        new Load({ ports: [pooler.port], database, clients: clients / 2, pauseMs: 5 });
      load = loadOf(first);
      const lostAtMs = await loseBoth("1 pooler");
      if (isStarted) await lab.startRolecall();
      const late = loadOf(second);
      try {
        await until({ what: "transactions of all late clients", seconds: 60, evidence: () => lab.rolecall.tail }, () =>
          new Set(late.window.acknowledged.map(({ client }) => client)).size === clients / 2 ? true : undefined,
        );
        const waitedMs = performance.now() - lostAtMs;
        const { failures } = late.window;
        console.log(
          `late clients: ${failures.length} failed, and they went on ${Math.round(waitedMs)} ms after the loss`,
        );
        assert.ok(waitedMs > 5_000, "a new primary comes later");
        // They are refused until PAUSE, each some times, and would be for all of the failover.
        assert.ok(failures.length <= 5 * clients, `${failures.length}`);
      } finally {
        await late.stop();
      }
      if (!isStarted) await lab.startRolecall();
    });
}

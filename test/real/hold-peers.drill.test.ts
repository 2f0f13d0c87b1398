/**
 * Two rolecalls with the same two PgBouncers (`hold_on_loss`): at a loss exactly one holds, at once if the other is lost with the
 * primary, and the other takes over if the one that holds is lost with it.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Lab } from "../../proof/switchovers/lab.ts";
import type { Load } from "../../proof/switchovers/load.ts";
import { until } from "../fake/until.ts";
import { beside } from "./lab/beside.ts";
import { pgbouncer124 } from "./lab/pgbouncer.ts";
import { childrenOf } from "./lab/processes.ts";
import { signal } from "./lab/reaper.ts";
import type { Rolecall } from "./lab/rolecall.ts";

const clients = 12;

const { title: version, found } = pgbouncer124();
if ("notRun" in found) test(`two rolecalls at a loss, ${version}`, { skip: `not run: ${found.notRun}` }, () => {});
else beside("3.0.2", `two rolecalls at a loss, ${version}`, (command) => scenarios(command, found.path), 8);

function scenarios(patroni: readonly [string, ...string[]], pgbouncer: string): void {
  let lab: Lab;
  let load: Load;
  before(async () => {
    const pooler = { hold_on_loss: "45s" };
    lab = await Lab.start({ patroni, pgbouncer, route: "file", hasPeer: true, pooler });
    load = lab.load(clients);
  });
  after(async () => {
    await load?.stop();
    await lab?.stop();
  });

  /** Kills PostgreSQL of the leader, and whatever else; waits until all clients write again. */
  const lose = async (what: string, also: () => void): Promise<number> => {
    const leader = await lab.settled();
    load.mark();
    await until("transactions before the loss", () => load.window.acknowledged.length > 1_500);
    const { postmaster } = leader;
    assert.ok(postmaster !== undefined);
    const lostAtMs = performance.now();
    const lostWallMs = Date.now();
    also();
    for (const pid of [postmaster, ...childrenOf(postmaster).map((child) => child.pid)]) signal(pid, "SIGKILL");
    await until(
      { what: "transactions of all clients", seconds: 90, evidence: () => `${lab.rolecall.tail}\n${lab.peer.tail}` },
      () => {
        const later = load.window.acknowledged.filter(({ startedMs }) => startedMs > lostAtMs + 500);
        return new Set(later.map(({ client }) => client)).size === clients ? true : undefined;
      },
    );
    const { failures, acknowledged } = load.window;
    const longest = Math.max(...acknowledged.map(({ startedMs, endedMs }) => endedMs - startedMs));
    const held = [lab.rolecall, lab.peer].map((one) => pausesSince(one, lostWallMs));
    console.log(
      `${what}: ${failures.length} failed of ${acknowledged.length}, longest wait ${Math.round(longest)} ms; ` +
        `held after ${held.map((times) => `[${times.join(", ")}]`).join(" and ")} ms`,
    );
    return held.findIndex((times) => times.length > 0);
  };

  test("one of them holds", async () => {
    await lose("PostgreSQL killed", () => {});
    const runs = [lab.rolecall, lab.peer].filter(({ log }) => log.includes('"step":"paused"'));
    assert.equal(runs.length, 1, runs.map(({ log }) => log).join("\n"));
    assert.equal(runs[0], lab.peer, "it was there first");
  });

  test("the one that holds is lost with the primary: the other takes over", async () => {
    const sinceMs = Date.now();
    const leader = await lab.settled();
    await leader.betweenRounds();
    await lose("the holder and PostgreSQL killed", () => void lab.peer.kill());
    await until({ what: "another holder", seconds: 20 }, () => said(lab.rolecall, sinceMs).includes("this process"));
    await lab.startPeer();
  });

  test("the one that watches is lost with the primary: the other holds at once", async () => {
    const holder = lab.rolecall;
    await until({ what: "the peer's word", seconds: 20 }, () => said(lab.peer, 0).length > 0);
    const at = await lose("the peer and PostgreSQL killed", () => void lab.peer.kill());
    assert.equal(at, 0, holder.log);
    const [first] = pausesSince(holder, Date.now() - 60_000);
    assert.ok(first !== undefined);
  });
}

/** When clients of a pooler were held since an instant, in ms after it. */
function pausesSince({ log }: Rolecall, sinceWallMs: number): readonly number[] {
  return lines(log)
    .filter((line) => line["step"] === "paused")
    .map((line) => Date.parse(String(line["time"])) - sinceWallMs)
    .filter((ms) => ms >= 0);
}

/** Who holds, as a process has said since an instant. */
function said({ log }: Rolecall, sinceWallMs: number): readonly unknown[] {
  return lines(log)
    .filter((line) => "holder" in line && Date.parse(String(line["time"])) >= sinceWallMs)
    .map((line) => line["holder"]);
}

function lines(log: string): readonly Readonly<Record<string, unknown>>[] {
  return log
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
}

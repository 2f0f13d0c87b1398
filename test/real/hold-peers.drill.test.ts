/**
 * Two rolecalls with the same two PgBouncers (`hold_on_loss`), which agree among peers or by the etcd of their fleet: at a loss
 * exactly one holds, at once if the other is lost with the primary, and the other takes over if the one that holds is lost with
 * it. While the etcd of the fleet is down, each may hold, and neither ends what the other one holds.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Lab } from "../../proof/switchovers/lab.ts";
import type { Load } from "../../proof/switchovers/load.ts";
import { until } from "../fake/until.ts";
import { beside, type Command } from "./lab/beside.ts";
import { EtcdMembers } from "./lab/etcd-members.ts";
import { pgbouncer124 } from "./lab/pgbouncer.ts";
import { childrenOf } from "./lab/processes.ts";
import { signal } from "./lab/reaper.ts";
import type { Rolecall } from "./lab/rolecall.ts";

const clients = 12;

const { title: version, found } = pgbouncer124();
if ("notRun" in found) test(`two rolecalls at a loss, ${version}`, { skip: `not run: ${found.notRun}` }, () => {});
else
  for (const by of ["peers", "fleet"] as const)
    beside("3.0.2", `two rolecalls (${by}) at a loss, ${version}`, (patroni) => scenarios(by, patroni, found.path), 8);

function scenarios(by: "peers" | "fleet", patroni: Command, pgbouncer: string): void {
  let etcd: EtcdMembers | undefined;
  let lab: Lab;
  let load: Load;
  before(async () => {
    const pooler = { hold_on_loss: "45s" };
    if (by === "fleet") etcd = await EtcdMembers.start({ count: 1 });
    const options = etcd === undefined ? {} : { fleet: etcd.urls };
    lab = await Lab.start({ patroni, pgbouncer, route: "file", hasPeer: true, pooler, ...options });
    load = lab.load(clients);
  });
  after(async () => {
    await load?.stop();
    await lab?.stop();
    await etcd?.stop();
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
    await lab.startPeer();
  });

  if (by === "fleet")
    test("the etcd of the fleet is down: clients are held, and neither ends what the other one holds", async () => {
      const sinceMs = Date.now();
      await etcd?.kill(0);
      await until({ what: "a member that hears of no holder", seconds: 20 }, () =>
        said(lab.peer, sinceMs).includes("this process"),
      );
      await lose("PostgreSQL killed", () => {});
      const steps = [lab.rolecall, lab.peer]
        .flatMap(({ log }) => lines(log))
        .filter(({ time, step }) => step !== undefined && Date.parse(String(time)) >= sinceMs);
      assert.ok(!JSON.stringify(steps).includes("resumed by somebody else"), JSON.stringify(steps));
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

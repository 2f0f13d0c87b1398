/**
 * Seamless switchovers of a real cluster while 20 clients write through two PgBouncers, with each kind of route; and one
 * without PAUSE, to show that the clients would notice. `npm run switchovers` makes many, and measures them.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { faultsOf, playRound } from "../../proof/switchovers/round.ts";
import { PauseObserver } from "../../proof/switchovers/faults/pause-observer.ts";
import { StepLog } from "../../proof/switchovers/faults/step-log.ts";
import { database, Lab, type Route, routes } from "../../proof/switchovers/lab.ts";
import type { Load } from "../../proof/switchovers/load.ts";
import { postSwitchover } from "../../proof/switchovers/run-document.ts";
import { staleWrites } from "../../proof/switchovers/waits.ts";
import { until } from "../fake/until.ts";
import { beside } from "./lab/beside.ts";
import { Cluster } from "./lab/cluster.ts";
import { pgbouncer124 } from "./lab/pgbouncer.ts";
import { childrenOf } from "./lab/processes.ts";
import { signal } from "./lab/reaper.ts";

const { title, found } = pgbouncer124();
/** Everything is resumed by then, in ms: the default of `--deadline`. */
const deadlineMs = 15_000;

if ("notRun" in found) test("a seamless switchover", { skip: `not run: ${title}: ${found.notRun}` }, () => {});
else
  beside("3.0.2", "a seamless switchover", (command) => {
    let cluster: Cluster | undefined;
    before(async () => {
      cluster = await Cluster.start(command);
    });
    after(() => cluster?.stop());
    const started = (): Cluster => {
      assert.ok(cluster !== undefined, "the cluster is up");
      return cluster;
    };
    for (const route of routes) describe(`route: ${route}`, () => scenario(started, found.path, route));
  });

function scenario(cluster: () => Cluster, pgbouncer: string, route: Route): void {
  let lab: Lab;
  let load: Load;

  before(async () => {
    lab = await Lab.start({ patroni: cluster(), pgbouncer, route });
    load = lab.load();
  });
  after(async () => {
    await load?.stop();
    await lab?.stop();
  });

  test("no transaction fails, and every acknowledged row is on the new primary once", async () => {
    const [candidate] = await lab.cluster.replicas();
    assert.ok(candidate !== undefined);
    const round = await playRound(lab, load, candidate, { transactions: 2_000 });
    const { worstWaitMs, demotionMs, shares } = round;
    console.log(
      `${route}: ${round.transactions} transactions, longest wait ${Math.round(worstWaitMs)} ms, ` +
        `demotion ${Math.round(demotionMs ?? Number.NaN)} ms, steps ${JSON.stringify(shares)}`,
    );
    // How long it takes depends on the machine. That nobody is held for longer than was asked for does not.
    const faults = faultsOf({ ...round, worstWaitMs: 0 }, route);
    assert.deepEqual(faults, [], lab.rolecall.log);
    assert.ok(worstWaitMs < deadlineMs, `a client waited ${worstWaitMs} ms`);
    await load.stop();
    const audit = await load.audit(candidate.databasePort);
    assert.deepEqual(
      { lost: audit.lost, doubled: audit.doubled, foreign: audit.foreign },
      { lost: [], doubled: [], foreign: [] },
    );
    assert.ok(audit.acknowledged >= round.transactions, `${audit.acknowledged} of ${round.transactions}`);
  });

  if (route !== "file") return;
  test("without PAUSE the same clients have errors", async () => {
    // By chance no transaction is running when a primary stops: then its clients only wait.
    for (let rounds = 0; rounds < 3; rounds += 1) {
      const leader = await lab.settled();
      const [candidate] = await lab.cluster.replicas();
      assert.ok(candidate !== undefined);
      load = lab.load();
      await until("transactions", () => load.window.acknowledged.length >= 500);
      await lab.cluster.switchOver(candidate);
      const onCandidate = ({ server }: { readonly server: number }): boolean => server === candidate.databasePort;
      await until("transactions on the candidate", () => load.window.acknowledged.some(onCandidate));
      const { acknowledged } = load.window;
      assert.deepEqual(staleWrites(acknowledged, candidate.databasePort), []);
      assert.ok(acknowledged.some(({ server }) => server === leader.databasePort));
      if (load.failed > 0) return;
      await load.stop();
    }
    assert.fail("three switchovers without PAUSE, and no client had an error");
  });
  test("killed with its guardian while clients are held: the next start resumes them", async (context) => {
    await lab.settled();
    const [candidate] = await lab.cluster.replicas();
    assert.ok(candidate !== undefined);
    const observers = lab.poolers.map((pooler) => new PauseObserver(pooler, database));
    context.after(() => Promise.all(observers.map((observer) => observer.stop())));
    const log = new StepLog(join(lab.cluster.folder, "rolecall.log"));
    context.after(() => log.close());
    const { status, body } = await postSwitchover(lab.api, { candidate: candidate.name, unguarded: true });
    assert.equal(status, 202, body);
    await until("the request", () => log.steps.includes("requested"));
    const guardian = childrenOf(lab.rolecall.pid).find((child) => child.title.includes("guardian"));
    assert.ok(guardian !== undefined);
    for (const pid of [guardian.pid, lab.rolecall.pid]) signal(pid, "SIGKILL");
    await lab.rolecall.kill();
    assert.deepEqual(
      observers.map(({ paused }) => paused),
      [true, true],
    );
    await lab.startRolecall();
    await until("RESUME", () => observers.every(({ paused }) => paused === false));
  });
}

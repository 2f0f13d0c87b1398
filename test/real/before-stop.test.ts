/**
 * Switchovers and restarts that rolecall does not begin: Patroni's `before_stop` runs the script that `rolecall render
 * patroni --pause` prints, and 20 clients write through two PgBouncers meanwhile.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Lab } from "../../proof/switchovers/lab.ts";
import type { Load } from "../../proof/switchovers/load.ts";
import { playRound } from "../../proof/switchovers/round.ts";
import { currentRun, type RunDocument } from "../../proof/switchovers/run-document.ts";
import { until } from "../fake/until.ts";
import { beside } from "./lab/beside.ts";
import { Cluster } from "./lab/cluster.ts";
import { installHintScript } from "./lab/hint-script.ts";
import { noLocks, type PatroniNode } from "./lab/patroni.ts";
import { pgbouncer124 } from "./lab/pgbouncer.ts";
import { ports } from "./lab/ports.ts";

const { title, found } = pgbouncer124();

if ("notRun" in found) test("before_stop", { skip: `not run: ${title}: ${found.notRun}` }, () => {});
else
  beside("4.1", "before_stop", (command) => {
    let folder = "";
    let cluster: Cluster | undefined;
    let lab: Lab;
    let load: Load;
    before(async () => {
      folder = mkdtempSync(join(tmpdir(), "rolecall-before-stop-"));
      const settings = installHintScript(folder, [`http://127.0.0.1:${ports.rolecallAdmin}`], {
        token: "hint",
        pauseToken: "pause",
      });
      cluster = await Cluster.start(command, false, { ...noLocks, postgresql: settings });
      const admin = {
        hint_tokens: [join(folder, "hint")],
        before_stop_tokens: [{ cluster: "demo", file: join(folder, "pause") }],
      };
      lab = await Lab.start({ patroni: cluster, pgbouncer: found.path, route: "file", admin });
      load = lab.load();
    });
    after(async () => {
      await load?.stop();
      await lab?.stop();
      await cluster?.stop();
      if (folder !== "") rmSync(folder, { recursive: true });
    });

    /** The end of a run that began after the earlier one. */
    const nextRun = (earlier: string | undefined): Promise<RunDocument> =>
      until({ what: "the end of a run", seconds: 40, evidence: () => lab.rolecall.tail }, async () => {
        const run = await currentRun(lab.api);
        return run !== null && run.run !== earlier && run.state === "ended" ? run : undefined;
      });
    const restart = async (leader: PatroniNode): Promise<void> => {
      const { status, body } = await leader.ask("/restart", { method: "POST", body: {}, deadlineMs: 30_000 });
      assert.equal(status, 200, body);
    };
    const told = ({ steps }: RunDocument): string => steps.map(({ step, after_ms: ms }) => `${step} ${ms}`).join(", ");

    test("a switchover that rolecall did not begin fails no transaction", async () => {
      const [candidate] = await lab.cluster.replicas();
      assert.ok(candidate !== undefined);
      const switchOver = async (): Promise<RunDocument> => {
        await lab.cluster.switchOver(candidate);
        return nextRun(undefined);
      };
      const round = await playRound(lab, load, candidate, { transactions: 1_000, switchOver });
      console.log(`switchover: longest wait ${Math.round(round.worstWaitMs)} ms`);
      assert.deepEqual(round.outcome, { kind: "switched", node: candidate.name }, lab.rolecall.log);
      assert.deepEqual([round.failures, round.stale], [[], 0], lab.rolecall.log);
    });

    test("a restart of the leader fails no transaction", async () => {
      const leader = await lab.settled();
      const earlier = await currentRun(lab.api);
      load.mark();
      await until("transactions", () => load.window.acknowledged.length >= 500);
      await restart(leader);
      const run = await nextRun(earlier?.run);
      console.log(`restart: ${told(run)}`);
      assert.deepEqual(run.outcome, { kind: "stayed", reason: `${leader.name} leads again` }, lab.rolecall.log);
      const restarted = load.window.acknowledged.length;
      await until("transactions afterwards", () => load.window.acknowledged.length >= restarted + 500);
      assert.deepEqual(load.mark().failures, [], lab.rolecall.log);
    });

    test("the script of a switchover that rolecall makes itself finds the clients held", async () => {
      const [candidate] = await lab.cluster.replicas();
      assert.ok(candidate !== undefined);
      const round = await playRound(lab, load, candidate, { transactions: 500 });
      assert.deepEqual(round.outcome, { kind: "switched", node: candidate.name }, lab.rolecall.log);
      assert.deepEqual([round.failures, round.stale], [[], 0], lab.rolecall.log);
      assert.match(await lab.rolecall.metrics(), /rolecall_hints_total\{cluster="demo",effect="held"\} 3/);
    });

    test("without a node that can take over, a restart of the leader holds nobody", async () => {
      const leader = await lab.cluster.leader();
      const earlier = await currentRun(lab.api);
      await load.stop();
      const replicas = await lab.cluster.replicas();
      await Promise.all(replicas.map((node) => node.stop()));
      // One that says that it stops is refused for another reason than one that is gone.
      await until("the loss of the replicas", async () => {
        const explained = await Promise.all(replicas.map(({ name }) => lab.rolecall.explain(name, "/replica")));
        return explained.every(({ reason }) => reason === "down");
      });
      await restart(leader);
      const run = await nextRun(earlier?.run);
      assert.equal(run.outcome?.kind, "refused", JSON.stringify(run));
      assert.match(run.text ?? "", /^Refused: candidate: .*no good candidates have been found/);
      assert.ok(run.targets.every(({ held_ms: heldMs }) => heldMs === null));
    });
  });

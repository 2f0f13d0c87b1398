/**
 * Patroni announces changes of the leader by the script and the settings that `rolecall render patroni` prints. One of
 * its listeners refuses connections and another one never answers: neither may hold up Patroni.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type AddressInfo, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../fake/until.ts";
import { beside } from "./lab/beside.ts";
import { Cluster } from "./lab/cluster.ts";
import { installHintScript } from "./lab/hint-script.ts";
import { noLocks, type PatroniNode } from "./lab/patroni.ts";
import { ports } from "./lab/ports.ts";
import { psql } from "./lab/psql.ts";
import { Rolecall } from "./lab/rolecall.ts";

for (const version of ["3.0.2", "4.1"] as const)
  beside(version, "hints", (command) => {
    let folder = "";
    let hanging: Server | undefined;
    let cluster: Cluster | undefined;
    let rolecall: Rolecall | undefined;
    before(async () => {
      folder = mkdtempSync(join(tmpdir(), "rolecall-hints-"));
      hanging = await hangingServer();
      const { port } = hanging.address() as AddressInfo;
      const urls = ["http://127.0.0.1:1", `http://127.0.0.1:${port}`, `http://127.0.0.1:${ports.rolecallAdmin}`];
      const settings = installHintScript(folder, urls, { token: "token", pauseToken: null });
      cluster = await Cluster.start(command, false, { ...noLocks, postgresql: settings });
      rolecall = await Rolecall.start(cluster, { admin: { hint_tokens: [join(folder, "token")] } });
    });
    after(async () => {
      await rolecall?.stop();
      await cluster?.stop();
      hanging?.close();
      if (folder !== "") rmSync(folder, { recursive: true });
    });

    for (const round of [1, 2])
      test(`switchover ${round} sends hints, and they begin bursts`, async () => {
        assert.ok(cluster !== undefined && rolecall !== undefined);
        const [next] = await cluster.replicas();
        assert.ok(next !== undefined);
        const earlier = await counts(rolecall);
        const watch = watchPromotion(rolecall, next);
        const beganMs = performance.now();
        await cluster.switchOver(next);
        const tookMs = performance.now() - beganMs;
        const delayMs = await watch;
        const evidence = (): string => rolecall?.tail ?? "";
        const now = await until({ what: "hints of this switchover, and bursts", seconds: 10, evidence }, async () => {
          const found = rolecall === undefined ? earlier : await counts(rolecall);
          return found.hints > earlier.hints && found.bursts > earlier.bursts ? found : undefined;
        });
        console.log(
          `Patroni ${version}, switchover ${round} to ${next.name}: ${Math.round(tookMs)} ms; ` +
            `promotion to our yes ${Math.round(delayMs)} ms; ${now.hints - earlier.hints} hints, ` +
            `${now.bursts - earlier.bursts} bursts; all hints so far by effect: ${now.effects}`,
        );
        await cluster.whole();
      });

    test("Patroni switches over while rolecall is stopped, and never has to kill the script", async () => {
      assert.ok(cluster !== undefined && rolecall !== undefined);
      const thaw = rolecall.freeze();
      try {
        const [next] = await cluster.replicas();
        assert.ok(next !== undefined);
        await cluster.switchOver(next);
        assert.equal(await cluster.leader(), next);
      } finally {
        thaw();
      }
      const logs = cluster.nodes.map(({ name }) => readFileSync(join(cluster?.folder ?? "", `${name}.log`), "utf8"));
      for (const log of logs) assert.doesNotMatch(log, /Killed .*rolecall-hint|callback .*rolecall-hint.* failed/);
      const ran = logs.join("\n").match(/before_stop script .*rolecall-hint.* exited with 0/g)?.length ?? 0;
      if (version === "3.0.2") assert.equal(ran, 0, "3.0.2 knows no before_stop: on_stop sends the hint");
      else assert.ok(ran >= 3, `${ran} times before_stop`);
    });
  });

/** A server that accepts connections and never answers. */
function hangingServer(): Promise<Server> {
  const server = createServer(() => {});
  server.unref();
  return new Promise((resolve) => void server.listen(0, "127.0.0.1", () => resolve(server)));
}

interface Counts {
  readonly hints: number;
  /** Bursts of any cause: the probes may see a change before the hint comes. */
  readonly bursts: number;
  readonly effects: string;
}

/** Counts the hints and the bursts so far. */
async function counts(rolecall: Rolecall): Promise<Counts> {
  const page = await rolecall.metrics();
  const of = (metric: string): readonly RegExpExecArray[] => [
    ...page.matchAll(new RegExp(`^${metric}\\{cluster="demo",\\w+="(\\w+)"\\} (\\d+)$`, "gm")),
  ];
  const sum = (rows: readonly RegExpExecArray[]): number => rows.reduce((all, [, , count]) => all + Number(count), 0);
  const hints = of("rolecall_hints_total");
  return {
    hints: sum(hints),
    bursts: sum(of("rolecall_bursts_total")),
    effects: hints.map(([, effect, count]) => `${effect} ${count}`).join(", "),
  };
}

/** Polls until the node is promoted and rolecall says so. @returns how much later rolecall did, in ms */
async function watchPromotion(rolecall: Rolecall, node: PatroniNode): Promise<number> {
  const poll = async (isSeen: () => Promise<boolean>): Promise<number> => {
    const deadlineMs = performance.now() + 40_000;
    while (!(await isSeen())) {
      if (performance.now() > deadlineMs) throw new Error(`Not seen within 40 s: promotion of ${node.name}`);
      await sleep(10);
    }
    return performance.now();
  };
  const [promotedMs, yesMs] = await Promise.all([
    poll(async () => (await psql(node.databasePort, "select pg_is_in_recovery()")) === "f"),
    poll(async () => (await rolecall.ask(node.name, "/primary")).status === 200),
  ]);
  return yesMs - promotedMs;
}

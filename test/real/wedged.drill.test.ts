/**
 * A primary whose disk hangs while its Patroni goes on answering 200: it is named as one that only looks alive, by each
 * real exporter that tells what sessions wait for. What looks similar and is harmless never is.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { freePort } from "../fake/free-port.ts";
import { until } from "../fake/until.ts";
import { ask } from "./lab/ask.ts";
import type { Command } from "./lab/beside.ts";
import { Child } from "./lab/child.ts";
import { Cluster } from "./lab/cluster.ts";
import { unpackedProgram } from "./lab/debian-packages.ts";
import { freeze } from "./lab/freeze.ts";
import { HungDisk, noHungDisk } from "./lab/hung-disk.ts";
import { type PatroniNode, postgresBin } from "./lab/patroni.ts";
import { findPgExporter, startPgExporter, startPostgresExporter, type ExporterCommand } from "./lab/plain.ts";
import { childrenOf } from "./lab/processes.ts";
import { psql } from "./lab/psql.ts";
import { Rolecall } from "./lab/rolecall.ts";
import { missingProgram, patroni3 } from "./lab/versions.ts";

/** How often each exporter's page is requested. */
const pageSeconds = 1;

interface Watcher {
  readonly title: string;
  readonly rolecall: Rolecall;
  /** Within how many seconds the hanging disk must be found. */
  readonly seconds: number;
}

const found = patroni3();
const missing =
  noHungDisk ??
  missingProgram() ??
  ("notRun" in found ? found.notRun : exporters().length === 0 ? "no exporter" : null);
if (missing !== null || "notRun" in found)
  test("a primary whose disk hangs", { skip: `not run: ${missing}` }, () => {});
else describe("a primary whose disk hangs", { timeout: 300_000 }, () => scenarios(found.command));

/** The exporters that can be had here, with the time in which each must show a hanging disk. */
function exporters(): readonly {
  readonly title: string;
  readonly command: ExporterCommand;
  readonly seconds: number;
}[] {
  const named = unpackedProgram({
    name: "postgres-exporter-forky",
    release: "forky",
    packages: ["prometheus-postgres-exporter", "libc6"],
    program: "usr/bin/prometheus-postgres-exporter",
  });
  const pgExporter = findPgExporter();
  return [
    ...("notRun" in named
      ? []
      : [{ title: "postgres_exporter", command: startPostgresExporter(named.path), seconds: 3 * pageSeconds + 1 }]),
    // Its count of waits is up to 10 s old, and less than two pages of WAL must wait for 30 s.
    ...(pgExporter === undefined
      ? []
      : [{ title: "pg_exporter", command: startPgExporter(pgExporter), seconds: 10 + 30 + 3 * pageSeconds }]),
  ];
}

function scenarios(patroni: Command): void {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-hung-"));
  const children: Child[] = [];
  const watchers: Watcher[] = [];
  let cluster: Cluster;
  let leader: PatroniNode;
  let disk: HungDisk;

  before(async () => {
    chmodSync(folder, 0o755);
    disk = new HungDisk(folder);
    cluster = await Cluster.start(disk.below(patroni));
    leader = await cluster.leader();
    // The lab's databases are quick, not durable.
    await cluster.configure({ postgresql: { parameters: { fsync: "on", synchronous_commit: "on" } } });
    await until("durable commits", async () =>
      (await psql(leader.databasePort, "show synchronous_commit")) === "on" ? true : undefined,
    );
    await psql(leader.databasePort, "create table written (at timestamptz); insert into written values (now())");
    for (const [at, { title, command, seconds }] of exporters().entries()) {
      const port = await freePort();
      children.push(new Child({ name: title, command: command(leader.databasePort, port), folder }));
      const nodes = cluster.nodes.map(({ name, url }) => ({
        name,
        api: url,
        ...(name === leader.name ? { exporter: `http://127.0.0.1:${port}` } : {}),
      }));
      const number = at === 0 ? 1 : 2;
      const top = { probe: { metrics_interval: `${pageSeconds}s` } };
      watchers.push({ title, seconds, rolecall: await Rolecall.start(cluster, { number, cluster: { nodes }, top }) });
    }
  });
  after(async () => {
    disk?.release();
    for (const { rolecall } of watchers) await rolecall.stop();
    for (const child of children) await child.stop();
    await cluster?.stop();
    rmSync(folder, { recursive: true });
  });

  test("an idle, a busy and a maintained primary is not wedged", async () => {
    const { databasePort: port } = leader;
    await sleep(4_000 * pageSeconds); // idle
    await whileWriting(async () => {
      await psql(port, "checkpoint", 20_000);
      await psql(port, "vacuum full written", 20_000);
      await backUp(port);
    });
    await psql(
      port,
      "create unlogged table loaded as select repeat('x', 1000) from generate_series(1, 200000)",
      30_000,
    );
    const [replica] = await cluster.replicas();
    assert.ok(replica);
    await psql(replica.databasePort, "select pg_wal_replay_pause()");
    await whileWriting(() => sleep(4_000 * pageSeconds));
    await psql(replica.databasePort, "select pg_wal_replay_resume()");
    await withStoppedWriters(() => whileWriting(() => sleep(5_000 * pageSeconds)));
    await withStoppedWriters(() => sleep(5_000 * pageSeconds));
    for (const { title, rolecall } of watchers) assert.doesNotMatch(rolecall.log, /looks alive/, title);
  });

  test("a commit hangs, Patroni answers 200, and the primary is named until the disk goes on", async (context) => {
    disk.hang(leader.dataFolder);
    const hungAtMs = performance.now();
    let isCommitted = false;
    const commit = (async () => {
      await psql(leader.databasePort, "insert into written values (now())", 100_000);
      isCommitted = true;
    })();
    try {
      for (const { title, rolecall, seconds } of watchers) {
        await until({ what: `${title} names ${leader.name}`, seconds, evidence: () => rolecall.tail }, async () =>
          (await warningOf(rolecall)).includes("looks alive") ? true : undefined,
        );
        // The page shows what time alone leads to; the event comes with the next change.
        await until({ what: `the event of ${title}`, seconds: 5, evidence: () => rolecall.tail }, () =>
          /"event":"wedged"/.test(rolecall.log),
        );
        context.diagnostic(
          `${title}: ${Math.round((performance.now() - hungAtMs) / 100) / 10} s, ${await warningOf(rolecall)}`,
        );
        assert.equal(isCommitted, false, "the commit must hang");
        assert.equal((await leader.ask("/patroni")).status, 200);
        assert.equal((await rolecall.ask(leader.name, "/primary")).status, 200, "the verdict stays");
      }
    } finally {
      disk.release();
    }
    await commit;
    for (const { title, rolecall } of watchers)
      await until(
        { what: `${title} sees ${leader.name} work`, seconds: 20, evidence: () => rolecall.tail },
        async () => ((await warningOf(rolecall)) === "" ? true : undefined),
      );
    for (const { title, rolecall } of watchers)
      await until({ what: `the end of the event of ${title}`, seconds: 5 }, () =>
        /"event":"wedged_ended"/.test(rolecall.log),
      );
  });

  /** The warning of the primary in `GET /status`; empty without one. */
  async function warningOf({ adminPort }: Rolecall): Promise<string> {
    const { body } = await ask({ port: adminPort, path: "/status" });
    const { clusters } = JSON.parse(body) as {
      readonly clusters: readonly {
        readonly nodes: readonly { readonly node: string; readonly warning: string | null }[];
      }[];
    };
    return clusters[0]?.nodes.find(({ node }) => node === leader.name)?.warning ?? "";
  }

  /** Small commits, one after the other, while something runs. */
  async function whileWriting(run: () => Promise<unknown>): Promise<void> {
    const ended = new AbortController();
    const writes = (async () => {
      while (!ended.signal.aborted) await psql(leader.databasePort, "insert into written values (now())");
    })();
    await run().finally(() => ended.abort());
    await writes;
  }

  async function withStoppedWriters(run: () => Promise<unknown>): Promise<void> {
    const { postmaster } = leader;
    assert.ok(postmaster);
    const writers = childrenOf(postmaster).filter(({ title }) => /walwriter|checkpointer/.test(title));
    assert.equal(writers.length, 2);
    const thaws = writers.map(({ pid }) => freeze(pid));
    await run().finally(() => thaws.forEach((thaw) => thaw()));
  }

  async function backUp(port: number): Promise<void> {
    const target = join(folder, "backup");
    const args = ["-h", "127.0.0.1", "-p", String(port), "-U", "replicator", "-D", target, "--checkpoint=fast"];
    await promisify(execFile)(`${postgresBin}/pg_basebackup`, args, { timeout: 60_000 });
    assert.ok(existsSync(target));
  }
}

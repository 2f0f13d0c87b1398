/**
 * Canaries through a HAProxy as it is rendered and a real PgBouncer to a real PostgreSQL: what clients meet in each fault,
 * is what `/status`, `rolecall status` and `rolecall explain` say within 15 s. No such cluster is ok, and each fault ends.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Client } from "pg";
import { beside, type Command } from "./lab/beside.ts";
import { CanaryLab, isPassed, type Printed, type Road, type Said } from "./lab/canary-lab.ts";
import { giveToPostgres } from "./lab/child.ts";
import { freezeMachine } from "./lab/freeze.ts";
import type { PatroniNode } from "./lab/patroni.ts";
import { pgbouncer118 } from "./lab/pgbouncer.ts";
import { until } from "../fake/until.ts";

/** Within how many seconds a fault has to be said. */
const saidWithinS = 15;

/** A fault of clients, and what is said of it. */
interface Fault {
  readonly title: string;
  /** Why it cannot be brought about here; `null`: it can. */
  readonly notRun?: string | null;
  /** Brings it about. @returns what ends it */
  readonly begin: (lab: CanaryLab) => Promise<() => unknown>;
  /** The ways that fail, and the codes of their errors. */
  readonly fails: Partial<Record<Road, RegExp>>;
  /** The first words of the situation; a fault that the nodes themselves show may have words of theirs. */
  readonly headline?: RegExp;
  /** The condition of the cluster; without one, clients fail. */
  readonly condition?: RegExp;
  /** What people read of the error, by the first of the ways. */
  readonly words: RegExp;
  /** What they are told to do. */
  readonly action?: RegExp;
}

/** Mounts a file system of one page. */
function mountTmpfs(folder: string): void {
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=4k,mode=0777", "rolecall", folder], { stdio: "pipe" });
}

/** Also while a file there is open. */
function unmount(folder: string): void {
  execFileSync("umount", ["-l", folder], { stdio: "pipe" });
}

/** Why nothing can be mounted here; `null`: something can. */
function refusedMount(): string | null {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-mount-"));
  try {
    mountTmpfs(folder);
    unmount(folder);
    return null;
  } catch (error) {
    return `not run: nothing can be mounted: ${error instanceof Error ? error.message : String(error)}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const faults: readonly Fault[] = [
  {
    title: "the only server of HAProxy's write pool is in maintenance",
    begin: async (lab) => {
      const leader = await lab.cluster.leader();
      await lab.setServer(leader, "state maint");
      return () => lab.setServer(leader, "state ready");
    },
    fails: { write: /^closed$/, pooled: /^08P01$|^timeout$|^closed$/ },
    words: /closed before the login, as a balancer without a usable server does/,
    action: /in maintenance\) closes each connection/,
  },
  {
    // The rendered check states the address of the server, and the answer then is `moved`: HAProxy closes the server.
    title: "HAProxy's server of the primary is given the address of a replica",
    begin: async (lab) => {
      const leader = await lab.cluster.leader();
      const [replica] = await lab.cluster.replicas();
      const place = ({ databasePort }: PatroniNode): string => `addr 127.0.0.1 port ${databasePort}`;
      await lab.setServer(leader, place(replica ?? leader));
      return () => lab.setServer(leader, place(leader));
    },
    fails: { write: /^25006$|^closed$/ },
    words: /25006 cannot execute INSERT in a read-only transaction|closed before the login/,
  },
  {
    title: "all of max_connections is taken",
    begin: async (lab) => {
      const { databasePort: port } = await lab.cluster.leader();
      const clients = Array.from(
        { length: 200 },
        () => new Client({ host: "127.0.0.1", port, user: "canary", database: "app" }),
      );
      for (const client of clients) client.on("error", () => {});
      await Promise.allSettled(clients.map((client) => client.connect()));
      return () => Promise.allSettled(clients.map((client) => client.end()));
    },
    fails: { write: /^53300$/ },
    words: /53300 (?:remaining connection slots are reserved|sorry, too many clients already)/,
    action: /Find what holds the connections/,
  },
  {
    // Only what the canaries need of the volume is full: a whole volume takes longer to fill, and is the same to them.
    title: "the primary's volume is full",
    notRun: refusedMount(),
    begin: async (lab) => {
      const { dataFolder } = await lab.cluster.leader();
      const folder = join(dataFolder, "base", "pgsql_tmp");
      mkdirSync(folder, { recursive: true });
      giveToPostgres(folder);
      mountTmpfs(folder);
      return () => unmount(folder);
    },
    fails: { write: /^53100$/, pooled: /^53100$/ },
    words: /53100 could not write to file .*: No space left on device/,
    action: /^Find what fills the volume .* Never delete files of pg_wal/,
  },
  {
    title: "PgBouncer is dead",
    begin: async (lab) => {
      await lab.pgbouncer.kill();
      return () => lab.pgbouncer.start();
    },
    fails: { pooled: /^ECONNREFUSED$/ },
    words: /ECONNREFUSED connection refused/,
    action: /the balancer or pooler, and its log/,
  },
  {
    title: "strict synchronous mode, and both standbys are frozen",
    begin: async (lab) => {
      await lab.configureSynchronous();
      const replicas = await lab.cluster.replicas();
      const thaws = replicas.map(({ postmaster = 0, pid }) => freezeMachine(postmaster, pid));
      return () => thaws.forEach((thaw) => thaw());
    },
    fails: { write: /^timeout$/, pooled: /^timeout$/ },
    headline: /^(?:clients cannot|writes (?:may )?wait for a synchronous standby)/,
    words: /its commit is not answered|waits for .* for a synchronous standby \(SyncRep\)/,
    action: /standby/,
  },
  {
    title: "PostgreSQL of the primary is frozen",
    begin: async (lab) => {
      const { postmaster = 0 } = await lab.cluster.leader();
      return freezeMachine(postmaster);
    },
    fails: { write: /^timeout$|^closed$/, pooled: /^timeout$|^08P01$/ },
    headline: /^(?:no primary|clients cannot write)/,
    condition: /^(?:without a primary|clients failing)$/,
    words: /no answer to the (?:login|first query)|closed before the login/,
  },
];

const { title, found } = pgbouncer118();
if ("notRun" in found) test(title, { skip: `not run: ${found.notRun}` }, () => {});
else {
  const { path } = found;
  beside("3.0.2", "canaries", (command) => scenarios(command, path));
}

function scenarios(command: Command, pgbouncer: string): void {
  let lab: CanaryLab;
  before(async () => {
    lab = await CanaryLab.start(command, pgbouncer);
  });
  after(() => lab?.stop());

  test("pass, with the name of the node, while nothing is wrong", async () => {
    const leader = await lab.cluster.leader();
    const replicas = (await lab.cluster.replicas()).map(({ name }) => name);
    // HAProxy takes each server as up before its first check, and the first row comes to a replica after the first try.
    const { write, pooled, read } = await until("a read on a replica, with a row", async () => {
      const { canaries } = await lab.passes();
      return (
        replicas.includes(canaries.read.node ?? "") && /, a row of .* before$/.test(canaries.read.text) && canaries
      );
    });
    const { status, explain } = await lab.printed();
    assert.deepEqual([write.state, pooled.state, read.state], ["committed", "committed", "read"]);
    assert.deepEqual([write.node, pooled.node], [leader.name, leader.name]);
    assert.match(status, /^1 cluster: 1 ok/);
    assert.match(
      explain,
      new RegExp(`^clients: checks lead writes to ${leader.name} \\(tried .*committed on ${leader.name} in `, "m"),
    );
  });

  for (const fault of faults)
    test(fault.title, { skip: fault.notRun ?? false }, async () => {
      const end = await fault.begin(lab);
      try {
        await lab.says(fault.title, (said) => isTold(said, fault), saidWithinS);
        assertPrinted(await lab.printed(), fault);
      } finally {
        await end();
      }
      await lab.passes();
      const { status, explain } = await lab.printed();
      assert.match(status, /^1 cluster: 1 ok/);
      assert.match(explain, /^wrong: +nothing$/m);
    });
}

/** Whether each way that should fail does, and the cluster is known not to serve its clients. */
function isTold({ canaries, condition }: Said, { fails, condition: wanted = /^clients failing$/ }: Fault): boolean {
  const ways = Object.entries(fails).map(([road, code]) => ({ code, seen: canaries[road as Road] }));
  return wanted.test(condition) && ways.every(({ code, seen }) => !isPassed(seen) && code.test(seen.code ?? ""));
}

function assertPrinted(
  { status, explain }: Printed,
  { words, action, headline = /^(?:clients cannot|no pooler)/ }: Fault,
): void {
  assert.doesNotMatch(status, /\b1 ok\b/);
  assert.doesNotMatch(explain, /^wrong: +nothing$/m);
  assert.doesNotMatch(explain, /\(not tried\)/);
  assert.match(/^wrong: +(.*)$/m.exec(explain)?.[1] ?? "", headline);
  for (const text of [status, explain]) {
    assert.match(text, words);
    if (action !== undefined) assert.match(/^ *do: +(.*)$/m.exec(text)?.[1] ?? "", action);
  }
}

/**
 * Primaries that crash and that hang, behind a rendered HAProxy configuration with two instances of rolecall: reads go
 * on without a single failure, and writes reach one primary at a time. One crash and one hang; FAILOVERS sets
 * another number of each, as in `FAILOVERS=5 node --test build/test/real/failover.drill.test.js`. With the files of a release
 * (RELEASE_FILES) one instance is its executable, and the other one is the program in its Debian package.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { beside, type Command } from "./lab/beside.ts";
import { Child } from "./lab/child.ts";
import { Cluster } from "./lab/cluster.ts";
import { freezeMachine } from "./lab/freeze.ts";
import type { PatroniNode } from "./lab/patroni.ts";
import { ports, requireFree } from "./lab/ports.ts";
import { psql } from "./lab/psql.ts";
import { program, Rolecall } from "./lab/rolecall.ts";
import { Standing, Traffic, type Attempt } from "./lab/traffic.ts";
import { until } from "../fake/until.ts";

const rounds = Number(process.env["FAILOVERS"] ?? 1);
/** How long the traffic goes on after the new primary has taken writes, and how long the old one hangs from then. */
const settleMs = 5_000;

beside("3.0.2", "failovers behind a rendered HAProxy", scenarios, 4 + 4 * rounds);

function scenarios(command: Command): void {
  let cluster: Cluster;
  let haproxy: Child;
  const edges: Rolecall[] = [];

  before(async () => {
    cluster = await Cluster.start(command);
    const executables = executablesOf(process.env["RELEASE_FILES"], cluster.folder);
    for (const number of [1, 2] as const)
      edges.push(await Rolecall.start(cluster, { number, executable: executables[number - 1] }));
    haproxy = await startRendered(cluster);
    const leader = await cluster.leader();
    assert.equal(await psql(leader.databasePort, "create table written (id serial, at timestamptz default now())"), "");
  });
  after(async () => {
    await haproxy?.stop();
    for (const edge of edges) await edge.stop();
    await cluster?.stop();
  });

  for (let round = 1; round <= rounds; round += 1) {
    test(`crash ${round} of the primary fails no read`, async () => {
      await failover(`crash ${round}`, async (leader) => {
        await leader.kill();
        return () => leader.start();
      });
    });

    test(`hang ${round} of the primary fails no read`, async () => {
      await failover(`hang ${round}`, async (leader) => {
        assert.ok(leader.postmaster !== undefined);
        const thaw = freezeMachine(leader.postmaster, leader.pid);
        // Patroni 3.0.2 that goes on acts on what it knew of the DCS before, and writes the leader key without a condition
        // (`_update_leader`; 4.x compares the name in it): the cluster itself would go back to the old timeline.
        return async () => {
          await leader.killPatroni();
          thaw();
          leader.start();
        };
      });
    });
  }

  /** @param fail lets the primary fail; what it returns ends that */
  async function failover(
    title: string,
    fail: (leader: PatroniNode) => Promise<() => Promise<void> | void>,
  ): Promise<void> {
    const old = await cluster.leader();
    const reads = [0, 1].map(() => new Traffic(ports.haproxyRead, "select inet_server_port(), pg_is_in_recovery()"));
    const standing = [0, 1].map(() => new Standing(ports.haproxyRead));
    const writes = new Traffic(
      ports.haproxyWrite,
      "insert into written default values returning inet_server_port(), pg_is_in_recovery()",
    );
    try {
      await sleep(2_000);
      const end = await fail(old);
      try {
        const evidence = (): string => `${haproxy.tail}\n${edges.map(({ tail }) => tail).join("\n")}`;
        await until({ what: "writes on another primary", seconds: 60, evidence }, () =>
          writes.attempts.some(({ server }) => server !== null && server !== old.databasePort),
        );
        await sleep(settleMs);
      } finally {
        await end();
      }
      await cluster.whole(120);
      await cluster.streaming();
      await sleep(settleMs);
    } finally {
      await Promise.all([...reads, ...standing, writes].map((traffic) => traffic.stop()));
    }
    const failedReads = reads.flatMap(({ failures }) => failures);
    const readCount = reads.reduce((sum, { attempts }) => sum + attempts.length, 0);
    const [inSessions, cut] = [
      standing.reduce((sum, { answered }) => sum + answered, 0),
      standing.reduce((sum, session) => sum + session.cut, 0),
    ];
    const outageMs = longestOutageMs(writes.attempts);
    console.log(
      `${title} of ${old.name}: ${readCount} reads, ${failedReads.length} failed; ${inSessions} reads in two sessions, ${cut} cut; ` +
        `${writes.attempts.length} writes, ${writes.failures.length} failed, longest outage ${(outageMs / 1000).toFixed(1)} s`,
    );
    // A failure begins long before it is noticed: its evidence is all that was written.
    if (failedReads.length > 0 || cut > 0)
      console.log([haproxy, ...edges, ...cluster.nodes].map(({ log }) => log).join("\n"));
    assert.ok(readCount > 50 && inSessions > 50 && writes.attempts.length > 10, "there was traffic");
    assert.deepEqual(failedReads.map(described), [], "failed reads");
    assert.equal(cut, 0, "read sessions that were cut");
    const servers = writes.attempts.flatMap(({ server }) => server ?? []);
    const changes = servers.filter((server, at) => at === 0 || server !== servers[at - 1]);
    assert.equal(
      changes.length,
      2,
      `writes reached first the old primary, then the new one, got ${changes.join(", ")}`,
    );
    const refused = writes.failures.filter(({ error }) => error.includes("read-only transaction"));
    assert.deepEqual(refused.map(described), [], "writes that reached a replica");
  }
}

/** The executable of a release, and the program in its Debian package, unpacked; none without a release. */
function executablesOf(release: string | undefined, folder: string): readonly string[] {
  if (release === undefined) return [];
  const files = readdirSync(release).map((file) => join(release, file));
  const executable = files.find((file) => /rolecall-[\d.]+-linux-\w+$/.test(file));
  const debian = files.find((file) => file.endsWith(".deb"));
  assert.ok(executable !== undefined && debian !== undefined, `${release} has an executable and a Debian package`);
  const [own, root] = [join(folder, "rolecall-executable"), join(folder, "debian")];
  copyFileSync(executable, own);
  chmodSync(own, 0o755);
  execFileSync("dpkg-deb", ["--extract", debian, root]);
  return [own, join(root, "usr/bin/rolecall")];
}

/** HAProxy with the configuration that an operator renders for these instances, unchanged. */
async function startRendered(cluster: Cluster): Promise<Child> {
  await requireFree([ports.haproxyWrite, ports.haproxyRead, ports.haproxyChecks]);
  const options = {
    config: join(cluster.folder, "rolecall.yaml"),
    edge: `127.0.0.1:${ports.rolecall},127.0.0.1:${ports.rolecall2}`,
    "write-port": ports.haproxyWrite,
    "read-port": ports.haproxyRead,
    "check-port": ports.haproxyChecks,
    "stats-port": "none",
  };
  const args = Object.entries(options).flatMap(([option, value]) => [`--${option}`, String(value)]);
  const file = join(cluster.folder, "rendered.cfg");
  writeFileSync(file, execFileSync(process.execPath, [program, "render", "haproxy", ...args], { timeout: 20_000 }));
  const child = new Child({ name: "haproxy", command: ["haproxy", "-db", "-f", file], folder: cluster.folder });
  const { databasePort } = await cluster.leader();
  await until({ what: "HAProxy with both pools", seconds: 20, evidence: () => child.tail }, async () => {
    const serverAt = (port: number): Promise<string | undefined> => psql(port, "select inet_server_port()");
    // Before its first check HAProxy takes a server for up: at the same time, so many reads reach every server.
    const reads = await Promise.all(Array.from({ length: 6 }, () => serverAt(ports.haproxyRead)));
    const write = await serverAt(ports.haproxyWrite);
    return write === String(databasePort) && reads.every((read) => read !== undefined && read !== write);
  });
  return child;
}

/** The longest time between two successful questions. @returns milliseconds */
function longestOutageMs(attempts: readonly Attempt[]): number {
  const ends = attempts.flatMap(({ server, endedMs }) => (server === null ? [] : [endedMs]));
  return Math.max(...ends.map((endedMs, at) => endedMs - (ends[at - 1] ?? endedMs)));
}

function described({ startedMs, endedMs, error }: Attempt): string {
  return `${(startedMs / 1000).toFixed(1)} s, after ${(endedMs - startedMs).toFixed(0)} ms: ${error}`;
}

/** The zone of a HAProxy and the zones of a pool, from the configuration to what is sent. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../../src/app/registry/config.ts";
import type { Config } from "../../../src/core/config/model/config.ts";
import { renderProblems } from "../../../src/core/config/model/problem.ts";
import { viewAt } from "../../../src/core/health/evidence/leadership/cluster-view.ts";
import { poolVerdicts } from "../../../src/core/balancing/pool-verdicts.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";
import { temporaryFolder } from "../../fake/temporary-folder.ts";
import { AgentFixture } from "../../features/agent/agent-fixture.ts";

const file = join(temporaryFolder("zones"), "rolecall.yaml");

function configFrom(text: string): Config {
  writeFileSync(file, `clusters: [{ name: demo, discover: ["http://127.0.0.1:1"] }]\n${text}`);
  const result = loadConfig({ file, env: {}, flags: {} });
  assert.ok(result.ok, result.ok ? "" : renderProblems(result.problems));
  return result.config;
}

const haproxy = configFrom(`
pools:
  - { name: writes, check: /primary }
  - { name: reads, check: "/replica?miss=404", weight: { full: 1s } }
  - { name: reads_b, check: "/replica?miss=404", zones: [b] }
balancers:
  - haproxy:
      socket: /run/haproxy.sock
      zone: a
      backends:
        - { name: w, pool: writes }
        - { name: r, pool: reads }
        - { name: rb, pool: reads_b }
        - { name: own, check: "/replica?miss=404" }
        - { name: named, check: "/replica?miss=404&zone=b" }
`).balancers[0]?.haproxy;

/** pg1 leads; of the replicas pg2 and pg3 are in zone a, pg4 is in b. */
function zonedCluster(): ClusterFixture {
  const zones = { pg1: "a", pg2: "a", pg3: "a", pg4: "b" };
  const nodes = Object.entries(zones).map(([name, zone]) => ({ name, api: `http://${name}:8008`, zone }));
  const fixture = new ClusterFixture({ nodes });
  fixture.lead("pg1", 0);
  for (const name of ["pg2", "pg3", "pg4"]) fixture.follow(name, 0);
  return fixture;
}

const letters = { up: "u", drain: "d", down: "x", none: "-" };

/** What each backend gets: a letter for each of pg2, pg3 and pg4, and who has a weight. */
function pushedTo(fixture: ClusterFixture, nowMs: number): Record<string, string> {
  const view = viewAt(fixture.cluster, fixture.policy, nowMs);
  return Object.fromEntries(
    (haproxy?.backends ?? []).map((backend) => {
      const { servers } = poolVerdicts(view, backend);
      const states = servers.slice(1).map(({ target }) => letters[target ?? "none"]);
      const weighed = servers.filter(({ weightInput }) => weightInput?.isFit === true).map(({ server }) => server);
      return [backend.name, [states.join(""), ...weighed].join(" ")];
    }),
  );
}

test("a HAProxy in a zone gets local servers only while one is fit, in each pool of reads that names no zone", () => {
  const fixture = zonedCluster();
  const local = { w: "xxx", r: "uud pg2 pg3", rb: "ddu", own: "uud", named: "ddu" };
  assert.deepEqual(pushedTo(fixture, 0), local);
  fixture.follow("pg2", 1_000, { state: "starting" });
  assert.deepEqual(pushedTo(fixture, 1_000)["r"], "dud pg3");
  fixture.follow("pg3", 1_000, { tags: { noloadbalance: true } });
  const { r, own, rb } = pushedTo(fixture, 1_000);
  assert.deepEqual([r, own, rb], ["ddu pg4", "ddu", "ddu"]);
  fixture.follow("pg3", 2_000);
  assert.deepEqual(pushedTo(fixture, 2_000)["r"], "dud pg3");
});

test("a zone moves no writes", () => {
  const fixture = zonedCluster();
  fixture.follow("pg1", 1_000);
  fixture.lead("pg4", 1_000);
  const view = viewAt(fixture.cluster, fixture.policy, 1_000);
  const [writes] = haproxy?.backends ?? [];
  assert.ok(writes !== undefined);
  const up = poolVerdicts(view, writes).servers.filter(({ target }) => target === "up");
  assert.deepEqual(
    up.map(({ server }) => server),
    ["pg4"],
  );
});

test("an agent listener takes the zones of its pool", () => {
  const { listen } = configFrom(`
pools: [{ name: reads, check: "/replica?lag=1kB", zones: [b] }]
listen: [{ port: 0, dialect: agent, pool: reads }]
`);
  const agent = listen[0]?.agent ?? null;
  assert.ok(agent !== null);
  const lab = new AgentFixture(agent, { check: agent.check });
  assert.equal(lab.ask("pg3"), "up 100%");
  assert.equal(lab.ask("pg2"), "up 0% # drain: other_zone none");
  assert.equal(lab.ask("demo/pg2 /replica?zone=none"), "up 100%");
});

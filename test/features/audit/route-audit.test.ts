import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { haproxyAdvice } from "../../../src/features/haproxy/haproxy-target.ts";
import type { ServerReading } from "../../../src/core/balancing/audited/reading.ts";
import { RouteAudit } from "../../../src/features/audit/route-audit.ts";
import type { AuditTarget } from "../../../src/core/balancing/audited/audit-target.ts";
import { plainCheck } from "../../../src/core/health/check.ts";
import { ManualClock } from "../../fake/manual-clock.ts";
import { storeFixture } from "../../fake/store-fixture.ts";
import { serverOf } from "./core/audit-play.ts";

/** An audit of one target of a cluster in which pg1 leads and pg2 follows. */
class AuditFixture {
  readonly clock = new ManualClock();
  readonly cluster = storeFixture();
  readonly changed: string[] = [];
  readonly errors: string[] = [];
  /** What the target has; a text: why it cannot be read. */
  servers: readonly ServerReading[] | string = [serverOf("pg1", { sessions: 4, total: 9 }), serverOf("pg2")];
  /** How many looks run, and how many ran at the same time. */
  running = 0;
  runningMax = 0;
  looks: number[] = [];
  /** How long a look takes, in ms. */
  tookMs = 0;
  readonly audit: RouteAudit;

  constructor() {
    const { clock, cluster } = this;
    this.audit = new RouteAudit({
      cluster: () => cluster.state(),
      policy: (name) => cluster.store.policyOf(name),
      now: () => clock.nowMs,
      scope: { setTimer: (run, ms) => clock.setTimer(run, ms), signal: new AbortController().signal },
      resolve: () => ({ ips: [], atMs: 0, isPending: false }),
      onChange: (name) => void this.changed.push(name),
      onError: (target, error) => void this.errors.push(`${target}: ${String(error)}`),
    });
    cluster.store.onChange((_, { name }) => this.audit.clusterChanged(name));
  }

  target(parts: Partial<AuditTarget> = {}): AuditTarget {
    const pool = {
      backend: "w",
      cluster: "demo",
      check: plainCheck("primary"),
      isOfPrimary: true,
      servers: null,
      lists: "all",
      hasOnlyMembers: true,
      keepsSessions: true,
    } as const;
    return {
      name: "lb1",
      program: "haproxy",
      address: "/run/haproxy/admin.sock",
      pools: [pool],
      source: { read: () => this.#read() },
      needsVerdicts: true,
      advise: haproxyAdvice({ path: "/run/haproxy/admin.sock" }, () => false),
      key: "1",
      ...parts,
    };
  }

  /** Every node reports, and goes on to do so while time passes. */
  async live(ms: number, leader = "pg1"): Promise<void> {
    for (let left = ms; left > 0; left -= 500) {
      this.cluster.nowMs = this.clock.nowMs;
      const timeline = leader === "pg1" ? 1 : 2;
      this.cluster.recordReport("pg1", 1_000, leader === "pg1", { timeline });
      this.cluster.recordReport("pg2", 1_000, leader === "pg2", { timeline });
      await this.clock.pass(Math.min(500, left));
    }
  }

  async #read(): ReturnType<AuditTarget["source"]["read"]> {
    this.looks.push(this.clock.nowMs);
    this.running += 1;
    this.runningMax = Math.max(this.runningMax, this.running);
    const { servers } = this;
    if (this.tookMs > 0) await new Promise<void>((resolve) => void this.clock.setTimer(resolve, this.tookMs));
    this.running -= 1;
    if (typeof servers === "string") throw new Error(servers);
    return [{ backend: "w", servers, isShared: true, leadsTo: null, closed: null, notTaken: null }];
  }
}

suite("the audit of the routes", () => {
  test("looks at a target every interval, and finds nothing where there is nothing", async () => {
    const fixture = new AuditFixture();
    fixture.audit.configure([fixture.target()], 5_000);
    await fixture.live(20_600);
    // At the start, and after a change, it looks again once new sessions would count.
    assert.deepEqual(fixture.looks, [1_500, 4_000, 5_000, 10_000, 15_000, 20_000]);
    assert.deepEqual([fixture.audit.findings("demo"), fixture.changed], [[], []]);
    const [{ up, servers, lookedMsAgo } = { up: null, servers: 0, lookedMsAgo: null }] = fixture.audit.targets;
    assert.deepEqual([up, servers, lookedMsAgo], [true, 2, 1_600]);
  });

  test("names sessions on an old primary within 5 s of what its check takes, and is done when they are gone", async () => {
    const fixture = new AuditFixture();
    fixture.audit.configure([fixture.target()], 5_000);
    await fixture.live(10_000);
    await fixture.live(8_000, "pg2");
    const [finding] = fixture.audit.findings("demo");
    assert.deepEqual(
      { ...finding, sinceMs: 0 },
      {
        kind: "misrouted",
        target: "lb1",
        program: "haproxy",
        clusters: ["demo"],
        backend: "w",
        server: "pg1",
        node: "pg1",
        sinceMs: 0,
        what: "has 4 sessions, and is stray_primary",
        isUnusable: false,
        mechanism: "HAProxy's check, with on-marked-down shutdown-sessions, and rolecall's push",
        command: 'echo "shutdown sessions server w/pg1" | socat stdio /run/haproxy/admin.sock',
      },
    );
    assert.ok(finding !== undefined && finding.sinceMs >= 11_000 && finding.sinceMs <= 11_600);
    assert.deepEqual(fixture.changed, ["demo"]);
    fixture.servers = [serverOf("pg1"), serverOf("pg2", { sessions: 4, total: 4 })];
    await fixture.live(5_000, "pg2");
    assert.deepEqual([fixture.audit.findings("demo"), fixture.changed], [[], ["demo", "demo"]]);
  });

  test("shows the way of clients as the last look has seen it, and keeps it while the target cannot be read", async () => {
    const fixture = new AuditFixture();
    fixture.audit.configure([fixture.target()], 5_000);
    await fixture.live(6_000);
    fixture.servers = [
      serverOf("pg1", { sessions: 5, total: 12, failed: 2 }),
      serverOf("pg2", { use: "held", closed: "MAINT", address: { host: "10.0.0.2", port: 5432 } }),
    ];
    await fixture.live(5_000);
    const [road] = fixture.audit.targets[0]?.roads ?? [];
    const none = { new_sessions: 0, failed: null, since_look_ms: 5_000 };
    assert.deepEqual(road, {
      backend: "w",
      cluster: "demo",
      only_members: true,
      closed: null,
      not_taken: null,
      leads_to: null,
      servers: [
        {
          ...none,
          server: "pg1",
          node: "pg1",
          address: null,
          use: "takes",
          closed: null,
          sessions: 5,
          new_sessions: 3,
          fit: true,
          reason: null,
        },
        {
          ...none,
          server: "pg2",
          node: "pg2",
          address: "10.0.0.2:5432",
          use: "held",
          closed: "MAINT",
          sessions: 0,
          fit: false,
          reason: "wrong_role",
        },
      ],
      left_out: 0,
    });
    fixture.servers = Array.from({ length: 203 }, (_, at) => serverOf(`s${at}`, { total: null }));
    await fixture.live(5_000);
    const [many] = fixture.audit.targets[0]?.roads ?? [];
    assert.deepEqual([many?.servers?.length, many?.left_out, many?.servers?.[0]?.new_sessions], [200, 3, null]);
    fixture.servers = "refused";
    await fixture.live(10_000);
    assert.deepEqual([fixture.audit.targets[0]?.up, fixture.audit.targets[0]?.roads], [false, [many]]);
  });

  test("never has two looks at a target at the same time, however long one takes", async () => {
    const fixture = new AuditFixture();
    fixture.tookMs = 1_900;
    fixture.audit.configure([fixture.target()], 500);
    await fixture.live(20_000);
    assert.equal(fixture.runningMax, 1);
    assert.ok(fixture.looks.length > 5);
  });

  test("takes what a slow target says for what was so when it was asked", async () => {
    const fixture = new AuditFixture();
    fixture.tookMs = 1_900;
    fixture.audit.configure([fixture.target()], 1_000);
    await fixture.live(10_000);
    const asked = (): boolean => fixture.running > 0;
    fixture.servers = [serverOf("pg1", { total: 9 }), serverOf("pg2")];
    await fixture.live(1_500, "pg2");
    // The mechanism takes 3 s. A look begins before that, sees 9 sessions, and ends after it: then there are 10.
    while (fixture.clock.nowMs - 11_000 < 2_500 || !asked()) await fixture.live(100, "pg2");
    fixture.servers = [serverOf("pg1", { total: 10 }), serverOf("pg2")];
    await fixture.live(20_000, "pg2");
    assert.deepEqual(fixture.changed, []);
  });

  test("tells a target that cannot be read from one that was not looked at, and shows no control characters of it", async () => {
    const fixture = new AuditFixture();
    fixture.servers = "refused \u001b[31m";
    fixture.audit.configure([fixture.target()], 5_000);
    assert.equal(fixture.audit.targets[0]?.up, null);
    await fixture.live(11_000);
    assert.deepEqual([fixture.audit.targets[0]?.up, fixture.audit.targets[0]?.problem], [false, "refused ?[31m"]);
    assert.deepEqual(
      fixture.audit.findings("demo").map(({ kind, what }) => [kind, what]),
      [["unreachable", "cannot be read: refused ?[31m"]],
    );
  });

  test("says of which clusters nothing is known, so that nothing was compared", async () => {
    const fixture = new AuditFixture();
    fixture.audit.configure([fixture.target()], 5_000);
    await fixture.live(6_000);
    assert.deepEqual(fixture.audit.targets[0]?.unknown, []);
    await fixture.clock.pass(20_000);
    assert.deepEqual([fixture.audit.targets[0]?.unknown, fixture.changed], [["demo"], []]);
    await fixture.live(6_000);
    assert.deepEqual(fixture.audit.targets[0]?.unknown, []);
  });

  test("does not compare a target that has servers without end", async () => {
    const fixture = new AuditFixture();
    fixture.servers = Array.from({ length: 5_001 }, (_, at) => serverOf(`s${at}`));
    fixture.audit.configure([fixture.target()], 5_000);
    await fixture.live(1_000);
    assert.equal(fixture.audit.targets[0]?.problem, "it has 5001 servers, and no more than 5000 are compared");
  });

  test("keeps what it knows of a target whose configuration stays, and forgets one that changes", async () => {
    const fixture = new AuditFixture();
    fixture.servers = "refused";
    fixture.audit.configure([fixture.target()], 5_000);
    await fixture.live(11_000);
    fixture.audit.configure([fixture.target()], 5_000);
    assert.equal(fixture.audit.findings("demo").length, 1);
    fixture.audit.configure([fixture.target({ key: "2" })], 5_000);
    assert.equal(fixture.audit.findings("demo").length, 0);
  });

  test("ends all looks, also one that runs", async () => {
    const fixture = new AuditFixture();
    fixture.tookMs = 1_000;
    fixture.audit.configure([fixture.target()], 5_000);
    await fixture.clock.pass(600);
    fixture.audit.stop();
    await fixture.clock.pass(60_000);
    assert.deepEqual([fixture.looks.length, fixture.clock.timers, fixture.audit.targets], [1, 0, []]);
  });

  test("goes on after an internal error", async () => {
    const fixture = new AuditFixture();
    const advise = (): never => {
      throw new Error("an injected error");
    };
    fixture.servers = "refused";
    fixture.audit.configure([fixture.target({ advise })], 5_000);
    await fixture.live(16_000);
    assert.deepEqual([...new Set(fixture.errors)], ["lb1: Error: an injected error"]);
    assert.equal(fixture.looks.length, 4);
  });
});

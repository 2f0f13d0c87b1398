import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { viewAt } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { askedChecks, type AskedCheck } from "../../../../src/core/health/rules/asked-checks.ts";
import { nodeOverview } from "../../../../src/core/health/documents/node-overview.ts";
import { severeConditionOf } from "../../../../src/core/health/conditions/conditions.ts";
import { type Brought, type Condition, oneCase } from "../../../../src/core/health/conditions/condition.ts";
import {
  headlineOf,
  type Situation,
  situationLines,
  situationOf,
} from "../../../../src/core/health/documents/situation.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";
import { end, followers, MB, situationAt, steady } from "../../../fake/situations.ts";

/** Checks with limits, as balancers send them all the time. */
function sent(...limits: { readonly bytes?: number; readonly ms?: number }[]): readonly AskedCheck[] {
  return askedChecks(
    limits.map(({ bytes = null, ms = null }) => ({
      route: "replica",
      lag_bytes: bytes,
      lag_ms: ms,
      keep: 0,
      fallback_primary: false,
      source: "checks",
      of: null,
      requested_ms_ago: 1_000,
      requested_for_ms: 60_000,
    })),
  );
}

describe("the situation of a cluster", () => {
  test("names nothing where nothing is wrong, and who gets writes and reads", () => {
    assert.deepEqual(situationAt(steady(), 2_100), {
      condition: "ok",
      wrong: null,
      cause: null,
      since: null,
      for_ms: null,
      clients: "checks lead writes to pg1 (not tried); /replica: 2 of 2 nodes",
      next: null,
      action: null,
    });
  });

  test("says what features have seen of clients, and is never ok while they fail", () => {
    const failing: Condition = {
      id: "clients_fail",
      title: "clients fail",
      harm: "stuck",
      status: {
        tellCase: ({ message }) => ({
          condition: "clients failing",
          wrong: "clients fail",
          cause: message,
          sinceMs: 1_100,
          next: null,
          action: "Look there",
        }),
      },
      alerts: [],
    };
    const view = viewAt(steady().cluster, steady().policy, 2_100);
    const nodes = view.cluster.nodes.map((observation) => nodeOverview(view, observation, []));
    const inputs = { nodes, asked: [], wallMs: 2_100 };
    const situation = (brought: Brought): Situation => situationOf(view, { ...inputs, brought });
    const seen: Brought["seen"] = [
      { of: "routes", text: "as lb1 has it" },
      { of: "tries", text: "tried 3 s ago" },
    ];
    assert.equal(
      situation({ found: [], seen }).clients,
      "checks lead writes to pg1 (as lb1 has it; tried 3 s ago); /replica: 2 of 2 nodes",
    );
    assert.match(situation({ found: [], seen: null }).clients, /^checks lead writes to pg1; /);
    const found = [{ condition: failing, found: oneCase({ severity: "error", message: "the pooler is dead" }) }];
    const { condition, clients } = situation({ found, seen: [] });
    assert.equal(condition, "clients failing");
    assert.equal(headlineOf(situation({ found, seen: [] })), "clients fail for 1.0 s: the pooler is dead");
    assert.match(clients, /^checks lead writes to pg1, where they fail or wait \(not tried\); /);
    const ofReaders = found.map((one) => ({ ...one, condition: { ...failing, harm: "missing" as const } }));
    assert.match(situation({ found: ofReaders, seen: [] }).clients, /^checks lead writes to pg1 \(not tried\); /);
    assert.equal(severeConditionOf(view, found), "clients failing");
    assert.equal(severeConditionOf(view, []), null);
  });

  test("without a primary clients may write all the same, where something has seen that", () => {
    const fixture = steady();
    for (let at = 3_000; at <= 10_000; at += 1_000) fixture.fail("pg1", "refused", at);
    const view = viewAt(fixture.cluster, fixture.policy, 10_000);
    const nodes = view.cluster.nodes.map((observation) => nodeOverview(view, observation, []));
    const brought: Brought = {
      found: [],
      seen: [
        { of: "routes", text: "as pgb1 has it" },
        { of: "tries", text: "tried 3 s ago through w: committed on pg1 in 4 ms" },
      ],
    };
    assert.match(
      situationOf(view, { nodes, asked: [], wallMs: 10_000, brought }).clients,
      /^checks refuse writes \(tried 3 s ago through w: committed on pg1 in 4 ms\); /,
    );
  });

  test("without a primary: a commit on the last one shows that its PostgreSQL lives, and what that means", () => {
    const fixture = steady();
    for (let at = 3_000; at <= 10_000; at += 1_000) {
      fixture.fail("pg1", "refused", at);
      followers(fixture, at);
    }
    const view = viewAt(fixture.cluster, fixture.policy, 10_000);
    const nodes = view.cluster.nodes.map((observation) => nodeOverview(view, observation, []));
    const told = (node: string, agoMs: number): Situation => {
      const seen: Brought["seen"] = [{ of: "tries", text: "tried", committed: { node, agoMs } }];
      return situationOf(view, { nodes, asked: [], wallMs: 10_000, brought: { found: [], seen } });
    };
    const { cause, action } = told("pg1", 200);
    assert.match(
      cause ?? "",
      /^pg1 is down .*, but its PostgreSQL takes writes of clients: one was committed 0\.2 s ago$/,
    );
    assert.match(
      action ?? "",
      /^Start Patroni on pg1 before \S+ UTC, or stop its PostgreSQL: .* lost once another node leads$/,
    );
    assert.doesNotMatch(told("pg1", 20_000).cause ?? "", /takes writes/, "that is too long ago");
    assert.doesNotMatch(told("pg2", 200).cause ?? "", /takes writes/, "that is another node");
  });

  test("without a primary: tells what features have found beside it, unless that follows from it", () => {
    const balancer: Condition = {
      id: "balancer_dead",
      title: "a balancer is dead",
      harm: "doubtful",
      status: {
        tellCase: ({ message }) => ({
          condition: "warning",
          wrong: "a balancer cannot be read",
          cause: message,
          sinceMs: null,
          next: null,
          action: "Look there",
        }),
      },
      alerts: [],
    };
    const fixture = steady();
    for (let at = 3_000; at <= 10_000; at += 1_000) {
      fixture.fail("pg1", "refused", at);
      followers(fixture, at);
    }
    const view = viewAt(fixture.cluster, fixture.policy, 10_000);
    const nodes = view.cluster.nodes.map((observation) => nodeOverview(view, observation, []));
    const found = (message: string, followsLoss: boolean): Brought["found"][number] => ({
      condition: balancer,
      found: oneCase({ severity: "warning", message, followsLoss }),
    });
    const brought = { found: [found("lb1 does not answer", false), found("clients fail", true)], seen: [] };
    const told = situationOf(view, { nodes, asked: [], wallMs: 10_000, brought });
    assert.equal(headlineOf(told), "no primary for 8.0 s: pg1 is down (connection refused); lb1 does not answer");
    assert.equal(told.condition, "without a primary");
  });

  test("without a primary: since its last answer, why, when the lock expires, and who may take over", () => {
    const fixture = steady();
    fixture.document("config", { of: "pg2", value: { ttl: 20, loop_wait: 10, retry_timeout: 10 } }, 2_100);
    for (let at = 3_000; at <= 10_000; at += 1_000) {
      fixture.fail("pg1", "refused", at);
      followers(fixture, at);
    }
    const situation = situationAt(fixture, 10_000);
    assert.equal(headlineOf(situation), "no primary for 8.0 s: pg1 is down (connection refused)");
    assert.deepEqual(situationLines(situation), [
      "wrong:   no primary: pg1 is down (connection refused)",
      "since:   2026-01-31T04:50:02.000Z (8.0 s)",
      "clients: checks refuse writes (not tried); /replica: 2 of 3 nodes",
      "next:    the lock expires at about 04:50:22 UTC (ttl 20 s); candidates: pg2 (0B), pg3 (2MB)",
      "do:      Look whether PostgreSQL still runs on pg1: if so, start its Patroni before 04:50:22 UTC, as what it " +
        "writes is lost once another node leads. Else wait until then",
    ]);
    for (let at = 11_000; at <= 33_000; at += 1_000) {
      fixture.fail("pg1", "refused", at);
      followers(fixture, at);
    }
    const late = situationAt(fixture, 33_000);
    assert.match(late.next ?? "", /^the lock should have expired at 04:50:22 UTC/);
    assert.match(late.action ?? "", /^Look at the DCS/);
  });

  test("a node that must not take over, or does not answer, is no candidate", () => {
    const fixture = steady();
    for (let at = 3_000; at <= 8_000; at += 1_000) {
      fixture.fail("pg1", "refused", at);
      fixture.fail("pg2", "timeout", at);
      fixture.follow("pg3", at, { tags: { nofailover: true } });
    }
    const { next, action } = situationAt(fixture, 8_000);
    assert.match(next ?? "", /no node may take over$/);
    assert.equal(action, "Bring a node back: nobody can take over");
  });

  test("several claims are the worst, whatever else is wrong", () => {
    const fixture = steady();
    for (let at = 3_000; at <= 5_000; at += 1_000) {
      fixture.lead("pg1", at, { xlog: { location: end } });
      fixture.lead("pg2", at, { xlog: { location: end } });
      fixture.fail("pg3", "refused", at);
    }
    const situation = situationAt(fixture, 5_100);
    assert.equal(situation.condition, "two primaries");
    assert.match(headlineOf(situation), /^two primaries for /);
  });

  test("a primary without the lock beside the one that leads is as bad, once a second report says so", () => {
    const fixture = steady();
    const stray = { role: "primary", timeline: 2, xlog: { location: end } };
    fixture.lead("pg1", 3_000, { xlog: { location: end } });
    fixture.answer("pg2", { fields: stray }, 3_000);
    assert.equal(situationAt(fixture, 3_100).condition, "degraded");
    fixture.lead("pg1", 4_000, { xlog: { location: end } });
    fixture.answer("pg2", { fields: stray }, 4_000);
    const situation = situationAt(fixture, 4_500);
    assert.equal(situation.condition, "two primaries");
    assert.equal(
      headlineOf(situation),
      "two primaries for 1.5 s: pg1 holds the leader lock, and pg2 is a running primary without it: writes there will be lost",
    );
    assert.match(situation.action ?? "", /^Stop PostgreSQL on pg2/);
    fixture.follow("pg2", 5_000, { xlog: { received_location: end, replayed_location: end } });
    assert.notEqual(situationAt(fixture, 5_100).condition, "two primaries");
  });

  test("blind: since the last answer of any node, and that the fault may be rolecall's", () => {
    const fixture = steady();
    for (let at = 3_000; at <= 9_000; at += 1_000)
      for (const node of ["pg1", "pg2", "pg3"]) fixture.fail(node, "timeout", at);
    const situation = situationAt(fixture, 9_000);
    assert.deepEqual([situation.condition, situation.for_ms], ["blind", 7_000]);
    assert.match(situation.action ?? "", /network between rolecall and the nodes/);
  });

  test("a node that is down: since its last answer", () => {
    const fixture = steady();
    for (let at = 3_000; at <= 8_000; at += 1_000) {
      fixture.lead("pg1", at, { xlog: { location: end } });
      fixture.follow("pg2", at, { xlog: { received_location: end, replayed_location: end } });
      fixture.fail("pg3", "refused", at);
    }
    const situation = situationAt(fixture, 8_100);
    assert.equal(situation.condition, "degraded");
    assert.match(headlineOf(situation), /^1 node out for 6\.1 s: pg3 is down/);
  });
});

describe("what a node does that nobody has to mend", () => {
  test("a holder that stops: a switchover is the usual cause, and it takes seconds", () => {
    const fixture = steady();
    fixture.lead("pg1", 3_000, { state: "stopping" });
    followers(fixture, 3_000);
    const situation = situationAt(fixture, 3_100);
    assert.match(headlineOf(situation), /^no primary for 0\.1 s: pg1 is being stopped: a switchover, a restart/);
    assert.match(situation.action ?? "", /^Wait some seconds/);
  });

  test("an old primary that restarts: since it lost the lock, and that it returns", () => {
    const fixture = steady();
    for (let at = 3_000; at <= 6_000; at += 1_000) {
      fixture.lead("pg2", at, { xlog: { location: end }, timeline: 2 });
      fixture.follow("pg1", at, { role: "demoted", state: "stopped" });
      fixture.follow("pg3", at, { timeline: 2, xlog: { received_location: end, replayed_location: end } });
    }
    const situation = situationAt(fixture, 6_100);
    assert.match(headlineOf(situation), /^1 node out for 4\.1 s: pg1 is /);
    assert.equal(situation.next, "it returns when its PostgreSQL runs as a replica");
    assert.match(situation.action ?? "", /^Wait some seconds/);
  });

  test("a node that misses its answers is a warning before it is down, from two intervals on", () => {
    const fixture = steady();
    const only = (at: number): void => {
      fixture.follow("pg2", at, { xlog: { received_location: end, replayed_location: end } });
      fixture.follow("pg3", at, { xlog: { received_location: end, replayed_location: end } });
    };
    fixture.fail("pg1", "timeout", 3_000);
    only(3_000);
    assert.equal(situationAt(fixture, 3_900).condition, "ok");
    only(4_000);
    const situation = situationAt(fixture, 4_100);
    assert.equal(situation.condition, "warning");
    const { cause, for_ms: forMs } = situation;
    assert.equal(cause, "pg1: has not answered for 2.1 s (1 failed probe: an injected timeout)");
    assert.equal(forMs, 2_100);
  });

  test("a former primary that does not answer may still accept writes", () => {
    const fixture = steady();
    for (let at = 3_000; at <= 8_000; at += 1_000) {
      fixture.fail("pg1", "timeout", at);
      fixture.lead("pg2", at, { xlog: { location: end }, timeline: 2 });
      fixture.follow("pg3", at, { timeline: 2, xlog: { received_location: end, replayed_location: end } });
    }
    assert.match(situationAt(fixture, 8_000).action ?? "", /^Make sure that its PostgreSQL has stopped/);
  });
});

test("a replica that receives and does not replay is named as such", () => {
  const fixture = steady();
  fixture.follow("pg2", 3_000, { xlog: { received_location: end, replayed_location: end - 5 * MB } });
  const { cause, action } = situationAt(fixture, 3_100, sent({ bytes: 4 * MB }));
  assert.equal(
    cause,
    "pg2 is refused in 1 of 1 check: lagging 5MB (/replica?lag=4MB); 5MB of WAL is received and not replayed",
  );
  assert.match(
    action ?? "",
    /^Look at the replay of WAL on pg2 .*`rolecall explain '\/replica\?lag=4MB' --node pg2` shows/,
  );
});

describe("the checks of balancers", () => {
  test("refuse a node that is fit for a plain /replica: in one of two it is a warning, in all it is out", () => {
    const one = situationAt(steady(), 2_100, sent({ bytes: MB }, { bytes: 10 * MB }));
    assert.equal(one.condition, "warning");
    assert.match(
      one.cause ?? "",
      /^pg3 is refused in 1 of 2 checks: lagging 2MB \(\/replica\?lag=1MB\); 2MB of WAL is received and not replayed$/,
    );
    assert.equal(
      one.clients,
      "checks lead writes to pg1 (not tried); /replica: 2 of 2 nodes; /replica?lag=1MB: 1 of 2; /replica?lag=10MB: 2 of 2",
    );
    assert.equal(situationAt(steady(), 2_100, sent({ bytes: MB })).condition, "degraded");
  });

  test("with keep or fallback they are judged as balancers get them", () => {
    const fixture = new ClusterFixture();
    for (let at = 0; at <= 2_000; at += 1_000) {
      fixture.lead("pg1", at, { xlog: { location: end } });
      fixture.follow("pg2", at, { xlog: { received_location: end, replayed_location: end - 5 * MB } });
      fixture.follow("pg3", at, { xlog: { received_location: end, replayed_location: end - 9 * MB } });
    }
    const limit = { route: "replica", lag_bytes: MB, lag_ms: null, of: null, source: "defaults" } as const;
    const asked = (keep: number, fallback: boolean): readonly AskedCheck[] =>
      askedChecks([{ ...limit, keep, fallback_primary: fallback, requested_ms_ago: null, requested_for_ms: null }]);
    const clients = (keep: number, fallback = false): string =>
      situationAt(fixture, 2_100, asked(keep, fallback)).clients.replace(/^.*?; .*?; /, "");
    assert.equal(clients(0), "/replica?lag=1MB: 0 of 2");
    assert.equal(clients(1), "/replica?lag=1MB&keep=1: 1 of 2");
    assert.equal(clients(2), "/replica?lag=1MB&keep=2: 2 of 2");
    assert.match(asked(1, true)[0]?.text ?? "", /&keep=1&fallback=primary$/);
  });

  test("a pool is named in place of its check, and once where a balancer sends the check too", () => {
    const limit = {
      route: "replica",
      lag_bytes: 1_024,
      lag_ms: null,
      keep: 0,
      fallback_primary: false,
      requested_ms_ago: null,
      requested_for_ms: null,
    } as const;
    const asked = askedChecks([
      { ...limit, source: "pool", of: "orders-read" },
      { ...limit, source: "push", of: "lb1/pg_read" },
      { ...limit, lag_bytes: 2_048, source: "push", of: "lb1/other" },
    ]);
    assert.deepEqual(
      asked.map(({ text, pool }) => [text, pool]),
      [
        ["/replica?lag=1kB", "orders-read"],
        ["/replica?lag=2kB", null],
      ],
    );
    const fixture = new ClusterFixture({ nodes: ["pg1", "pg2"] });
    fixture.lead("pg1", 0, { xlog: { location: 0x5000000 } });
    fixture.follow("pg2", 0, { xlog: { received_location: 0x5000000 - 1_500, replayed_location: 0x5000000 - 1_500 } });
    const { clients, cause } = situationAt(fixture, 100, asked);
    assert.match(clients, /; orders-read: 0 of 1; \/replica\?lag=2kB: 1 of 1$/);
    assert.match(cause ?? "", /pg2 is refused in 1 of 2 checks: lagging 1\.5kB \(orders-read\)/);
  });

  test("of two limits only the exceeded one is the figure", () => {
    const fixture = new ClusterFixture();
    // 1 MB of WAL a second, and pg2 is 2 s behind.
    for (let second = 0; second <= 5; second += 1) {
      fixture.lead("pg1", second * 1_000, { xlog: { location: end + second * MB } });
      const replayed = end + Math.max(0, second - 2) * MB;
      fixture.follow("pg2", second * 1_000, { xlog: { received_location: replayed, replayed_location: replayed } });
    }
    const view = viewAt(fixture.cluster, fixture.policy, 5_000);
    const [, pg2] = view.cluster.nodes;
    assert.ok(pg2 !== undefined);
    const refused = (limit: { readonly bytes: number; readonly ms: number }): readonly (string | null)[] =>
      nodeOverview(view, pg2, sent(limit)).refused.map(({ reason, detail }) => `${reason} ${detail}`);
    assert.deepEqual(refused({ bytes: MB, ms: 3_600_000 }), ["lagging 2MB"]);
    assert.deepEqual(refused({ bytes: 50 * MB, ms: 1_500 }), ["lagging 2.0s"]);
    assert.deepEqual(refused({ bytes: 50 * MB, ms: 60_000 }), []);
  });

  test("are those that are sent again and again, and those that are configured: what somebody tries is none", () => {
    const limit = { route: "replica", lag_bytes: MB, lag_ms: null, keep: 0, fallback_primary: false, of: null };
    const count = (more: object): number =>
      askedChecks([{ ...limit, source: "checks", requested_ms_ago: 0, requested_for_ms: 0, ...more }]).length;
    assert.equal(count({}), 0);
    assert.equal(count({ requested_for_ms: 20_000 }), 1);
    assert.equal(count({ requested_for_ms: 20_000, requested_ms_ago: 90_000 }), 0);
    assert.equal(count({ source: "defaults", requested_ms_ago: null, requested_for_ms: null }), 1);
    assert.equal(count({ source: "failover", requested_ms_ago: null, requested_for_ms: null }), 0);
    assert.equal(count({ requested_for_ms: 20_000, route: "primary" }), 0);
  });
});

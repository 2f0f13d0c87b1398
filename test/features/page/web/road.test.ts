import assert from "node:assert/strict";
import { suite, test } from "node:test";

interface Part {
  readonly tone: string;
  readonly text: string;
}
interface Group extends Part {
  readonly name: string;
  readonly canaries: readonly Part[];
  readonly roads: readonly (Part & { readonly edges: readonly (Part & { readonly node: string | null })[] })[];
}

// The page is plain JavaScript, which the compiler does not read: its modules are imported by their address.
const { roadsByPool, withAges } = (await import(
  new URL("../../../../src/features/page/web/parts/road.js", import.meta.url).href
)) as {
  readonly roadsByPool: (seen: object) => readonly Group[];
  readonly withAges: (canaries: readonly object[], atMs: number) => readonly object[];
};

function serverOf(server: string, parts: object = {}): object {
  const counts = { sessions: 0, new_sessions: 0, failed: 0, since_look_ms: 5_000 };
  const open = { use: "takes", closed: null, fit: true, reason: null };
  return { server, node: server, address: `10.0.0.${server.slice(2)}:5432`, ...counts, ...open, ...parts };
}

function poolOf(servers: readonly object[] | null, parts: object = {}): object {
  const open = { closed: null, not_taken: null, leads_to: null, left_out: 0, only_members: true };
  return { pool: "orders-write", check: "/primary", backend: "w", ...open, servers, ...parts };
}

function targetOf(pools: readonly object[], parts: object = {}): object {
  const read = { up: true, problem: null, looked_ms_ago: 1_000, is_compared: true };
  return { target: "lb1", program: "haproxy", address: "/s", ...read, pools, ...parts };
}

function nodeOf(node: string, parts: object = {}): object {
  return { node, condition: "ok", evidence: "fresh", ...parts };
}

interface Seen {
  readonly targets?: readonly object[];
  readonly findings?: readonly object[];
  readonly canaries?: readonly object[];
  readonly nodes?: readonly object[];
  readonly agoMs?: number;
}

function groupsOf({ targets = [], findings = [], canaries = [], nodes, agoMs = 0 }: Seen): readonly Group[] {
  const cluster = { nodes: nodes ?? [nodeOf("pg1"), nodeOf("pg2")] };
  return roadsByPool({ audit: { interval_ms: 5_000, targets, findings }, canaries, cluster, agoMs });
}

const down = serverOf("pg2", { use: "down", closed: "DOWN", fit: false, reason: "wrong_role" });
const busy = serverOf("pg1", { sessions: 12, new_sessions: 3 });

suite("the way of clients: what is said of a pool, and of the way to its first node", () => {
  for (const [title, seen, pool, edge] of [
    [
      "sessions at a fit node",
      { targets: [targetOf([poolOf([busy, down])])] },
      "ok clients get through",
      "ok 12 sessions, 3 new in 5.0 s",
    ],
    [
      "open, and nobody there: not green",
      { targets: [targetOf([poolOf([serverOf("pg1"), down])])] },
      "plain open; no client is seen",
      "plain open; no session, 0 new in 5.0 s",
    ],
    [
      "the only server in maintenance",
      { targets: [targetOf([poolOf([serverOf("pg1", { use: "held", closed: "MAINT" })])])] },
      "bad no server takes sessions: no client can use it",
      "warn MAINT, though its node is fit",
    ],
    [
      "all servers down, because no node is fit",
      { targets: [targetOf([poolOf([down])])] },
      "bad no server takes sessions: no client can use it",
      "idle DOWN",
    ],
    [
      "a server that leads to no member",
      { targets: [targetOf([poolOf([serverOf("pg1", { node: null })])])] },
      "bad look at the marked way",
      "bad leads to no member",
    ],
    [
      "a pooler that leads on to a balancer",
      { targets: [targetOf([poolOf([serverOf("pg1", { node: null })], { only_members: false })])] },
      "stale not known whether clients get through",
      "stale leads on",
    ],
    [
      "sessions at a node that is not fit",
      { targets: [targetOf([poolOf([serverOf("pg1", { sessions: 2, fit: false, reason: "wrong_role" })])])] },
      "warn look at the marked way",
      "warn takes sessions, though its node is wrong role",
    ],
    [
      "attempts that fail",
      { targets: [targetOf([poolOf([serverOf("pg1", { sessions: 2, failed: 4 })])])] },
      "bad look at the marked way",
      "bad 4 attempts to connect failed",
    ],
    [
      "a node that is silent by now",
      { targets: [targetOf([poolOf([busy])])], nodes: [nodeOf("pg1", { evidence: "last known" })] },
      "stale not known whether clients get through",
      "stale not known: the node",
    ],
    [
      "a node that is unfit by now",
      { targets: [targetOf([poolOf([busy])])], nodes: [nodeOf("pg1", { condition: "unfit" })] },
      "stale not known whether clients get through",
      "stale not known: the node",
    ],
    [
      "a paused database",
      { targets: [targetOf([poolOf([busy], { closed: "paused" })])] },
      "bad paused: no client can use it",
      "ok",
    ],
    ["a backend that is not there", { targets: [targetOf([poolOf(null)])] }, "bad it does not have this pool", null],
    [
      "an assignment that was not taken",
      { targets: [targetOf([poolOf([busy], { not_taken: "an old one" })])] },
      "warn it has not taken",
      "ok",
    ],
    ["no server is shown", { targets: [targetOf([poolOf([])])] }, "stale not known: it shows no server", null],
    [
      "a pooler without connections leads to a node",
      { targets: [targetOf([poolOf([], { leads_to: { address: "10.0.0.1:5432", node: "pg1" } })])] },
      "plain open; no client is seen",
      "plain open; no session",
    ],
    [
      "a finding of the server",
      {
        targets: [targetOf([poolOf([busy])])],
        findings: [{ target: "lb1", backend: "w", server: "pg1", what: "leads to pg2" }],
      },
      "bad look at the marked way",
      "bad leads to pg2",
    ],
    [
      "a finding of the pool",
      {
        targets: [targetOf([poolOf([busy])])],
        findings: [{ target: "lb1", backend: "w", server: null, what: "lacks a server for pg2" }],
      },
      "bad lacks a server for pg2",
      "ok",
    ],
    [
      "a target that was not looked at",
      { targets: [targetOf([poolOf([busy])], { up: null })] },
      "stale not looked at yet",
      "stale not known; last seen: 12 sessions",
    ],
    [
      "a balancer that cannot be read",
      { targets: [targetOf([poolOf([busy])], { up: false, problem: "refused" })] },
      "stale not known: cannot be read: refused",
      "stale",
    ],
    [
      "a dead PgBouncer, which its clients cannot reach either",
      { targets: [targetOf([poolOf([busy])], { up: false, problem: "refused", program: "pgbouncer" })] },
      "bad cannot be read: refused",
      "stale",
    ],
    [
      "a look that is too old",
      { targets: [targetOf([poolOf([busy])], { looked_ms_ago: 17_500 })] },
      "stale not known: not looked at for 17.5 s",
      "stale",
    ],
    [
      "a document that is too old",
      { targets: [targetOf([poolOf([busy])])], agoMs: 17_000 },
      "stale not known: not looked at for 18.0 s",
      "stale",
    ],
    [
      "no evidence about the nodes",
      { targets: [targetOf([poolOf([busy])], { is_compared: false })] },
      "stale not known: there is no evidence",
      "stale",
    ],
  ] as const satisfies readonly (readonly [string, Seen, string, string | null])[])
    test(title, () => {
      const [road] = groupsOf(seen)[0]?.roads ?? [];
      assert.ok(`${road?.tone} ${road?.text}`.startsWith(pool), `${road?.tone} ${road?.text}`);
      const [first] = road?.edges ?? [];
      assert.ok(edge === null ? first === undefined : `${first?.tone} ${first?.text}`.startsWith(edge), first?.text);
    });
});

function canaryOf(parts: object): object {
  const times = { tried_at: "2026-11-29T12:00:00Z", failing_since: null, interval_ms: 5_000, took_ms: 4 };
  const none = { server: null, age_ms: null, error: null };
  const plain = { pool: "orders-write", target: "lb:5000/app", kind: "write", state: "committed", node: "pg2" };
  return { ...plain, ...times, ...none, ...parts };
}

const noonMs = Date.parse("2026-11-29T12:00:00Z");
const tooMany = { code: "53300", message: "too many clients already" };
for (const [parts, afterMs, said] of [
  [{}, 3_000, "ok tried 3.0 s ago: committed on pg2 in 4 ms"],
  [{ kind: "read", state: "read", age_ms: 900 }, 3_000, "ok tried 3.0 s ago: read on pg2 in 4 ms, a row 900 ms old"],
  [{ node: null, server: { address: "10.0.0.7" } }, 3_000, "ok tried 3.0 s ago: committed on 10.0.0.7 in 4 ms"],
  [{}, 18_000, "stale not known: tried 18 s ago, and not since"],
  [{ state: "pending", tried_at: null }, 0, "stale not known: not tried yet"],
  [
    { state: "failed", node: null, error: tooMany, failing_since: "2026-11-29T11:59:23Z" },
    3_000,
    "bad tried 3.0 s ago: writes fail: 53300 too many clients already, for 40.0 s",
  ],
  [
    { state: "failed", error: { code: "closed", message: "the connection was closed before the login" } },
    3_000,
    "bad tried 3.0 s ago: writes fail: the connection was closed before the login",
  ],
  [{ state: "failed", kind: "read", error: null }, 60_000, "bad tried 1 min 0 s ago: reads fail: failed"],
] as const)
  test(`a canary: ${said}`, () => {
    const [group] = groupsOf({ canaries: withAges([canaryOf(parts)], noonMs + afterMs) });
    assert.deepEqual(
      [group?.name, group?.canaries.map(({ tone, text }) => `${tone} ${text}`)],
      ["orders-write", [said]],
    );
  });

test("a pool is as bad as the worst way to it: a canary that fails makes sessions that are seen no all-clear", () => {
  const canaries = withAges([canaryOf({ state: "failed", error: tooMany })], noonMs);
  const read = poolOf([busy], { pool: "orders-read", backend: "r" });
  const groups = groupsOf({ targets: [targetOf([read, poolOf([busy])])], canaries });
  assert.deepEqual(
    groups.map(({ name, tone }) => `${name} ${tone}`),
    ["orders-write bad", "orders-read ok"],
  );
});

test("a canary that cannot try is a warning: it says nothing of clients", () => {
  for (const unfit of [true, false]) {
    const failed = canaryOf({ state: "failed", unfit, error: { code: "42501", message: "because" } });
    const [group] = groupsOf({ targets: [targetOf([poolOf([busy])])], canaries: withAges([failed], noonMs) });
    assert.equal(group?.tone, unfit ? "warn" : "bad");
    assert.match(group?.canaries[0]?.text ?? "", unfit ? /: the canary cannot try: / : /: writes fail: /);
    assert.equal(group?.roads[0]?.tone, unfit ? "ok" : "plain");
  }
});

test("where each canary of a pool fails, sessions are no evidence that clients get through", () => {
  const failed = canaryOf({ state: "failed", error: tooMany });
  const targets = [targetOf([poolOf([busy, down])])];
  const saidWith = (canaries: readonly object[]): readonly string[] => {
    const [group] = groupsOf({ targets, canaries: withAges(canaries, noonMs) });
    return (group?.roads ?? []).flatMap(({ tone, text, edges }) => [
      `${tone} ${text}`,
      ...edges.map((one) => one.tone),
    ]);
  };
  assert.deepEqual(saidWith([failed]), ["plain sessions are seen, but canaries fail", "plain", "idle"]);
  assert.deepEqual(saidWith([failed, canaryOf({ target: "lb:6432/app" })]), ["ok clients get through", "ok", "idle"]);
});

test("a target that nothing was ever read of stands for itself, and without any nothing is drawn", () => {
  const [group] = groupsOf({ targets: [targetOf([], { up: false, problem: "refused" })] });
  assert.deepEqual([group?.name, group?.tone], ["lb1", "stale"]);
  assert.deepEqual(groupsOf({}), []);
});

import assert from "node:assert/strict";
import { test } from "node:test";

/** The page is plain JavaScript, which the compiler does not read: its modules are imported by their address. */
async function load(path: string): Promise<Record<string, (...values: readonly unknown[]) => unknown>> {
  return (await import(new URL(`../../../../src/features/page/web/${path}`, import.meta.url).href)) as never;
}

const format = await load("parts/format.js");
const { selectRows, countRows } = await load("live/fleet-order.js");
const { flowOf } = await load("parts/flow.js");
const { withPast } = await load("views/lag-chart.js");
const { afterDrain } = await load("actions/drain.js");
const { isLastKnown, toneOfEvent } = await load("parts/condition.js");
const { byBackend } = await load("views/edges.js");
const { changedSince } = await load("views/recent.js");
const { comparison, exceededText, mergedLimits, pastLimitsText } = await load("parts/limits.js");

for (const [name, value, text] of [
  ["bytesText", null, "–"],
  ["bytesText", 0, "0 B"],
  ["bytesText", 1_023, "1023 B"],
  ["bytesText", 7_782, "7.6 kB"],
  ["bytesText", 943_718_400, "900 MB"],
  ["durationText", 850, "850 ms"],
  ["durationText", 59_999, "59.9 s"],
  ["durationText", 60_000, "1 min 0 s"],
  ["durationText", 11_100_000, "3 h 5 min"],
  ["durationText", 187_200_000, "2 d 4 h"],
  ["ageText", null, "never"],
  ["ageText", 5_540, "5.5 s"],
  ["ageText", 32_900, "32 s"],
  ["lsnText", null, "–"],
  ["lsnText", 50_332_000, "0/3000160"],
  ["lsnText", 0x1_0000_0000 * 5 + 255, "5/FF"],
  ["wordsOf", "not_writable", "not writable"],
] as const) {
  test(`${name} of ${value} is ${text}`, () => assert.equal(format[name]?.(value), text));
}

function rowOf(cluster: string, parts: object = {}): { readonly cluster: string } {
  const row = { leader: "pg1", primary: "pg1", nodes: 3, replicas: 2, replicas_fit: 2, lag_bytes: 0, drains: 0 };
  const none = { condition: "ok", warnings: 0, rivals: 0, blind: false, problems: [], problem_count: 0 };
  return { cluster, ...row, ...none, ...parts };
}

const problem = { problems: [{ node: "pg2", reason: "detached" }], problem_count: 1, condition: "degraded" };
const rows = [
  rowOf("db10"),
  rowOf("db2"),
  rowOf("db3", problem),
  rowOf("db4", { primary: null, condition: "without a primary" }),
  rowOf("db5", { drains: 1, condition: "drained" }),
  rowOf("db6", { blind: true, condition: "blind" }),
  rowOf("db7", { ...problem, rivals: 2, condition: "two primaries" }),
  rowOf("db8", { lag_bytes: 5_000 }),
];
const wanted = { search: "", condition: "all", order: "problem", ageOf: () => 0 };

for (const { title, change, names } of [
  { title: "problems first, then by name", change: {}, names: "db7 db4 db6 db3 db5 db2 db8 db10" },
  { title: "by name, numbers as numbers", change: { order: "name" }, names: "db2 db3 db4 db5 db6 db7 db8 db10" },
  { title: "by lag", change: { order: "lag" }, names: "db8 db2 db3 db4 db5 db6 db7 db10" },
  { title: "only problems", change: { condition: "problems" }, names: "db7 db4 db6 db3" },
  { title: "only drained", change: { condition: "drained" }, names: "db5" },
  { title: "by words of problems", change: { search: "DETACHED pg2" }, names: "db7 db3" },
  { title: "nothing fits", change: { search: "nowhere" }, names: "" },
]) {
  test(`the fleet: ${title}`, () => {
    const shown = selectRows?.(rows, { ...wanted, ...change }) as typeof rows;
    assert.equal(shown.map(({ cluster }) => cluster).join(" "), names);
  });
}

test("counts the rows of each filter", () => {
  const counts = Object.fromEntries(countRows?.(rows) as Map<string, number>);
  assert.deepEqual([counts["all"], counts["problems"], counts["ok"], counts["two primaries"]], [8, 4, 3, 1]);
});

function nodes(...pairs: readonly (readonly [string, string | null])[]): object[] {
  return pairs.map(([node, upstream]) => ({ node, upstream }));
}

for (const { title, cluster, roots, apart } of [
  {
    title: "leader, replicas and a cascade",
    cluster: { leader: "a", nodes: nodes(["a", null], ["b", "a"], ["c", "b"]) },
    roots: "a",
    apart: "",
  },
  {
    title: "a node that nobody sends to is apart",
    cluster: { leader: "a", nodes: nodes(["a", null], ["b", null]) },
    roots: "a",
    apart: "b",
  },
  {
    title: "a second sender is a root too, after the leader",
    cluster: { leader: "x", nodes: nodes(["a", null], ["b", "a"], ["x", null]) },
    roots: "x a",
    apart: "",
  },
  {
    title: "a ring ends",
    cluster: { leader: null, nodes: nodes(["a", "b"], ["b", "a"]) },
    roots: "",
    apart: "a b",
  },
  { title: "no node", cluster: { leader: null, nodes: [] }, roots: "", apart: "" },
]) {
  test(`the WAL flow: ${title}`, () => {
    const flow = flowOf?.(cluster) as { roots: { node: string }[]; apart: { node: string }[] };
    const names = (list: readonly { node: string }[]): string => list.map(({ node }) => node).join(" ");
    assert.deepEqual([names(flow.roots), names(flow.apart)], [roots, apart]);
  });
}

for (const { title, past, result } of [
  { title: "none was kept", past: null, result: { b: [[50, 7]] } },
  {
    title: "samples of the page replace those of the same time",
    past: { at: [10, 50], nodes: { a: [null, null], b: [1, 2] } },
    result: {
      b: [
        [10, 1],
        [50, 7],
      ],
    },
  },
  {
    title: "a node that the page has not seen since",
    past: { at: [10, 50], nodes: { c: [3, null] } },
    result: {
      b: [[50, 7]],
      c: [
        [10, 3],
        [50, null],
      ],
    },
  },
  { title: "the leader has no line", past: { at: [10], nodes: { a: [5] } }, result: { b: [[50, 7]] } },
]) {
  test(`the lag before the page was opened: ${title}`, () => {
    const samples = withPast?.(new Map([["b", [[50, 7]]]]), past, "a") as Map<string, unknown>;
    assert.deepEqual(Object.fromEntries(samples), result);
  });
}

for (const { title, node, isAll, text } of [
  { title: "of a replica", node: "b", isAll: false, text: "After this drain 1 replica is fit for reads." },
  { title: "of an unfit replica", node: "d", isAll: false, text: "After this drain 2 replicas are fit for reads." },
  { title: "of the leader", node: "a", isAll: false, text: "a leads: it keeps the writes, and leaves the read pools." },
  {
    title: "of the leader in all",
    node: "a",
    isAll: true,
    text: "a leads. If checks of the primary are refused too, no node accepts writes.",
  },
]) {
  test(`the preview of a drain ${title}`, () => {
    const verdicts = { a: "wrong_role", b: "fit", c: "fit", d: "detached" };
    const each = Object.entries(verdicts).map(([name, replica]) => ({ node: name, verdicts: { replica } }));
    assert.equal(afterDrain?.({ leader: "a", nodes: each }, { node }, isAll), text);
  });
}

for (const [bytes, ms, bytesMax, msMax, word] of [
  [10, 0, 10, null, "within"],
  [11, 0, 10, null, "over"],
  [0, 6, null, 5, "over"],
  [0, 5, 10, 5, "within"],
  [null, 0, 10, 5, "unknown"],
  [null, 6, 10, 5, "over"],
  [null, 0, null, 5, "within"],
] as const)
  test(`a lag of ${bytes} bytes and ${ms} ms against ${bytesMax} bytes and ${msMax} ms is ${word}`, () => {
    const limit = { lag_bytes: bytesMax, lag_ms: msMax };
    assert.equal(comparison?.({ evidence: "fresh", lag_bytes: bytes, lag_ms: ms }, limit), word);
    for (const evidence of ["last known", "none"])
      assert.equal(comparison?.({ evidence, lag_bytes: bytes, lag_ms: ms }, limit), "unknown", evidence);
  });

for (const [bytes, ms, bytesMax, msMax, text] of [
  [0, 12_000, 10_485_760, 10_000, "10.0 s"],
  [20_971_520, 0, 10_485_760, 10_000, "10 MB"],
  [20_971_520, 12_000, 10_485_760, 10_000, "10 MB and 10.0 s"],
  [20_971_520, null, 10_485_760, null, "10 MB"],
  [null, 12_000, 10_485_760, 10_000, "10.0 s"],
  [0, 0, 10_485_760, 10_000, ""],
] as const)
  test(`of a limit of ${bytesMax} bytes and ${msMax} ms, a lag of ${bytes} bytes and ${ms} ms exceeds "${text}"`, () =>
    assert.equal(exceededText?.({ lag_bytes: bytes, lag_ms: ms }, { lag_bytes: bytesMax, lag_ms: msMax }), text));

for (const [evidence, nodeAgeMs, ageMs, isHeld] of [
  ["fresh", 500, 500, false],
  ["last known", 90_000, 90_000, true],
  ["last known", 90_000, 87_500, true],
  ["last known", 90_000, 400, false],
  ["last known", 90_000, null, false],
  ["none", null, 400, false],
] as const)
  test(`a rule on evidence of ${ageMs} ms is ${isHeld ? "" : "not "}last known: node ${evidence}, ${nodeAgeMs} ms`, () =>
    assert.equal(isLastKnown?.({ age_ms: ageMs }, { evidence, age_ms: nodeAgeMs }), isHeld));

test("a rule on all nodes is not last known, because one of them does not answer", () =>
  assert.equal(
    isLastKnown?.({ age_ms: 90_000, source: "all nodes" }, { evidence: "last known", age_ms: 90_000 }),
    false,
  ));

test("checks are grouped by backend and cluster, servers by name", () => {
  const row = (backend: string, server: string, cluster = "demo"): object => ({ backend, server, cluster });
  const checks = [row("w", "pg10"), row("r", "pg2"), row("w", "pg2"), row("w", "pg1", "other")];
  const groups = byBackend?.(checks) as { backend: string; cluster: string; rows: { server: string }[] }[];
  assert.deepEqual(
    groups.map(({ backend, cluster, rows: own }) => [backend, cluster, own.map(({ server }) => server).join(" ")]),
    [
      ["r", "demo", "pg2"],
      ["w", "demo", "pg2 pg10"],
      ["w", "other", "pg1"],
    ],
  );
});

// The clock of the browser may be late: what happened "after" now, as 3, is at its end.
for (const { cluster, changes } of [
  { cluster: "demo", changes: "2 at 500, 5 at 600, 3 at 800" },
  { cluster: null, changes: "2 at 500, 5 at 600, 4 at 700, 3 at 800" },
])
  test(`the strip of the last minutes of ${cluster ?? "all clusters"} has each event once, oldest first`, () => {
    const event = (id: string, ms: number, of: string | null = "demo"): object => ({
      id,
      at: new Date(ms).toISOString(),
      cluster: of,
    });
    const events = [event("3", 900), event("2", 500), event("3", 900), event("1", 99), event("4", 700, "other")];
    const time = { fromMs: 100, toMs: 800 };
    const found = changedSince?.([...events, event("5", 600, null)], { ...time, cluster }) as {
      id: string;
      atMs: number;
    }[];
    assert.equal(found.map(({ id, atMs }) => `${id} at ${atMs}`).join(", "), changes);
  });

test("an instant has its day and zone, and its year if that is another one", () => {
  const at = new Date(2026, 10, 26, 3, 12, 5);
  assert.match(String(format["dateText"]?.(at, at)), /^\D*26\D+03:12:05 \S+|26 \S+ 03:12:05 \S+/);
  assert.match(String(format["dateText"]?.(at, new Date(2027, 0, 1))), /^2026 /);
  assert.equal(format["dateText"]?.("never"), "–");
});

test("limits of equal figures and route are one, with all who set it", () => {
  const limit = { lag_bytes: 10, lag_ms: null, of: null };
  const merged = mergedLimits?.([
    { ...limit, route: "replica", source: "checks" },
    { ...limit, route: "replica", source: "push", of: "lb1/r" },
    { ...limit, route: null, source: "defaults", of: "127.0.0.1:8008" },
    { ...limit, route: null, source: "failover" },
  ]) as { target: string; setBy: string[] }[];
  assert.deepEqual(
    merged.map(({ target, setBy }) => `${target}: ${setBy.join(", ")}`),
    [
      "/replica: checks of balancers, pushes to lb1/r",
      "every check: defaults of the listener 127.0.0.1:8008",
      "a failover: maximum_lag_on_failover of the cluster",
    ],
  );
});

const [ownLimit, clusterLimit] = [{ source: "checks" }, { source: "failover" }];
for (const [limits, known_at_ms, is_failover_known, text] of [
  [
    [],
    null,
    false,
    /does not state the limits of checks, listeners and pushes\. The limit for a failover is not known at/,
  ],
  [[clusterLimit], null, true, /does not state the limits of checks[^]* The limit for a failover is that of the shown/],
  [[ownLimit, clusterLimit], 0, true, /are those of .*, when this recording was read .* failover is that of the shown/],
  [
    [clusterLimit],
    0,
    true,
    /was read from rolecall \(.*\), no check, listener or push had a limit for lag\. The limit/,
  ],
] as const)
  test(`what a recording knows of the limits: ${text.source}`, () =>
    assert.match(String(pastLimitsText?.({ limits, known_at_ms, is_failover_known })), text));

for (const [kind, severity, tone] of [
  ["primary_found", "error", "bad"],
  ["primary_found", "warning", "warn"],
  ["primary_found", "info", "ok"],
  ["primary_lost", "error", "bad"],
  ["node_down", "warning", "warn"],
])
  test(`an event ${kind} of severity ${severity} is shown as ${tone}`, () =>
    assert.equal(toneOfEvent?.({ kind, severity }), tone));

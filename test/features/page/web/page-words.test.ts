import assert from "node:assert/strict";
import { test } from "node:test";

/** The page is plain JavaScript, which the compiler does not read: its modules are imported by their address. */
async function load<N extends string>(path: string): Promise<Record<N, (...values: readonly unknown[]) => unknown>> {
  return (await import(new URL(`../../../../src/features/page/web/${path}`, import.meta.url).href)) as never;
}

const { shapeOf } = await load<"shapeOf">("parts/route.js");
const { cellsOf, verdictGroups } = await load<"cellsOf" | "verdictGroups">("views/verdict-table.js");
const { groupedProblems } = await load<"groupedProblems">("views/fleet-table.js");
const { placedLabels, limitLines, topOf } = await load<"placedLabels" | "limitLines" | "topOf">("views/lag-chart.js");
const { mergedLimits } = await load<"mergedLimits">("parts/limits.js");
const { CodeText } = await load<"CodeText">("parts/marks.js");

for (const [path, shape] of [
  ["", "fleet"],
  ["clusters", "fleet"],
  ["clusters/demo", "cluster"],
  ["clusters/demo/at/2026-11-21T03:12:00.000Z", "cluster"],
  ["clusters/demo/at/nonsense", null],
  ["clusters/demo/at", null],
  ["clusters/demo/nodes/pg1", "node"],
  ["clusters/demo/nodes", null],
  ["clusters/demo/nodes/pg1/more", null],
  ["clusters/demo/nonsense", null],
  ["events", "events"],
  ["events/nonsense", null],
  ["edges", "edges"],
  ["reasons", "reasons"],
  ["reasons/down", "reasons"],
  ["nonsense", null],
] as const)
  test(`#/${path} is ${shape ?? "no view"}`, () => assert.equal(shapeOf(path.split("/").filter(Boolean)), shape));

for (const [verdicts, cells] of [
  ["fit fit", ["fit", "fit"]],
  ["down down down", ["down×3"]],
  ["down fit down down", ["down", "fit", "again×2"]],
  ["wrong_role detached wrong_role", ["wrong_role", "detached", "again"]],
] as const)
  test(`a row of verdicts says each reason once: ${verdicts}`, () => {
    const list = verdicts.split(" ");
    const routes = list.map((_, at) => `r${at}`);
    const row = cellsOf(routes, Object.fromEntries(list.map((verdict, at) => [`r${at}`, verdict]))) as {
      verdict: string;
      count: number;
      isAgain: boolean;
    }[];
    const said = row.map(
      ({ verdict, count, isAgain }) => `${isAgain ? "again" : verdict}${count > 1 ? `×${count}` : ""}`,
    );
    assert.deepEqual(said, cells);
  });

test("the verdicts of a node: what it is fit for, why it is refused, and last what another role is for", () =>
  assert.deepEqual(verdictGroups({ primary: "wrong_role", replica: "detached", health: "fit", async: "detached" }), [
    { verdict: "fit", routes: ["health"] },
    { verdict: "detached", routes: ["replica", "async"] },
    { verdict: "wrong_role", routes: ["primary"] },
  ]));

test("a row of the fleet says each reason once, with its nodes", () =>
  assert.deepEqual(
    groupedProblems([
      { node: "pg1", reason: "down", detail: "refused" },
      { node: "pg2", reason: "detached", detail: "8s" },
      { node: "pg3", reason: "down", detail: "timeout" },
    ]),
    [
      { nodes: ["pg1", "pg3"], reason: "down", detail: null },
      { nodes: ["pg2"], reason: "detached", detail: "8s" },
    ],
  ));

function mark(x: number, text: string, severity = "info"): object {
  return { x, text, severity, width: 50 };
}

for (const [title, marks, placed] of [
  [
    "the worst first, and none over another",
    [mark(100, "a"), mark(110, "b", "error"), mark(120, "c")],
    { b: 114, a: 46 },
  ],
  ["left of its line at the right edge", [mark(390, "a")], { a: 336 }],
  ["none where there is no room", [mark(20, "a", "error"), mark(30, "b"), mark(40, "c")], { a: 24 }],
] as const)
  test(`names of events in the chart: ${title}`, () => {
    const labels = placedLabels(marks, { left: 0, right: 400, gap: 8 }) as { from: number; text: string }[];
    assert.deepEqual(Object.fromEntries(labels.map(({ from, text }) => [text, from])), placed);
    const sorted = labels.map(({ from }) => from).toSorted((one, other) => one - other);
    for (const [at, from] of sorted.entries()) if (at > 0) assert.ok(from - (sorted[at - 1] ?? 0) >= 58);
  });

const kB = 1_024;
const limits = [
  { lag_bytes: 16 * kB * kB, target: "/replica" },
  { lag_bytes: kB * kB, target: "a failover" },
  { lag_bytes: kB * kB, target: "/sync" },
  { lag_bytes: null, target: "/async" },
];
test("the chart scales to the data; a limit that is near is in it, others are one line at its edge", () => {
  assert.equal(topOf(0, limits), 32 * kB);
  assert.equal(topOf(100 * kB, limits), 115 * kB);
  assert.ok(Number(topOf(400 * kB, limits)) > kB * kB);
  assert.ok(Number(topOf(12 * kB * kB, limits)) > 16 * kB * kB);
  assert.deepEqual(limitLines(limits, 32 * kB), [
    { bytes: null, text: "above: limit 1.0 MB of a failover, /sync; 16 MB of /replica" },
  ]);
  assert.deepEqual(limitLines(limits, 2 * kB * kB), [
    { bytes: null, text: "above: limit 16 MB of /replica" },
    { bytes: kB * kB, text: "limit 1.0 MB of a failover, /sync" },
  ]);
  assert.deepEqual(limitLines([], 1), []);
});

test("a limit of a pool, and of a source that this page does not know, says who sets it", () => {
  const limit = { route: "replica", lag_bytes: 1, lag_ms: null };
  const [merged] = mergedLimits([
    { ...limit, source: "pool", of: "orders-read" },
    { ...limit, source: "newer", of: null },
  ]) as { setBy: string[] }[];
  assert.deepEqual(merged?.setBy, ["the pool orders-read", "newer"]);
});

test("what stands between backticks is code, and nothing else is", () => {
  const said = (text: string): unknown =>
    (CodeText({ text }) as (string | { type: string; props: { children: string } })[])
      .filter((part) => part !== "")
      .map((part) => (typeof part === "string" ? part : `<${part.type}>${part.props.children}`));
  assert.deepEqual(said("Run `rolecall drain pg1 --end`, then `b`"), [
    "Run ",
    "<code>rolecall drain pg1 --end",
    ", then ",
    "<code>b",
  ]);
  assert.deepEqual(said("one ` alone"), ["one ` alone"]);
});

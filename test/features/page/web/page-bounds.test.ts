import assert from "node:assert/strict";
import { test } from "node:test";

/** The page is plain JavaScript, which the compiler does not read: its modules are imported by their address. */
async function load<N extends string>(path: string): Promise<Record<N, (...values: readonly unknown[]) => unknown>> {
  return (await import(new URL(`../../../../src/features/page/web/${path}`, import.meta.url).href)) as never;
}

const { flowOf } = await load<"flowOf">("parts/flow.js");
const { sortedNodes, namesText } = await load<"sortedNodes" | "namesText">("parts/many.js");
const { mergedMarks } = await load<"mergedMarks">("past/time-marks.js");
const { PastStore } = (await load<"PastStore">("past/past-store.js")) as unknown as {
  readonly PastStore: new (opened: object, options: object) => { readonly openingMs: number };
};
const { segmentsOf } = await load<"segmentsOf">("views/strips.js");
const { drainText } = await load<"drainText">("parts/format.js");

interface Tree {
  readonly node: { readonly node: string };
  readonly isDeeper: boolean;
  readonly below: readonly Tree[];
}

interface Flow {
  readonly trees: readonly Tree[];
  readonly apart: readonly unknown[];
  readonly left: number;
}

function cascade(count: number): { leader: string; nodes: { node: string; upstream: string | null }[] } {
  const nodes = Array.from({ length: count }, (_, at) => ({
    node: `n${at}`,
    upstream: at === 0 ? null : `n${at - 1}`,
  }));
  return { leader: "n0", nodes };
}

function depthOf(trees: readonly Tree[]): number {
  return trees.length === 0 ? 0 : 1 + Math.max(...trees.map(({ below }) => depthOf(below)));
}

function all(trees: readonly Tree[]): readonly Tree[] {
  return trees.flatMap((tree) => [tree, ...all(tree.below)]);
}

for (const count of [1, 6, 7, 40, 5_000])
  test(`a cascade of ${count} nodes has at most six levels, and every node once`, () => {
    const { trees, apart } = flowOf(cascade(count)) as Flow;
    const drawn = all(trees);
    assert.deepEqual(
      drawn.map(({ node }) => node.node),
      cascade(count).nodes.map(({ node }) => node),
    );
    assert.equal(depthOf(trees), Math.min(count, 6));
    assert.equal(drawn.filter(({ isDeeper }) => isDeeper).length, Math.max(0, count - 6));
    assert.deepEqual(apart, []);
  });

test("a ring of senders ends, with those that receive from it", () => {
  const ring = [
    { node: "a", upstream: "c" },
    { node: "b", upstream: "a" },
    { node: "c", upstream: "b" },
    { node: "d", upstream: "c" },
    { node: "e", upstream: "e" },
  ];
  const { trees, apart } = flowOf({ leader: "x", nodes: [...ring, { node: "x", upstream: "a" }] }) as Flow;
  assert.deepEqual(
    all(trees).map(({ node }) => node.node),
    ["x"],
    "the leader receives from nobody, whatever is reported",
  );
  assert.deepEqual(
    apart,
    ring.map((node) => ({ ...node })),
  );
});

test("only as much of the flow is drawn as is wanted, and the rest is counted", () => {
  const { trees, left } = flowOf(cascade(100), 10) as Flow;
  assert.deepEqual([all(trees).length, left], [10, 90]);
});

function nodesOf(count: number, unfit: string): object[] {
  return Array.from({ length: count }, (_, at) => {
    const condition = `pg${at}` === unfit ? "unfit" : "ok";
    return { node: `pg${at}`, condition };
  });
}

test("nodes in trouble come first only if not all nodes are drawn", () => {
  const first = (count: number): readonly string[] =>
    (sortedNodes({ nodes: nodesOf(count, "pg40"), leader: "pg3" }) as { node: string }[])
      .slice(0, 3)
      .map(({ node }) => node);
  assert.deepEqual(first(60), ["pg3", "pg0", "pg1"]);
  assert.deepEqual(first(61), ["pg3", "pg40", "pg0"]);
});

for (const [count, text] of [
  [0, "none"],
  [2, "n1, n2"],
  [20, /, n20$/],
  [2_000, /^n1, n2, [^]*, n20 and 1980 more$/],
] as const)
  test(`the names of ${count} nodes`, () => {
    const names = String(namesText(Array.from({ length: count }, (_, at) => `n${at + 1}`)));
    if (typeof text === "string") assert.equal(names, text);
    else assert.match(names, text);
  });

interface Mark {
  readonly atMs: number;
  readonly tone: string;
  readonly text: string;
}

function event(atMs: number, severity = "info"): object {
  return { atMs, severity, kind: "node_down", message: `at ${atMs}` };
}

test("marks that cannot be told apart are one, with the worst tone, their number and the first texts", () => {
  const events = [event(-5), event(0), event(1, "error"), ...Array.from({ length: 7 }, () => event(2)), event(9_000)];
  const marks = mergedMarks(events, { fromMs: 0, toMs: 9_000 }) as readonly Mark[];
  assert.deepEqual(
    marks.map(({ atMs, tone }) => [atMs, tone]),
    [
      [0, "bad"],
      [9_000, "ok"],
    ],
  );
  assert.match(marks[0]?.text ?? "", /^9 events\nnode down: at 0\n[^]*and 4 more$/);
  assert.equal(marks[1]?.text, "node down: at 9000");
});

test("a time line has a bounded number of marks, and an incident of one instant has one", () => {
  const events = Array.from({ length: 20_000 }, (_, at) => event(at));
  assert.equal((mergedMarks(events, { fromMs: 0, toMs: 19_999 }) as readonly Mark[]).length, 320);
  assert.equal((mergedMarks([event(7), event(7)], { fromMs: 7, toMs: 7 }) as readonly Mark[]).length, 1);
});

test("a strip has a bounded number of segments: those too short to be seen are merged, and unfit ones stay", () => {
  const untilMs = Date.parse("2026-11-22T12:00:00Z");
  const changes = Array.from({ length: 9_000 }, (_, at) => ({
    at: new Date(untilMs - 900_000 + at * 100).toISOString(),
    after: { role: "replica", primary: "wrong_role", replica: at % 2 === 0 ? "fit" : "down" },
    failure: null,
  }));
  const segments = segmentsOf(changes, untilMs) as readonly {
    kind: string;
    fromMs: number;
    toMs: number;
    title: string;
  }[];
  assert.ok(segments.length <= 450, `${segments.length} segments`);
  assert.ok(segments.every(({ kind }) => kind === "unfit"));
  assert.match(segments[5]?.title ?? "", /: \d+ changes, down$/);
  assert.equal(segments.at(-1)?.toMs, untilMs);
  for (const [at, { fromMs }] of segments.entries()) if (at > 0) assert.equal(fromMs, segments[at - 1]?.toMs);
});

for (const [drain, text] of [
  [null, /^none$/],
  [{ all: false, by: "root (ann)", reason: "disk", until: "x" }, /^reads by root \(ann\) until [^]*: disk$/],
  [{ all: true, by: null, reason: "disk", until: "x" }, /^all checks until [^]*: disk$/],
] as const)
  test(`a drain in words: ${text.source}`, () => assert.match(String(drainText(drain)), text));

interface Opened {
  readonly settledMs: number;
  readonly events: readonly (readonly [string, number])[];
}

/** The instant at which a file from 0 to 600 s opens, in s. */
function openingOf({ settledMs, events }: Opened): number {
  const marks = events.map(([severity, atS]) => ({ severity, at: atS * 1_000 }));
  const opened = { settledMs, fromMs: 0, toMs: 600_000, beganWallMs: null, events: marks, changes: [], samples: [] };
  return new PastStore(opened, { isFile: true }).openingMs / 1_000;
}

for (const [title, opened, seconds] of [
  [
    "its first error",
    {
      settledMs: 1_000,
      events: [
        ["warning", 40],
        ["error", 70],
        ["error", 50],
      ],
    },
    50,
  ],
  [
    "its first warning, without an error",
    {
      settledMs: 1_000,
      events: [
        ["info", 5],
        ["warning", 40],
      ],
    },
    40,
  ],
  ["its middle, without either", { settledMs: 1_000, events: [["info", 5]] }, 300],
  [
    "an error after every node was probed",
    {
      settledMs: 10_000,
      events: [
        ["error", 2],
        ["error", 90],
      ],
    },
    90,
  ],
  ["its middle, if all trouble is before that", { settledMs: 10_000, events: [["error", 2]] }, 300],
  ["when every node was probed, if that is late", { settledMs: 400_000, events: [["error", 2]] }, 400],
  ["its first error, if a node was never probed", { settledMs: 600_000, events: [["error", 2]] }, 2],
] as const satisfies readonly (readonly [string, Opened, number])[])
  test(`an incident file opens at ${title}`, () => {
    assert.equal(openingOf(opened), seconds);
  });

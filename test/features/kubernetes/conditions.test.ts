/** What is found of the Services of a cluster, and what the situation says of it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { servicesFound } from "../../../src/features/kubernetes/conditions.ts";
import type { SeenService, ServiceProblem } from "../../../src/features/kubernetes/core/seen-service.ts";

const nowMs = 100_000;

function seen(service: string, parts: Partial<SeenService> = {}): SeenService {
  return {
    service,
    cluster: "demo",
    pool: "writes",
    standing: { kind: "agreed", sinceMs: 0 },
    writer: "edge-1",
    isMine: true,
    isMisleading: false,
    endpoints: [],
    wroteAtMs: null,
    problems: [],
    ...parts,
  };
}

function problem(kind: ServiceProblem["kind"], sinceMs: number = 50_000): ServiceProblem {
  return { kind, text: `${kind} of databases`, sinceMs };
}

const due = { standing: { kind: "due", sinceMs: 0 }, isMisleading: true } as const;
const left = { standing: { kind: "left", sinceMs: 80_000 }, writer: "edge-2" } as const;

/** The Services, and what is found: the condition, its severity, what the situation says, and what to do. */
const rows: readonly (readonly [string, readonly SeenService[], readonly (readonly string[])[]])[] = [
  ["nothing is wrong", [seen("a"), seen("b")], []],
  [
    "the API server is away, and all is published",
    [seen("a", { problems: [problem("away")] })],
    [["service_unpublished", "warning", "warning", "a Service cannot be published", "Look at the API server"]],
  ],
  [
    "it is away, and a Service leads elsewhere than it should",
    [seen("a", { ...due, problems: [problem("away")] }), seen("b")],
    [
      [
        "service_unpublished",
        "error",
        "clients failing",
        "a Service leads elsewhere than it should",
        "Look at the API server",
      ],
    ],
  ],
  ["it is away for a moment", [seen("a", { ...due, problems: [problem("away", 98_000)] })], []],
  [
    "a right is missing since a moment",
    [seen("a", { problems: [problem("forbidden", nowMs)] })],
    [["service_unpublished", "warning", "warning", "a Service cannot be published", "Grant the right"]],
  ],
  [
    "there is no such Service",
    [seen("a", { standing: { kind: "unusable", sinceMs: 0 }, problems: [problem("unusable")] })],
    [["service_unpublished", "warning", "warning", "a Service cannot be published", "Create the Service"]],
  ],
  [
    "the API server refuses what is written",
    [seen("a", { ...due, problems: [problem("refused")] })],
    [
      [
        "service_unpublished",
        "error",
        "clients failing",
        "a Service leads elsewhere than it should",
        "Look at what the API server says",
      ],
    ],
  ],
  [
    "something else claims it, and a right is missing",
    [seen("a", { problems: [problem("claimed"), problem("forbidden")] })],
    [
      ["service_unpublished", "warning", "warning", "a Service cannot be published", "Grant the right"],
      ["service_claimed", "warning", "warning", "something else claims a Service", "Take away the other claim"],
    ],
  ],
  [
    "another rolecall publishes something else",
    [seen("a", left)],
    [["service_differs", "warning", "warning", "another rolecall publishes something else", "Compare"]],
  ],
  [
    "another one has published something else just now",
    [seen("a", { ...left, standing: { kind: "left", sinceMs: 95_000 } })],
    [],
  ],
];

describe("the conditions of Services", () => {
  for (const [what, services, expected] of rows)
    test(what, () => {
      const found = servicesFound(services, nowMs, (ms) => ms);
      const told = found.map(({ condition, found: one }) => {
        assert.ok("tellCase" in condition.status);
        const { condition: word, wrong, action } = condition.status.tellCase(one);
        return [condition.id, one.severity, word, wrong, action ?? ""];
      });
      assert.equal(told.length, expected.length, JSON.stringify(told));
      for (const [at, [id, severity, word, wrong, action = ""]] of expected.entries()) {
        assert.deepEqual(told[at]?.slice(0, 4), [id, severity, word, wrong]);
        assert.ok(told[at]?.[4]?.startsWith(action), told[at]?.[4]);
      }
    });

  test("one case tells of all Services of a cluster, each cause once, and since when the first one has it", () => {
    const services = ["a", "b", "c", "d"].map((name, at) =>
      seen(name, { problems: [{ ...problem("away", 60_000 - at * 1_000), text: at < 2 ? "one" : name }] }),
    );
    const [{ found } = { found: null }, ...others] = servicesFound(services, nowMs, (ms) => ms + 5);
    assert.deepEqual(others, []);
    assert.equal(found?.message, "one; c; d");
    assert.deepEqual(found.figures, { problem: "away", services: "a,b,c", count: 4 });
    assert.equal(found.sinceMs, 57_005);
  });
});

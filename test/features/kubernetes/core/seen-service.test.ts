import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  lastingProblems,
  type SeenService,
  seenBalancer,
  serviceDocument,
  serviceText,
} from "../../../../src/features/kubernetes/core/seen-service.ts";

const nowMs = 100_000;

function seen(parts: Partial<SeenService> = {}): SeenService {
  return {
    service: "databases/orders",
    cluster: "demo",
    pool: "writes",
    standing: { kind: "agreed", sinceMs: 0 },
    writer: "edge-1",
    isMine: true,
    isMisleading: false,
    endpoints: [
      { ip: "10.0.0.1", port: 5432, isReady: true, isServing: true },
      { ip: "10.0.0.2", port: 5432, isReady: false, isServing: true },
      { ip: "fd00::3", port: 5432, isReady: false, isServing: false },
    ],
    wroteAtMs: 99_000,
    problems: [],
    ...parts,
  };
}

const away = { kind: "away", text: "leases of databases: connection refused", sinceMs: 90_000 } as const;
const forbidden = { kind: "forbidden", text: "status 403: patch", sinceMs: nowMs } as const;

/** What is seen, its state in documents, and its text. */
const rows: readonly (readonly [string, Partial<SeenService>, string, string])[] = [
  ["published by this one", {}, "published", "databases/orders leads to 10.0.0.1:5432, published by this rolecall"],
  [
    "published by another one",
    { writer: "edge-2", isMine: false },
    "published",
    "databases/orders leads to 10.0.0.1:5432, published by edge-2",
  ],
  [
    "published by one that has resigned",
    { writer: null, isMine: false },
    "published",
    "databases/orders leads to 10.0.0.1:5432, published by nobody",
  ],
  [
    "a change is to be written",
    { standing: { kind: "due", sinceMs: nowMs } },
    "pending",
    "databases/orders leads to 10.0.0.1:5432, published by this rolecall",
  ],
  [
    "without evidence",
    { standing: { kind: "silent", sinceMs: 0 } },
    "silent",
    "databases/orders leads to 10.0.0.1:5432, published by this rolecall",
  ],
  ["at the start", { standing: { kind: "unread", sinceMs: 0 } }, "unknown", "databases/orders is not known yet"],
  ["nobody is ready", { endpoints: [] }, "published", "databases/orders leads nowhere, published by this rolecall"],
  [
    "another one has written something else just now",
    { standing: { kind: "left", sinceMs: nowMs - 9_999 }, writer: "edge-2", isMine: false },
    "published",
    "databases/orders leads to 10.0.0.1:5432, published by edge-2",
  ],
  [
    "another one publishes something else",
    { standing: { kind: "left", sinceMs: nowMs - 10_000 }, writer: "edge-2", isMine: false },
    "differs",
    "databases/orders leads to 10.0.0.1:5432, published by edge-2; this rolecall sees something else",
  ],
  [
    "the API server is away",
    { problems: [away] },
    "published",
    "databases/orders: leases of databases: connection refused",
  ],
  [
    "the API server is away for a moment",
    { problems: [{ ...away, sinceMs: nowMs - 2_999 }] },
    "published",
    "databases/orders leads to 10.0.0.1:5432, published by this rolecall",
  ],
  ["a right is missing", { problems: [forbidden] }, "published", "databases/orders: status 403: patch"],
];

describe("a Service as it is seen", () => {
  for (const [what, parts, state, text] of rows)
    test(what, () => {
      const { state: said, text: words } = serviceDocument(seen(parts), nowMs);
      assert.deepEqual([said, words, serviceText(seen(parts), nowMs)], [state, text, text]);
    });

  test("a document says who has written it, when, and where it leads", () => {
    assert.deepEqual(serviceDocument(seen({ problems: [forbidden] }), nowMs), {
      service: "databases/orders",
      pool: "writes",
      state: "published",
      published_by: "edge-1",
      mine: true,
      ready: ["10.0.0.1:5432"],
      written_ms_ago: 1_000,
      problem: { kind: "forbidden", text: "status 403: patch" },
      text: "databases/orders: status 403: patch",
    });
  });

  test("as a balancer its addresses are its servers", () => {
    const balancer = seenBalancer(seen(), nowMs, "/etc/kubeconfig");
    assert.deepEqual(balancer, {
      balancer: "databases/orders",
      kind: "kubernetes",
      socket: "/etc/kubeconfig",
      up: true,
      version: null,
      waiting: 0,
      pushed_ms_ago: 1_000,
      published_by: "edge-1",
      problems: [],
      servers: [
        { backend: "writes", server: "10.0.0.1:5432", target: "up", weight: null },
        { backend: "writes", server: "10.0.0.2:5432", target: "drain", weight: null },
        { backend: "writes", server: "[fd00::3]:5432", target: "down", weight: null },
      ],
    });
    const due = seen({ problems: [away], standing: { kind: "due", sinceMs: 0 } });
    const { up, waiting, problems } = seenBalancer(due, nowMs, "");
    assert.deepEqual([up, waiting, problems], [false, 1, [{ subject: "away", problem: away.text }]]);
    assert.equal(seenBalancer(seen({ standing: { kind: "unread", sinceMs: 0 } }), nowMs, "").up, null);
  });

  test("what may pass by itself is a problem once it has lasted; a missing right is one at once", () => {
    const young = { ...away, sinceMs: nowMs - 1 };
    assert.deepEqual(lastingProblems({ problems: [young, { ...young, kind: "refused" }, forbidden] }, nowMs), [
      forbidden,
    ]);
  });
});

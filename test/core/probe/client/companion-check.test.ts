import assert from "node:assert/strict";
import { test } from "node:test";
import type { CompanionKind } from "../../../../src/core/cluster/companion.ts";
import { checkCompanion, type CompanionTarget } from "../../../../src/core/probe/client/companion-check.ts";
import { FakeCompanion, type CompanionBehaviour } from "../../../fake/fake-companion.ts";
import { freePort } from "../../../fake/free-port.ts";
import { until } from "../../../fake/until.ts";

const limits = { connectTimeoutMs: 2_000, timeoutMs: 300 };

function targetOf(port: number, kind: CompanionKind, parts: Partial<CompanionTarget> = {}): CompanionTarget {
  return { host: "127.0.0.1", port, kind, path: "/", ...parts };
}

/** What a companion does, and how the check of each kind ends. */
const rows: readonly (readonly [CompanionBehaviour, { readonly [Kind in CompanionKind]: string }])[] = [
  ["pgbouncer", { tcp: "answered", pgbouncer: "answered", http: "timeout" }],
  ["full pgbouncer", { tcp: "answered", pgbouncer: "answered", http: "reset" }],
  ["ssh", { tcp: "answered", pgbouncer: "body", http: "body" }],
  ["memcached", { tcp: "answered", pgbouncer: "body", http: "body" }],
  ["http 200", { tcp: "answered", pgbouncer: "body", http: "answered" }],
  ["http 503", { tcp: "answered", pgbouncer: "body", http: "status" }],
  ["in pieces", { tcp: "answered", pgbouncer: "body", http: "answered" }],
  ["silent", { tcp: "answered", pgbouncer: "timeout", http: "timeout" }],
  ["closes", { tcp: "answered", pgbouncer: "reset", http: "reset" }],
  ["dribbles", { tcp: "answered", pgbouncer: "timeout", http: "timeout" }],
  ["garbage", { tcp: "answered", pgbouncer: "body", http: "body" }],
  ["endless", { tcp: "answered", pgbouncer: "body", http: "answered" }],
  ["endless line", { tcp: "answered", pgbouncer: "body", http: "body" }],
];

for (const [behaviour, ends] of rows)
  test(`a companion that ${behaviour}: how each kind of check ends`, async (context) => {
    const companion = await FakeCompanion.start(context, behaviour);
    for (const kind of ["tcp", "pgbouncer", "http"] as const) {
      const failure = await checkCompanion(targetOf(companion.port, kind), limits).ended;
      assert.equal(failure?.kind ?? "answered", ends[kind], `${kind}: ${failure?.detail}`);
    }
    await until("every connection has ended", () => companion.open === 0);
  });

test("a reset is no answer of PgBouncer or HTTP", async (context) => {
  const companion = await FakeCompanion.start(context, "resets");
  for (const kind of ["pgbouncer", "http"] as const)
    assert.equal((await checkCompanion(targetOf(companion.port, kind), limits).ended)?.kind, "reset");
});

test("a refused connection, and a name that does not resolve, are failures", async () => {
  const port = await freePort();
  for (const kind of ["tcp", "pgbouncer", "http"] as const) {
    const failure = await checkCompanion(targetOf(port, kind), limits).ended;
    assert.deepEqual(failure, { kind: "refused", detail: "connection refused" });
  }
  const unknown = await checkCompanion(targetOf(port, "tcp", { host: "no-such-host.invalid" }), limits).ended;
  assert.equal(unknown?.kind, "unreachable");
});

test("PgBouncer gets an SSLRequest, HTTP a request for the path that names its host", async (context) => {
  const companion = await FakeCompanion.start(context, "pgbouncer");
  await checkCompanion(targetOf(companion.port, "pgbouncer"), limits).ended;
  companion.behaviour = "http 200";
  await checkCompanion(targetOf(companion.port, "http", { path: "/health?deep=1" }), limits).ended;
  assert.deepEqual(companion.received, [
    "\u0000\u0000\u0000\u0008\u0004\u00d2\u0016\u002f",
    `GET /health?deep=1 HTTP/1.1\r\nHost: 127.0.0.1:${companion.port}\r\nUser-Agent: rolecall\r\nConnection: close\r\n\r\n`,
  ]);
});

test("a time limit that passes while this process is late is no failure of the companion", async (context) => {
  const companion = await FakeCompanion.start(context, "silent");
  const lateness = { sumMs: 0 };
  const check = checkCompanion(targetOf(companion.port, "pgbouncer"), { ...limits, timeoutMs: 50, lateness });
  await until("the request has arrived", () => companion.received.length === 1);
  lateness.sumMs = 1_000;
  assert.equal((await check.ended)?.kind, "late_here");
});

test("a check that is cancelled ends at once", async (context) => {
  const companion = await FakeCompanion.start(context, "silent");
  const check = checkCompanion(targetOf(companion.port, "http"), { connectTimeoutMs: 60_000, timeoutMs: 60_000 });
  await until("the request has arrived", () => companion.received.length === 1);
  check.cancel();
  assert.equal((await check.ended)?.kind, "not_sent");
  await until("the connection has ended", () => companion.open === 0);
});

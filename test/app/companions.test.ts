import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../fake/until.ts";
import { appOf, limit, portFor, whole } from "./app-fixture.ts";
import { readIncidentFile } from "../../src/features/replay/file/incident-file.ts";
import { answerTo, parseQuestion } from "../../src/features/replay/core/question.ts";
import { replay } from "../../src/features/replay/core/replay.ts";
import { parse } from "yaml";
import type { App } from "../../src/app/app.ts";
import { answerOf, pooled } from "./pooled-fixture.ts";

/** An answer without what changes from one request to the next. */
async function wholeAnswer(app: App, path: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${portFor(app, whole)}${path}`);
  const body = (await response.text()).replaceAll(/"(observed_at|snapshot|lag_ms)":("[^"]*"|\d+)/g, "");
  return `${response.status} ${response.statusText}\n${body}`;
}

const neighbours = [
  "/nodes/pg1/primary",
  "/nodes/pg2/replica?lag=1MB",
  "/nodes/pg2/health",
  "/nodes/pg2/liveness",
  "/nodes/pg2/primary",
  "/clusters/demo/replica",
  "/nodes/pg1/primary?with=pgbouncer",
  "/nodes/pg2/replica?with=pgbouncer&for=sessions",
];

test(
  "a dead companion takes its node out of the checks that ask for it, and changes no other answer",
  limit,
  async (context) => {
    const { poolers, configWith } = await pooled(context);
    const app = appOf(context, configWith([{}]));
    await app.start();
    // Listeners open after the first round: no check is answered before the companions are known.
    assert.equal(await answerOf(app, "/nodes/pg2/replica?with=pgbouncer"), "200 OK");
    const before = await Promise.all(neighbours.map((path) => wholeAnswer(app, path)));
    await poolers[1].stop();
    await until("pg2 is out", async () => (await answerOf(app, "/nodes/pg2/replica?with=pgbouncer")).startsWith("503"));
    assert.equal(await answerOf(app, "/nodes/pg2/replica?with=pgbouncer"), "503 companion pgbouncer refused");
    assert.equal(await answerOf(app, "/nodes/pg2/replica?with=pgbouncer&miss=404"), "404 companion pgbouncer refused");
    assert.deepEqual(await Promise.all(neighbours.map((path) => wholeAnswer(app, path))), before);
    await poolers[1].start();
    await until("pg2 is back", async () => (await answerOf(app, "/nodes/pg2/replica?with=pgbouncer")) === "200 OK");
  },
);

test(
  "an unknown companion is a 400 that names the parameter, its value and what is allowed",
  limit,
  async (context) => {
    const { configWith } = await pooled(context);
    const app = appOf(context, configWith([{}, { name: "metrics", kind: "tcp" }]));
    await app.start();
    const ask = async (query: string): Promise<unknown> => {
      const response = await fetch(`http://127.0.0.1:${portFor(app, whole)}/nodes/pg1/primary?${query}`);
      return [response.status, ((await response.json()) as { message?: unknown }).message];
    };
    const allowed = "one or more companions of the cluster, with commas between: pgbouncer, metrics";
    assert.deepEqual(await ask("with=pgbouncer,haproxy"), [
      400,
      `Cannot read parameter with: it must be ${allowed}, got "pgbouncer,haproxy"`,
    ]);
    const shape = "one or more names of companions with commas between, such as pgbouncer or pgbouncer,exporter";
    assert.deepEqual(await ask("with="), [400, `Cannot read parameter with: it must be ${shape}, got ""`]);
    assert.equal(await answerOf(app, "/nodes/pg1/primary?with=metrics,pgbouncer"), "200 OK");
    assert.equal(await answerOf(app, "/clusters/demo/primary?with=pgbouncer"), "200 OK");
  },
);

test("a reload adds companions, changes their kind and removes them", limit, async (context) => {
  const { poolers, configWith } = await pooled(context);
  const app = appOf(context, configWith([]));
  await app.start();
  const path = "/nodes/pg1/primary?with=pgbouncer";
  assert.match(await answerOf(app, path), /^400/);
  assert.equal(poolers[0].received.length, 0);
  await app.apply(configWith([{}]));
  assert.equal(await answerOf(app, path), "200 OK");
  // Not HTTP: what is known stays until the checks of the new kind have failed often enough.
  await app.apply(configWith([{ kind: "http" }]));
  assert.equal(await answerOf(app, path), "200 OK");
  await until("it is no HTTP server", async () => (await answerOf(app, path)) === "503 companion pgbouncer timeout");
  await app.apply(configWith([{ kind: "tcp" }]));
  await until("it accepts connections", async () => (await answerOf(app, path)) === "200 OK");
  await app.apply(configWith([]));
  assert.match(await answerOf(app, path), /^400/);
  const checked = poolers[0].received.length;
  await until("more probes", async () => (await answerOf(app, "/nodes/pg1/primary")) === "200 OK");
  assert.equal(poolers[0].received.length, checked);
});

test("a dead companion is an event with an end, a warning in /status, and a metric", limit, async (context) => {
  const { poolers, configWith } = await pooled(context);
  const app = appOf(context, configWith([{}]));
  await app.start();
  const admin = app.listeners.find(({ config }) => config.dialect === "admin")?.port ?? 0;
  const read = async (path: string): Promise<string> => (await fetch(`http://127.0.0.1:${admin}${path}`)).text();
  const kinds = async (): Promise<readonly string[]> =>
    [...(await read("/events?node=pg2")).matchAll(/"kind":\s*"(\w+)"/g)].map(([, kind = ""]) => kind);
  await until("no event is left to come", async () => (await read("/status")).includes('"state":"up"'));
  await poolers[1].stop();
  await until("the event", async () => (await kinds()).includes("companion_down"));
  const message = /pgbouncer beside pg2 of demo does not answer: connection refused \(\d+ checks in a row failed\)/;
  assert.match(await read("/events?node=pg2"), message);
  const status = await read("/status");
  assert.match(status, /"warning":"beside it does not answer: pgbouncer \(connection refused\)"/);
  assert.match(status, /"companions":\[\{"name":"pgbouncer","state":"down","error":"connection refused"/);
  const metrics = await read("/metrics");
  assert.match(metrics, /rolecall_companion_up\{cluster="demo",node="pg1",companion="pgbouncer"\} 1/);
  assert.match(metrics, /rolecall_companion_up\{cluster="demo",node="pg2",companion="pgbouncer"\} 0/);
  assert.match(
    metrics,
    /rolecall_probes_total\{cluster="demo",node="pg2",question="companion pgbouncer",outcome="refused"\} \d+/,
  );
  const explained = await read("/explain?node=pg2&check=/replica%3Fwith=pgbouncer");
  assert.match(explained, /"rule":"companion pgbouncer","outcome":"refuse"/);
  assert.equal((await fetch(`http://127.0.0.1:${admin}/explain?node=pg2&check=/replica%3Fwith=other`)).status, 400);
  const incident = await read("/incident?cluster=demo&around=now");
  assert.match(incident, /companions:\n {4}pgbouncer: 6432\n/);
  // The recording gives the same answers as rolecall did.
  const file = readIncidentFile(parse(incident), "recorded");
  const last = [...replay(file)].at(-1)?.view;
  assert.ok(last !== undefined);
  const answers = (question: string): readonly string[] => answerTo(last, parseQuestion(question, file));
  assert.ok(answers("pg2 /replica?with=pgbouncer").includes("companion"));
  assert.ok(answers("pg1 /primary?with=pgbouncer").includes("fit"));
  assert.throws(() => answers("pg1 /primary?with=other"), /parameter with|one or more companions/);
  await poolers[1].start();
  await until("its end", async () => (await kinds()).includes("companion_up"));
});

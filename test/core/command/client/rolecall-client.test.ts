import assert from "node:assert/strict";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { adminApiAnswers } from "../../../fake/admin-api-answers.ts";
import { serveCannedAnswers, type CannedAnswer } from "../../../fake/canned-server.ts";
import { runJson, runText } from "../../../fake/command-line.ts";
import { temporaryFolder } from "../../../fake/temporary-folder.ts";

type Answers = Readonly<Record<string, CannedAnswer>>;
type Server = Awaited<ReturnType<typeof serveCannedAnswers>>;

const folder = temporaryFolder("client");
const token = join(folder, "token");
writeFileSync(token, "s3cret\n", { mode: 0o600 });

async function serve(context: TestContext, answers: Answers): Promise<Server> {
  const server = await serveCannedAnswers(answers);
  context.after(() => server.close());
  return server;
}

function portOf({ url }: Server): number {
  return Number(new URL(url).port);
}

function livez(listener: string, ...listeners: readonly object[]): Answers {
  return { "/livez": { body: { status: "ok", listener, listeners } } };
}

const pagesOff = { status: 403, body: { error: "operator_pages_off", message: "this listener has no operator pages" } };
const noRoute = { status: 400, body: { error: "bad_request", thing: "route", message: "Cannot read route" } };

/** A health listener without operator pages that names an admin listener, and that admin listener. */
async function serveBoth(context: TestContext): Promise<{ health: Server; admin: Server }> {
  const admin = await serve(context, { ...adminApiAnswers, ...livez("admin") });
  const health = await serve(context, {
    "/status": pagesOff,
    "/drains": noRoute,
    "POST /drains/demo/pg2": noRoute,
    ...livez("node", { dialect: "admin", port: portOf(admin), tls: false }),
  });
  return { health, admin };
}

test("finds the admin listener through the health listener, with the same credentials", async (context) => {
  const { health, admin } = await serveBoth(context);
  const argv = ["--server", health.url, "--token-file", token];
  assert.equal((await runJson(["drain", "--list", ...argv])).exit_code, 0);
  assert.equal((await runJson(["status", "--cluster", "demo", ...argv])).exit_code, 0);
  const drained = await runJson(["drain", "demo/pg2", "--for", "30m", "--reason", "x", "--yes", ...argv]);
  assert.equal(drained.exit_code, 0, JSON.stringify(drained.diagnostics));
  assert.ok(
    admin.received.length > 0 && admin.received.every(({ authorization }) => authorization === "Bearer s3cret"),
  );
});

test("follows ports only, so that credentials never reach another host", async (context) => {
  const { admin } = await serveBoth(context);
  const health = await serve(context, {
    "/drains": noRoute,
    ...livez("node", { dialect: "admin", port: `80@127.0.0.2:${portOf(admin)}`, host: "127.0.0.2", tls: false }),
  });
  const { diagnostics } = await runJson(["drain", "--list", "--server", health.url, "--token-file", token]);
  assert.match(diagnostics[0]?.message ?? "", /it is a health listener, and this needs an admin listener/);
  assert.match(diagnostics[0]?.action ?? "", /--server http:\/\/127\.0\.0\.1:9108$/);
  assert.equal(admin.received.length, 0);
});

test("finds the health listener through the admin listener", async (context) => {
  const health = await serve(context, { ...adminApiAnswers, ...livez("node") });
  const notFound = { status: 404, body: { error: "not_found", message: "Cannot find this" } };
  const admin = await serve(context, {
    "/status": adminApiAnswers["/status"] ?? notFound,
    "/clusters/demo/nodes/pg2/replica?lag=1MB": notFound,
    "POST /clusters/demo/nodes/pg2/reload": notFound,
    ...livez("admin", { dialect: "node", port: portOf(health), tls: false, management: true }),
  });
  const checked = await runJson(["check", "/replica?lag=1MB", "--node", "pg2", "--server", admin.url]);
  assert.equal(checked.exit_code, 0, JSON.stringify(checked.diagnostics));
  assert.equal((await runJson(["node", "reload", "demo/pg2", "--yes", "--server", admin.url])).exit_code, 0);
});

test("never repeats a management call that a node refused", async (context) => {
  const refused = { status: 404, headers: { "X-Rolecall-Node": "pg2" }, body: { error: "not_found", message: "no" } };
  const port = { dialect: "node", port: 0, tls: false, management: true };
  const server = await serve(context, { "POST /clusters/demo/nodes/pg2/reload": refused, ...livez("admin", port) });
  const { diagnostics } = await runJson(["node", "reload", "demo/pg2", "--yes", "--server", server.url]);
  assert.deepEqual(
    server.received.map(({ method }) => method),
    ["POST"],
  );
  assert.match(diagnostics[0]?.action ?? "", /^pg2 refused the call/);
});

test("says who refused a management call", async (context) => {
  const off = { status: 403, body: { error: "management_off", message: "management calls are off" } };
  const server = await serve(context, { "POST /clusters/demo/nodes/pg2/reload": off, ...livez("node") });
  const { diagnostics } = await runJson(["node", "reload", "demo/pg2", "--yes", "--server", server.url]);
  assert.match(diagnostics[0]?.action ?? "", /^Set management: on/);
});

test("flags precede variables, which precede the context", async (context) => {
  const [flagged, variable, selected] = [
    await serve(context, adminApiAnswers),
    await serve(context, adminApiAnswers),
    await serve(context, adminApiAnswers),
  ];
  const file = join(folder, "contexts.yaml");
  writeFileSync(file, `current: prod\ncontexts:\n  prod: { server: "${selected.url}", token_file: token }\n`);
  const contexts = { ROLECALL_CONTEXTS_FILE: file };
  const both = { ...contexts, ROLECALL_SERVER: variable.url };
  await runJson(["drain", "--list"], { env: contexts });
  assert.deepEqual([selected.received.length, selected.received[0]?.authorization], [1, "Bearer s3cret"]);
  await runJson(["drain", "--list"], { env: both });
  assert.deepEqual([variable.received.length, variable.received[0]?.authorization], [1, undefined]);
  await runJson(["drain", "--list", "--server", flagged.url], { env: both });
  assert.equal(flagged.received.length, 1);
  await runJson(["drain", "--list", "--context", "prod"], { env: both });
  assert.equal(selected.received.length, 2);
  const shown = await runText(["context", "show", "--context", "prod"], { env: both });
  assert.match(shown.out, new RegExp(`server +${selected.url} +context prod`));
  assert.match((await runText(["context", "show"], { env: both })).out, /ROLECALL_SERVER/);
});

test("warns of a token that every user can read, and reports every mistake in the contexts file", async (context) => {
  const server = await serve(context, adminApiAnswers);
  chmodSync(token, 0o644);
  const warned = await runJson(["drain", "--list", "--server", server.url, "--token-file", token]);
  chmodSync(token, 0o600);
  assert.deepEqual([warned.exit_code, warned.diagnostics[0]?.rule_id], [0, "RC015"]);
  const file = join(folder, "wrong.yaml");
  writeFileSync(file, "curent: prod\ncontexts:\n  prod: { serve: x }\n");
  const wrong = await runJson(["drain", "--list"], { env: { ROLECALL_CONTEXTS_FILE: file } });
  assert.equal(wrong.exit_code, 2);
  assert.deepEqual(
    wrong.diagnostics.filter(({ rule_id: id }) => id === "RC014").map(({ location }) => location?.line),
    [1, 3, 3],
  );
});

test("selects a context, and says if the environment replaces it", async () => {
  const file = join(folder, "two.yaml");
  writeFileSync(file, "contexts:\n  a: { server: 10.0.0.1 }\n  b: { server: 10.0.0.2, user: x, password_file: p }\n");
  const env = { ROLECALL_CONTEXTS_FILE: file };
  assert.match((await runText(["context", "use", "b"], { env })).out, /now use the context b: 10\.0\.0\.2/);
  assert.match((await runText(["context", "list"], { env })).out, /\* {2}b +10\.0\.0\.2 +user x/);
  const replaced = await runText(["context", "use", "a"], { env: { ...env, ROLECALL_SERVER: "x" } });
  assert.match(replaced.out, /ROLECALL_SERVER in the environment replaces it/);
  assert.match((await runText(["context", "use", "aa"], { env })).err, /got "aa": did you mean a\?/);
});

test("names the API of a database node, and how to probe its cluster", async (context) => {
  const node = { state: "running", role: "primary", patroni: { version: "4.0.4", scope: "demo" } };
  const answer = { status: 503, body: node };
  const server = await serve(context, { "/status": answer, "/drains": answer, "/livez": answer });
  for (const command of [["status"], ["drain", "--list"]]) {
    const { exit_code: code, diagnostics } = await runJson([...command, "--server", server.url]);
    assert.equal(code, 2);
    assert.deepEqual(
      diagnostics.flatMap(({ rule_id: rule, message, action }) => (rule === "RC007" ? [[message, action]] : [])),
      [
        [
          `Cannot use ${server.url}: it must be a listener of rolecall, got the API of a database node`,
          `Pass the URL of rolecall with --server. To probe the cluster of that node: rolecall status --discover ${server.url}`,
        ],
      ],
    );
  }
});

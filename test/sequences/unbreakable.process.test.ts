import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { parse } from "yaml";
import { sendRequest } from "../fake/http-request.ts";
import { until } from "../fake/until.ts";
import { serveRaw } from "../fake/raw-node.ts";
import { freePort } from "../fake/free-port.ts";
import { writeConfigFile } from "../fake/config-file.ts";
import { RolecallProcess } from "../fake/rolecall-process.ts";
import { statusDocument } from "../fake/node-documents.ts";

interface OddHead {
  readonly name: string;
  /** Each character is a byte. */
  readonly head: string;
  readonly status: readonly number[];
}

const oddHeads = parse(readFileSync(join("test", "spec", "odd-heads.yaml"), "utf8")) as readonly OddHead[];

/** A primary that answers probes correctly, and every other call with the bytes that were set last. */
interface OddPrimary {
  readonly api: string;
  bytes: string;
  readonly calls: string[];
}

async function servePrimary(context: TestContext): Promise<OddPrimary> {
  const calls: string[] = [];
  const { origin } = await serveRaw(context, (socket) => {
    socket.once("data", (data: Buffer) => {
      const [line = ""] = data.toString("latin1").split("\r\n");
      const [, path = ""] = line.split(" ");
      const known = documents[path];
      if (known === undefined) calls.push(line);
      socket.end(known === undefined ? Buffer.from(primary.bytes, "latin1") : head(200, known));
    });
  });
  const documents: Readonly<Record<string, unknown>> = {
    "/leader": statusDocument("pg1", { role: "primary" }),
    "/liveness": "",
    "/config": { ttl: 30 },
    "/history": [],
    "/cluster": { scope: "demo", members: [{ name: "pg1", role: "leader", api_url: `${origin}/patroni` }] },
  };
  const primary: OddPrimary = { api: origin, bytes: head(200, "done"), calls };
  return primary;
}

function head(status: number, body: unknown): string {
  const text = body === "" ? "" : JSON.stringify(body);
  return `HTTP/1.1 ${status} OK\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`;
}

async function serve(
  context: TestContext,
  { api }: OddPrimary,
  options: { readonly workers?: number; readonly command?: readonly string[] } = {},
): Promise<{ readonly running: RolecallProcess; readonly url: string }> {
  const port = await freePort();
  const config = {
    clusters: [{ name: "demo", nodes: [{ name: "pg1", api }] }],
    listen: [{ port, management: "on" }],
    probe: { interval: "200ms" },
    workers: options.workers ?? 0,
  };
  const args = ["serve", "--config", writeConfigFile(context, JSON.stringify(config))];
  const running = new RolecallProcess(context, args, options.command === undefined ? {} : { command: options.command });
  const url = `http://127.0.0.1:${port}`;
  await until("a primary", async () => ((await statusFrom(`${url}/nodes/pg1/primary`)) === 200 ? true : undefined));
  if (options.workers !== undefined) await running.waitForLog("worker started", options.workers);
  return { running, url };
}

function statusFrom(url: string, method = "GET"): Promise<number> {
  return sendRequest(url, { method }).then(
    (answer) => answer.status,
    () => 0,
  );
}

for (const workers of [0, 2]) {
  test(
    `an answer of a node to a forwarded call ends nothing but that call, with ${workers} workers`,
    { timeout: 60_000 },
    async (context) => {
      const primary = await servePrimary(context);
      const { running, url } = await serve(context, primary, { workers });
      const pid = running.process.pid;
      for (const { name, head: bytes, status: allowed } of oddHeads) {
        primary.bytes = bytes;
        await context.test(name, async () => {
          for (const [method, path] of [
            ["GET", "/nodes/pg1/metrics"],
            ["POST", "/nodes/pg1/reload"],
          ] as const) {
            const answered = await statusFrom(`${url}${path}`, method);
            assert.ok(allowed.includes(answered), `${method} ${path}: ${answered}, not ${allowed.join(" or ")}`);
            assert.equal(await statusFrom(`${url}/nodes/pg1/primary`), 200, "the checks of other callers");
          }
          assert.equal(running.process.exitCode, null, running.stderr);
          assert.equal(running.process.pid, pid);
        });
      }
      assert.ok(!/worker.*(ended|exited|died)/i.test(running.stderr), running.stderr);
    },
  );
}

test(
  "an answer of a node cannot set rolecall's headers or cookies, or redirect the caller",
  { timeout: 30_000 },
  async (context) => {
    const primary = await servePrimary(context);
    const { url } = await serve(context, primary);
    const headers =
      "X-Rolecall-Reason: forged\r\nSet-Cookie: a=b\r\nLocation: http://elsewhere.test/\r\nKeep-Alive: timeout=9\r\n";
    primary.bytes = `HTTP/1.1 200 OK\r\n${headers}Content-Length: 2\r\n\r\nok`;
    for (const [method, path] of [
      ["GET", "/nodes/pg1/metrics"],
      ["POST", "/nodes/pg1/reload"],
    ] as const) {
      const { headers: received } = await sendRequest(`${url}${path}`, { method });
      assert.equal(received["x-rolecall-reason"], undefined, path);
      assert.equal(received["set-cookie"], undefined, path);
      assert.equal(received.location, undefined, path);
      assert.doesNotMatch(String(received["keep-alive"]), /timeout=9/, path);
    }
  },
);

test(
  "an unsafe call that a foreign web page sends is refused before it reaches a node",
  { timeout: 30_000 },
  async (context) => {
    const primary = await servePrimary(context);
    const { url } = await serve(context, primary);
    for (const headers of [
      { origin: "http://elsewhere.test" },
      { origin: "null" },
      { "sec-fetch-site": "cross-site" },
    ]) {
      const answer = await sendRequest(`${url}/nodes/pg1/restart`, { method: "POST", headers, body: {} });
      assert.equal(answer.status, 403, JSON.stringify(headers));
    }
    assert.deepEqual(
      primary.calls.filter((line) => line.startsWith("POST")),
      [],
    );
    assert.equal(
      (await sendRequest(`${url}/nodes/pg1/restart`, { method: "POST", headers: { origin: url }, body: {} })).status,
      200,
    );
  },
);

test("serves no operator pages on a health listener by default", { timeout: 30_000 }, async (context) => {
  const primary = await servePrimary(context);
  const { url } = await serve(context, primary);
  for (const page of ["incident", "explain", "verdicts", "status"]) {
    const answered = await statusFrom(`${url}/clusters/demo/${page}`);
    assert.ok(answered >= 400 && answered < 500, `${page}: ${answered}`);
    const bare = await statusFrom(`${url}/${page}`);
    assert.ok(bare >= 400 && bare < 500, `/${page}: ${bare}`);
  }
  assert.equal(await statusFrom(`${url}/nodes/pg1/primary`), 200);
});

test("keeps every node up when rolecall runs out of file descriptors", { timeout: 60_000 }, async (context) => {
  const primary = await servePrimary(context);
  // The unbundled program opens up to 130 modules at once when it starts.
  const command = ["bash", "-c", 'ulimit -n 192; exec "$0" "$@"', process.execPath];
  const { running, url } = await serve(context, primary, { command });
  const { port } = new URL(url);
  const checks = await open(port);
  const crowd: Socket[] = [];
  for (let at = 0; at < 260; at += 1) crowd.push(await open(port));
  context.after(() => {
    for (const socket of [...crowd, checks]) socket.destroy();
  });
  const heads: string[] = [];
  checks.setEncoding("latin1").on("data", (text: string) => heads.push(text));
  // Longer than a failing node takes to be considered down.
  for (let at = 0; at < 30; at += 1) {
    checks.write("HEAD /nodes/pg1/primary HTTP/1.1\r\nHost: a\r\n\r\n");
    await new Promise((resolve) => void setTimeout(resolve, 200));
  }
  assert.equal(running.process.exitCode, null, running.stderr);
  assert.ok(heads.length > 0, "the check that was connected before is answered");
  assert.doesNotMatch(heads.join(""), /x-rolecall-reason: down/i);
  for (const socket of crowd) socket.destroy();
  await until("a primary once there are descriptors", async () =>
    (await statusFrom(`${url}/nodes/pg1/primary`)) === 200 ? true : undefined,
  );
});

function open(port: string): Promise<Socket> {
  const socket = connect(Number(port), "127.0.0.1");
  return new Promise((resolve) => {
    socket.on("error", () => resolve(socket));
    socket.on("connect", () => resolve(socket));
  });
}

import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { parse, stringify } from "yaml";
import { App } from "../../../../src/app/app.ts";
import { unrestrictedAccess } from "../../../../src/core/config/model/listener-access-config.ts";
import { Listener } from "../../../../src/core/http/listener/listener.ts";
import { servePage, type Page } from "../../../../src/core/http/pages/page.ts";
import type { RenderingContext } from "../../../../src/core/http/pages/rendering.ts";
import { PageGate } from "../../../../src/core/http/pages/page-gate.ts";
import { startSimulator } from "../../../../src/tools/simulator/simulator.ts";
import { sendRequest, type HttpAnswer } from "../../../fake/http-request.ts";
import { clusterOf, configOf, listenerOf } from "../../../fake/config.ts";
import { collectErrors, NodeApiListener } from "../../../fake/node-api-listener.ts";
import { silentLogger } from "../../../fake/silent-logger.ts";
import { workersAnswer } from "../../../fake/workers-answer.ts";
import { isRunWith } from "../../../fake/worker-counts.ts";

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

const pages = [
  "/status",
  "/events",
  "/clusters/demo/nodes/pg1/events",
  "/explain?node=pg1&check=/replica",
  "/explain?cluster=demo&check=/replica",
  "/explain?check=/replica&format=text",
  "/nodes/pg1/verdicts",
  "/incident",
  "/clusters/demo/incident?around=now",
];

/** Requests a page, and retries after 429: a cold process renders slowly. */
async function askPage(url: string, method = "GET"): Promise<HttpAnswer> {
  for (;;) {
    const answer = await sendRequest(url, { method });
    if (answer.status !== 429) return answer;
    await pause(1_000 * Number(answer.headers["retry-after"]));
  }
}

async function appOf(
  context: TestContext,
  parts: { readonly fastPath: boolean; readonly workers?: number },
): Promise<readonly string[]> {
  const simulator = await startSimulator({ nodes: 2, port: 0 });
  const cluster = clusterOf({ discover: simulator.nodes.map(({ url }) => url) });
  const listen = [listenerOf({}), listenerOf({ operatorPages: true }), listenerOf({ dialect: "admin" })];
  const app = new App(configOf({ clusters: [cluster], listen, ...parts }), silentLogger);
  context.after(async () => {
    await app.stop({ drains: false });
    await simulator.stop();
  });
  await app.start();
  const urls = app.listeners.map(({ port }) => `http://127.0.0.1:${port}`);
  if (parts.workers !== undefined) await workersAnswer(urls[2] ?? "", parts.workers);
  return urls;
}

describe("diagnostics pages", () => {
  const variants = [{ fastPath: true }, { fastPath: false }, { fastPath: true, workers: 1 }];
  for (const parts of variants.filter(({ workers = 0 }) => isRunWith(workers))) {
    test(`are served by admin listeners, and by health listeners only if enabled: ${JSON.stringify(parts)}`, async (context) => {
      const [health = "", shown = "", admin = ""] = await appOf(context, parts);
      const methods = ["GET", "HEAD", "OPTIONS", "POST"];
      const off = await Promise.all(
        pages.flatMap((page) => methods.map((method) => sendRequest(`${health}${page}`, { method }))),
      );
      assert.deepEqual(new Set(off.map(({ status }) => status)), new Set([403]));
      assert.match(off[0]?.body ?? "", /"error":"operator_pages_off".*operator_pages: true/);
      for (const page of pages) {
        for (const method of methods) {
          const status = method === "POST" ? 405 : 200;
          for (const on of [shown, admin])
            assert.equal((await askPage(`${on}${page}`, method)).status, status, `${method} ${page}`);
        }
      }
      const port = Number(new URL(health).port);
      const old = await new NodeApiListener(port, [], []).sendBytes("GET /incident HTTP/1.0\r\n\r\n");
      assert.match(old, /^HTTP\/1\.1 403 operator_pages_off\r\n/);
      const flood = await new NodeApiListener(port, [], []).sendBytes(
        `${get("/nodes/pg1/primary")}${get("/incident").repeat(250)}`,
      );
      assert.deepEqual(flood.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 200", "HTTP/1.1 403", "HTTP/1.1 429"]);
      const known = await sendRequest(`${health}/nope`);
      assert.equal(known.status, 400);
      assert.doesNotMatch(known.body, /incident/, "a page that is off is no route to try");
      assert.equal((await sendRequest(`${health}/nodes/pg1/primary`)).status, 200);
    });
  }

  test("have the layout of an unsliced document", async (context) => {
    const [, , admin] = await appOf(context, { fastPath: true });
    const { body, headers } = await askPage(`${admin}/incident`);
    assert.equal(
      body,
      stringify(parse(body), { lineWidth: 0, flowCollectionPadding: true, aliasDuplicateObjects: false }),
    );
    assert.match(body, /\nsteps:\n {2}- at: 0ms\n/);
    assert.equal(headers["content-length"], String(Buffer.byteLength(body)));
    const status = await askPage(`${admin}/status`);
    assert.equal(status.body, JSON.stringify(JSON.parse(status.body)));
    assert.equal(JSON.parse(status.body).clusters[0].nodes.length, 2);
    const future = await askPage(`${admin}/incident?around=2100-01-01T00:00:00Z`);
    assert.match(future.body, /\nsteps: \[\]\nend: \S+\n$/);
  });
});

/** A page whose rendering the test completes. */
class Held {
  readonly gate = new PageGate();
  readonly renderings: RenderingContext[] = [];
  readonly #ends: (() => void)[] = [];
  #begun = (): void => {};

  readonly page: Page = {
    gate: this.gate,
    name: "held",
    render: (rendering) => {
      this.renderings.push(rendering);
      this.#begun();
      return new Promise((resolve) => {
        this.#ends.push(() => resolve({ status: 200, phrase: "OK", headers: [], body: Buffer.from("page") }));
      });
    },
  };

  /** Resolves when the next rendering begins. */
  begins(): Promise<void> {
    return new Promise((resolve) => (this.#begun = resolve));
  }

  end(): void {
    this.#ends.shift()?.();
  }
}

async function listening(context: TestContext, held: Held): Promise<NodeApiListener> {
  const errors: unknown[] = [];
  const check = { status: 200, phrase: "OK", headers: [], body: Buffer.from("check") };
  const listener = new Listener(
    (call) => (call.request.target === "/page" ? servePage(held.page, call) : Promise.resolve(check)),
    unrestrictedAccess,
    collectErrors(errors),
  );
  const port = await listener.open({ address: "127.0.0.1", port: 0 });
  context.after(() => listener.close(0));
  return new NodeApiListener(port, [], errors);
}

describe("a page", () => {
  test("is rendered for one client at a time; others get 429, and checks are answered meanwhile", async (context) => {
    const held = new Held();
    const front = await listening(context, held);
    const begun = held.begins();
    const first = front.request("/page");
    await begun;
    const second = await front.request("/page");
    assert.deepEqual([second.status, second.headers.get("Retry-After")], [429, "1"]);
    assert.equal(JSON.parse(second.body).error, "busy");
    assert.equal((await front.request("/check")).body, "check");
    held.end();
    assert.equal((await first).body, "page");
    const again = held.begins();
    const third = front.request("/page");
    await again;
    held.end();
    assert.equal((await third).status, 200);
    assert.equal(held.renderings.length, 2);
    assert.deepEqual(front.errors, []);
  });

  test("is cancelled when its client disconnects, and can be requested again", async (context) => {
    const held = new Held();
    const front = await listening(context, held);
    const begun = held.begins();
    const { connect } = await import("node:net");
    const socket = connect(front.port, "127.0.0.1", () => socket.write(get("/page")));
    await begun;
    const aborted = new Promise<void>((resolve) =>
      held.renderings[0]?.signal.addEventListener("abort", () => resolve()),
    );
    socket.destroy();
    await aborted;
    const again = held.begins();
    const next = front.request("/page");
    await again;
    held.end();
    held.end();
    assert.equal((await next).status, 200);
  });

  test("pipelined 250 times is rendered once, and the connection is closed; checks before it are answered in order", async (context) => {
    const held = new Held();
    const front = await listening(context, held);
    const begun = held.begins();
    const flood = front.sendBytes(
      `${get("/check")}${get("/page")}${get("/check")}${get("/page").repeat(248)}${get("/check")}`,
    );
    await begun;
    assert.equal((await front.request("/check")).status, 200);
    held.end();
    const statuses = [...(await flood).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    assert.deepEqual(statuses, ["200", "200", "200", "429"]);
    assert.equal(held.renderings.length, 1);
    assert.deepEqual(front.errors, []);
  });

  test("is answered each time for successive requests of one connection", async (context) => {
    const held = new Held();
    const front = await listening(context, held);
    const { connect } = await import("node:net");
    const socket = connect(front.port, "127.0.0.1");
    socket.setEncoding("latin1");
    for (let at = 0; at < 3; at += 1) {
      const begun = held.begins();
      const answered = new Promise<string>((resolve) => void socket.once("data", resolve));
      socket.write(get("/page"));
      await begun;
      held.end();
      assert.match(await answered, /^HTTP\/1\.1 200/);
    }
    socket.destroy();
  });
});

describe("large responses", () => {
  for (const [what, size, count] of [
    ["that follow each other are all delivered", 1024 * 1024, 4],
    ["pipelined above the limit of queued bytes close the connection", 1024 * 1024, 40],
  ] as const) {
    test(what, async (context) => {
      const reply = { status: 200, phrase: "OK", headers: [], body: Buffer.alloc(size, "x") };
      const listener = new Listener(() => Promise.resolve(reply), unrestrictedAccess, collectErrors([]));
      const port = await listener.open({ address: "127.0.0.1", port: 0 });
      context.after(() => listener.close(0));
      const requests = `${get("/").repeat(count - 1)}${get("/").replace("Host", "Connection: close\r\nHost")}`;
      const received = await new NodeApiListener(port, [], []).sendBytes(requests).catch(() => "");
      if (count * size <= 4 * 1024 * 1024) assert.equal(received.match(/HTTP/g)?.length, count);
      else assert.ok((received.match(/HTTP/g)?.length ?? 0) < count);
    });
  }
});

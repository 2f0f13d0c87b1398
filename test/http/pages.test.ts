import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { parse, stringify } from "yaml";
import { App } from "../../src/app/app.ts";
import { unrestrictedAccess } from "../../src/config/model/listener-access-config.ts";
import { Listener } from "../../src/http/listener/listener.ts";
import { paged, type Page, type Rendering } from "../../src/http/pages/page.ts";
import { PageGate } from "../../src/http/pages/page-gate.ts";
import { startSimulator } from "../../src/simulator/simulator.ts";
import { ask, type Answer } from "../fake/ask.ts";
import { clusterOf, configOf, listenerOf } from "../fake/config.ts";
import { eventsTo, Front } from "../fake/front.ts";
import { silence } from "../fake/silence.ts";

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

const pages = [
  "/status",
  "/explain?node=pg1&check=/replica",
  "/nodes/pg1/verdicts",
  "/incident",
  "/clusters/demo/incident?around=now",
];

/** Requests a page, again where it was requested too often: a cold process renders slowly. */
async function askPage(url: string, method = "GET"): Promise<Answer> {
  for (;;) {
    const answer = await ask(url, { method });
    if (answer.status !== 429) return answer;
    await pause(1_000 * Number(answer.headers["retry-after"]));
  }
}

async function appOf(
  context: TestContext,
  parts: { readonly fastLane: boolean; readonly workers?: number },
): Promise<readonly string[]> {
  const simulator = await startSimulator({ nodes: 2, port: 0 });
  const cluster = clusterOf({ discover: simulator.nodes.map(({ url }) => url) });
  const listen = [listenerOf({}), listenerOf({ operatorPages: true }), listenerOf({ dialect: "admin" })];
  const app = new App(configOf({ clusters: [cluster], listen, ...parts }), silence);
  context.after(async () => {
    await app.stop({ drains: false });
    await simulator.stop();
  });
  await app.start();
  return app.listeners.map(({ port }) => `http://127.0.0.1:${port}`);
}

describe("operator pages", () => {
  for (const parts of [{ fastLane: true }, { fastLane: false }, { fastLane: true, workers: 1 }]) {
    test(`are answered by admin listeners, by health listeners only where they are switched on: ${JSON.stringify(parts)}`, async (context) => {
      const [health = "", shown = "", admin = ""] = await appOf(context, parts);
      const methods = ["GET", "HEAD", "OPTIONS", "POST"];
      const off = await Promise.all(
        pages.flatMap((page) => methods.map((method) => ask(`${health}${page}`, { method }))),
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
      const old = await new Front(port, [], []).raw("GET /incident HTTP/1.0\r\n\r\n");
      assert.match(old, /^HTTP\/1\.1 403 operator_pages_off\r\n/);
      const flood = await new Front(port, [], []).raw(`${get("/nodes/pg1/primary")}${get("/incident").repeat(250)}`);
      assert.deepEqual(flood.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 200", "HTTP/1.1 403", "HTTP/1.1 429"]);
      const known = await ask(`${health}/nope`);
      assert.equal(known.status, 400);
      assert.doesNotMatch(known.body, /incident/, "a page that is off is no route to try");
      assert.equal((await ask(`${health}/nodes/pg1/primary`)).status, 200);
    });
  }

  test("are laid out as if they were written in one piece", async (context) => {
    const [, , admin] = await appOf(context, { fastLane: true });
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
    assert.match(future.body, /\nsteps: \[\]\n$/);
  });
});

/** A page that is rendered when the test says so. */
class Held {
  readonly gate = new PageGate();
  readonly renderings: Rendering[] = [];
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

async function listening(context: TestContext, held: Held): Promise<Front> {
  const errors: unknown[] = [];
  const check = { status: 200, phrase: "OK", headers: [], body: Buffer.from("check") };
  const listener = new Listener(
    ({ target }) => (target === "/page" ? paged(held.page) : check),
    unrestrictedAccess,
    eventsTo(errors),
  );
  const port = await listener.open({ address: "127.0.0.1", port: 0 });
  context.after(() => listener.close(0));
  return new Front(port, [], errors);
}

describe("a page", () => {
  test("is rendered for one client at a time; another one is told to come back, and checks go on", async (context) => {
    const held = new Held();
    const front = await listening(context, held);
    const begun = held.begins();
    const first = front.ask("/page");
    await begun;
    const second = await front.ask("/page");
    assert.deepEqual([second.status, second.headers.get("Retry-After")], [429, "1"]);
    assert.equal(JSON.parse(second.body).error, "busy");
    assert.equal((await front.ask("/check")).body, "check");
    held.end();
    assert.equal((await first).body, "page");
    const again = held.begins();
    const third = front.ask("/page");
    await again;
    held.end();
    assert.equal((await third).status, 200);
    assert.equal(held.renderings.length, 2);
    assert.deepEqual(front.errors, []);
  });

  test("is given up when its client leaves, and its place is free", async (context) => {
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
    const next = front.ask("/page");
    await again;
    held.end();
    held.end();
    assert.equal((await next).status, 200);
  });

  test("pipelined 250 times is rendered once, then the connection is closed; checks before it are answered in order", async (context) => {
    const held = new Held();
    const front = await listening(context, held);
    const begun = held.begins();
    const flood = front.raw(
      `${get("/check")}${get("/page")}${get("/check")}${get("/page").repeat(248)}${get("/check")}`,
    );
    await begun;
    assert.equal((await front.ask("/check")).status, 200);
    held.end();
    const statuses = [...(await flood).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    assert.deepEqual(statuses, ["200", "200", "200", "429"]);
    assert.equal(held.renderings.length, 1);
    assert.deepEqual(front.errors, []);
  });

  test("one after the other on a kept connection is answered each time", async (context) => {
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

describe("large answers", () => {
  for (const [what, size, count] of [
    ["one after the other are all read", 1024 * 1024, 4],
    ["pipelined beyond what may wait end the connection", 1024 * 1024, 40],
  ] as const) {
    test(what, async (context) => {
      const reply = { status: 200, phrase: "OK", headers: [], body: Buffer.alloc(size, "x") };
      const listener = new Listener(() => reply, unrestrictedAccess, eventsTo([]));
      const port = await listener.open({ address: "127.0.0.1", port: 0 });
      context.after(() => listener.close(0));
      const requests = `${get("/").repeat(count - 1)}${get("/").replace("Host", "Connection: close\r\nHost")}`;
      const came = await new Front(port, [], []).raw(requests).catch(() => "");
      if (count * size <= 4 * 1024 * 1024) assert.equal(came.match(/HTTP/g)?.length, count);
      else assert.ok((came.match(/HTTP/g)?.length ?? 0) < count);
    });
  }
});

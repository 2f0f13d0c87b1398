import assert from "node:assert/strict";
import { suite, test, type TestContext } from "node:test";
import { unrestrictedAccess } from "../../../../src/core/config/model/listener-access-config.ts";
import { Listener } from "../../../../src/core/http/listener/listener.ts";
import type { RequestHandler } from "../../../../src/core/http/message/handler.ts";
import type { Request } from "../../../../src/core/http/message/request.ts";
import { NodeApi } from "../../../../src/core/http/node-api/node-api.ts";
import type { RoutingContext } from "../../../../src/core/http/node-api/routing-context.ts";
import { collectErrors, NodeApiListener, routingContextOf } from "../../../fake/node-api-listener.ts";
import { storeFixture, type StoreFixture } from "../../../fake/store-fixture.ts";

interface Served {
  readonly cluster: StoreFixture;
  readonly front: NodeApiListener;
  /** The number of judged answers, and the number of counted ones. */
  readonly counts: { judged: number; counted: number };
}

/** A listener without the fast path. */
async function serve(context: TestContext): Promise<Served> {
  const cluster = storeFixture();
  const counts = { judged: 0, counted: 0 };
  const sources = cluster.apiContext(() => void (counts.counted += 1));
  const api = new NodeApi(cluster.routingContext, {
    ...sources,
    inputs: () => {
      counts.judged += 1;
      return sources.inputs();
    },
  });
  const handler: RequestHandler = (call) => api.handle(call);
  const listener = new Listener(handler, unrestrictedAccess, collectErrors([]));
  const port = await listener.open({ address: "127.0.0.1", port: 0 });
  context.after(() => listener.close(0));
  return { cluster, front: new NodeApiListener(port, [], []), counts };
}

suite("the reply cache of the ordinary path", () => {
  test("judges a repeated check twice, then answers from the cache with the same bytes", async (context) => {
    const { front, counts } = await serve(context);
    for (const method of ["GET", "HEAD", "OPTIONS"]) {
      counts.judged = counts.counted = 0;
      const answers = [];
      for (let nth = 0; nth < 5; nth += 1) answers.push(await front.request("/nodes/pg1/primary", { method }));
      assert.deepEqual(new Set(answers.map((answer) => JSON.stringify([answer, ...answer.headers]))).size, 1);
      assert.equal(answers[0]?.status, 200);
      assert.deepEqual(counts, { judged: 2, counted: 5 });
    }
  });

  test("judges again after a change of the cluster, and when the verdict expires", async (context) => {
    const { cluster, front } = await serve(context);
    const status = async (): Promise<number> => (await front.request("/nodes/pg1/primary")).status;
    for (let nth = 0; nth < 3; nth += 1) assert.equal(await status(), 200);
    cluster.recordReport("pg1", 2_000, false);
    assert.equal(await status(), 503);
    cluster.recordReport("pg1", 2_000, true);
    for (let nth = 0; nth < 3; nth += 1) await status();
    cluster.nowMs += 60_000;
    assert.equal(await status(), 500, "no node has fresh evidence: blind");
  });

  test("does not answer a request with HAProxy's server state from the cache", async (context) => {
    const { front, counts } = await serve(context);
    const headers = ["X-Haproxy-Server-State: UP; address=10.0.0.9; port=5432"];
    for (let nth = 0; nth < 4; nth += 1) await front.request("/nodes/pg1/primary", { headers });
    assert.equal(counts.judged, 4);
  });

  test("closes the connection after an unread body, also with a cached reply", async (context) => {
    const { front } = await serve(context);
    for (let nth = 0; nth < 3; nth += 1) await front.request("/nodes/pg1/primary");
    const response = await front.sendBytes(
      "GET /nodes/pg1/primary HTTP/1.1\r\nHost: any\r\nContent-Length: 2\r\n\r\n{}",
    );
    assert.match(response, /^HTTP\/1\.1 200 OK\r\n[^]*\r\nConnection: close\r\n/);
  });
});

suite("what a check asks for", () => {
  const asked: readonly (readonly [target: string, parts: Partial<Request>, expected: string])[] = [
    ["/nodes/pg2/replica", {}, "demo/pg2 named"],
    ["/clusters/demo/nodes/pg2/replica", {}, "demo/pg2 named"],
    ["/replica", { nodeHeader: "pg2" }, "demo/pg2 named"],
    ["/replica", { nodeHeader: "demo/pg2" }, "demo/pg2 named"],
    ["/replica", { host: "pg2.demo.db:8008" }, "demo/pg2 named"],
    ["/nodes/pg9/replica", {}, "demo/pg9 named"],
    ["/clusters/demo/replica", {}, "demo/null named"],
    ["/nodes/pg2/replica?lagg=1", {}, ""],
    ["/nodes/pg2/patroni", {}, ""],
    ["/readyz", {}, ""],
  ];
  const serverState = "UP 3/3; address=10.0.0.2; port=5432; name=reads/pg2; node=lb; weight=1/1; scur=0/0; qcur=0";

  function noting(routing: RoutingContext): { readonly api: NodeApi; readonly notes: string[] } {
    const notes: string[] = [];
    const api = new NodeApi(routing, {
      ...storeFixture().apiContext(() => {}),
      onCheck: ({ target }, isNamed) =>
        void notes.push(`${target.cluster}/${target.node} ${isNamed ? "named" : "bound"}`),
    });
    return { api, notes };
  }

  for (const [target, parts, expected] of asked)
    test(`${target} with ${JSON.stringify(parts)}: ${expected}`, () => {
      const { api, notes } = noting(routingContextOf({ hostSuffixes: [".db"] }));
      const { nodeHeader, host = "any" } = parts;
      const header = nodeHeader === undefined ? "" : `X-Rolecall-Node: ${nodeHeader}\r\n`;
      for (const state of ["", `X-Haproxy-Server-State: ${serverState}\r\n`])
        api.render(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${header}${state}\r\n`);
      assert.deepEqual([...new Set(notes)], expected === "" ? [] : [expected]);
    });

  test("a listener that is bound to a node names it itself", () => {
    const { api, notes } = noting(routingContextOf({ cluster: "demo", node: "pg2" }));
    api.render("GET /replica HTTP/1.1\r\nHost: any\r\n\r\n");
    assert.deepEqual(notes, ["demo/pg2 bound"]);
  });
});

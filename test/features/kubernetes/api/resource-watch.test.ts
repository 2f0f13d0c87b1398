import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { setSystemTimer } from "../../../../src/core/probe/schedule/system-timer.ts";
import { Scope } from "../../../../src/core/feature/scope.ts";
import { readApiAccess } from "../../../../src/features/kubernetes/api/api-access.ts";
import { ApiClient } from "../../../../src/features/kubernetes/api/api-client.ts";
import { ResourceWatch, type WatchedResource } from "../../../../src/features/kubernetes/api/resource-watch.ts";
import { FakeApiServer, type KubeCallReceived, type Misbehaviour } from "../../../fake/fake-api-server.ts";
import { until } from "../../../fake/until.ts";

const services = "/api/v1/namespaces/databases/services";

interface Fixture {
  readonly server: FakeApiServer;
  readonly watch: ResourceWatch;
  /** The names that are known. */
  readonly names: () => readonly string[];
  readonly problems: (string | null)[];
  /** How often the list was read. */
  readonly lists: () => number;
  /** Waits until these names are known. */
  readonly known: (...names: readonly string[]) => Promise<unknown>;
}

async function fixture(context: TestContext, resource: Partial<WatchedResource> = {}): Promise<Fixture> {
  const server = await FakeApiServer.open(context);
  const file = server.kubeconfig();
  const now = (): number => performance.now();
  const client = new ApiClient({
    readAccess: () => readApiAccess({ kubeconfig: file, context: null }, {}),
    now,
    callMs: 300,
  });
  let names: readonly string[] = [];
  const problems: (string | null)[] = [];
  const scope = new Scope({ setTimer: setSystemTimer, onProblem: (...problem) => assert.fail(problem.join()) });
  const watch = new ResourceWatch(
    { path: services, labels: null, ...resource },
    {
      client,
      now,
      random: () => 0,
      setTimer: scope.setTimer,
      onObjects: (objects) => (names = [...objects.keys()].toSorted()),
      onProblem: (problem) => void problems.push(problem?.text ?? null),
    },
  );
  context.after(async () => {
    watch.stop();
    client.close();
    await scope.end();
  });
  const known: Fixture["known"] = (...wanted) =>
    until(
      { what: wanted.join(), evidence: () => `${names.join()} ${problems.join("; ")}` },
      () => names.join() === wanted.join(),
    );
  return {
    server,
    watch,
    names: () => names,
    problems,
    lists: () => server.calls.filter(({ verb }) => verb === "list").length,
    known,
  };
}

function named(name: string, labels: object = {}): object {
  return { metadata: { name, labels }, spec: { type: "ClusterIP" } };
}

/** Misbehaves to the first calls of a kind only. */
function toFirst(count: number, verb: KubeCallReceived["verb"], bad: Misbehaviour): FakeApiServer["misbehave"] {
  let left = count;
  return (call) => (call.verb === verb && left-- > 0 ? bad : null);
}

describe("the watch of objects", () => {
  test("lists them, and follows what is added, changed and deleted", async (context) => {
    const { server, watch, known, lists } = await fixture(context);
    server.put("services", named("a"));
    watch.start();
    await known("a");
    server.put("services", named("b"));
    await known("a", "b");
    server.delete("services", "a");
    await known("b");
    assert.equal(lists(), 1);
  });

  test("reads a list of 10,000 objects in pages, and keeps what is needed of each", async (context) => {
    const slim = ({ metadata }: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => ({ metadata });
    const { server, watch, names } = await fixture(context, { slim });
    for (let count = 0; count < 10_000; count += 1) server.put("services", named(`s${count}`));
    watch.start();
    await until("the objects", () => names().length === 10_000);
    assert.equal(server.calls.filter(({ verb }) => verb === "list").length, 20);
    assert.ok(server.calls.every(({ query }) => query.get("limit") === "500" || query.get("watch") === "true"));
  });

  test("has what the selector leaves", async (context) => {
    const { server, watch, known } = await fixture(context, { labels: "app in (x,y)" });
    server.put("services", named("a", { app: "x" }));
    server.put("services", named("b", { app: "z" }));
    watch.start();
    await known("a");
    server.put("services", named("c", { app: "y" }));
    await known("a", "c");
  });

  const rows: readonly (readonly [string, FakeApiServer["misbehave"], string])[] = [
    [
      "a list that is refused",
      toFirst(2, "list", status(500, '{"message":"etcd is slow"}')),
      "status 500: etcd is slow",
    ],
    ["a list that hangs", toFirst(1, "list", { kind: "hang" }), "no answer within 300 ms"],
    [
      "a list that is cut off",
      toFirst(1, "list", { kind: "reset" }),
      "connection closed by the node before its answer",
    ],
    [
      "a list without a version",
      toFirst(1, "list", status(200, '{"items":[]}')),
      "the list must have a resourceVersion, got none",
    ],
    [
      "a list that is no JSON",
      toFirst(1, "list", status(200, "<html>")),
      "the list must have a resourceVersion, got none",
    ],
    ["a watch that is refused", toFirst(1, "watch", status(500, "")), "status 500"],
    ["a watch from too long ago", toFirst(1, "watch", status(410, '{"message":"too old"}')), "status 410: too old"],
    [
      "a watch with an error in it",
      toFirst(1, "watch", status(200, '{"type":"ERROR","object":{"code":410}}\n')),
      "an error ended the watch",
    ],
    ["a watch of something else", toFirst(1, "watch", status(200, "nothing\n")), "an error ended the watch"],
    ["a watch that ends at once", toFirst(1, "watch", status(200, "")), "the API server ended the watch"],
    [
      "a watch with a line without an end",
      toFirst(1, "watch", status(200, "x".repeat(3_000_000))),
      "the watch has too long a line",
    ],
  ];
  for (const [what, misbehave, problem] of rows)
    test(`goes on after ${what}, and says so`, async (context) => {
      const { server, watch, known, problems } = await fixture(context);
      server.misbehave = misbehave;
      server.put("services", named("a"));
      watch.start();
      await known("a");
      server.put("services", named("b"));
      await known("a", "b");
      assert.ok(problems.includes(problem), problems.join("; "));
      await until("the end of the problem", () => problems.at(-1) === null);
    });

  test("goes on from where it was when a connection is cut, without another list", async (context) => {
    const { server, watch, known, lists } = await fixture(context);
    watch.start();
    await until("the watch", () => server.watches === 1);
    server.put("services", named("a"));
    await known("a");
    server.cutWatches();
    server.put("services", named("b"));
    await known("a", "b");
    assert.equal(lists(), 1);
  });

  test("a bookmark spares another list when older changes are forgotten", async (context) => {
    const { server, watch, known, lists } = await fixture(context);
    watch.start();
    await until("the watch", () => server.watches === 1);
    server.put("pods", named("something else"));
    server.compact();
    server.bookmark("services");
    server.put("services", named("a"));
    await known("a");
    server.cutWatches();
    server.put("services", named("b"));
    await known("a", "b");
    assert.equal(lists(), 1);
  });

  test("reads the list again when the changes since then are forgotten: what was deleted meanwhile is gone", async (context) => {
    const { server, watch, known, lists } = await fixture(context);
    server.put("services", named("a"));
    watch.start();
    await known("a");
    await until("the watch", () => server.watches === 1);
    server.misbehave = ({ verb }) => (verb === "watch" ? { kind: "reset" } : null);
    server.cutWatches();
    server.delete("services", "a");
    server.put("services", named("b"));
    server.compact();
    server.misbehave = () => null;
    await known("b");
    assert.equal(lists(), 2);
  });

  test("a server that refuses every watch is asked for less and less", async (context) => {
    const { server, watch, lists } = await fixture(context);
    server.misbehave = ({ verb }) => (verb === "watch" ? status(410, "{}") : null);
    watch.start();
    await until("some lists", () => lists() >= 4);
    const instants: number[] = [];
    let seen = lists();
    await until("two more", () => {
      if (lists() > seen) instants.push(performance.now());
      seen = lists();
      return instants.length === 2;
    });
    const [first = 0, second = 0] = instants;
    assert.ok(second - first > 500, `${second - first} ms`);
  });

  test("after its end nothing is asked any more", async (context) => {
    const { server, watch, known } = await fixture(context);
    server.put("services", named("a"));
    watch.start();
    await known("a");
    await until("the watch", () => server.watches === 1);
    watch.stop();
    await until("its end", () => server.watches === 0);
    const count = server.calls.length;
    server.put("services", named("b"));
    await new Promise((resolve) => void setImmediate(resolve));
    assert.equal(server.calls.length, count);
    await known("a");
  });
});

function status(code: number, body: string): Misbehaviour {
  return { kind: "answer", status: code, body };
}

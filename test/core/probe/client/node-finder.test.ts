import assert from "node:assert/strict";
import { test } from "node:test";
import type { NodeConnection } from "../../../../src/core/probe/client/client.ts";
import { type FoundNodes, FoundConnection, type NodeFinder } from "../../../../src/core/probe/client/node-finder.ts";

interface Fixture {
  readonly connection: FoundConnection;
  /** Another connection for the same address. */
  readonly open: () => FoundConnection;
  /** The origins that were asked, and `closed …`. */
  readonly log: string[];
  /** Those that do not answer. */
  readonly silent: Set<string>;
  found: FoundNodes | "never";
}

function fixture(finders?: readonly NodeFinder[]): Fixture {
  const log: string[] = [];
  const silent = new Set<string>();
  const own: NodeFinder = {
    protocol: "pods:",
    find: () => (parts.found === "never" ? new Promise(() => {}) : Promise.resolve(parts.found)),
  };
  const connect = (origin: string): NodeConnection => {
    const ask = async (): ReturnType<NodeConnection["get"]> => {
      log.push(origin);
      return silent.has(origin)
        ? { failure: { kind: "refused", detail: "refused" } }
        : { status: 200, body: Buffer.from("{}") };
    };
    return { get: ask, getStreamed: ask, close: () => void log.push(`closed ${origin}`) };
  };
  const asked = { origin: null, silent: new Set<string>() };
  const context = { finders: () => finders ?? [own], connect, asked, timeoutMs: 50 };
  const open = (): FoundConnection => new FoundConnection("pods://x", context);
  const parts: Fixture = { connection: open(), open, log, silent, found: { kind: "found", origins: ["a", "b", "c"] } };
  return parts;
}

test("the first one is asked as long as it answers, whatever the order becomes", async () => {
  const parts = fixture();
  await parts.connection.get("/");
  parts.found = { kind: "found", origins: ["c", "b", "a"] };
  await parts.connection.get("/");
  assert.deepEqual(parts.log, ["a", "a"]);
});

test("after one that does not answer comes the next, and after the last the first again", async () => {
  const parts = fixture();
  for (const origin of ["a", "b", "c"]) parts.silent.add(origin);
  for (let turn = 0; turn < 4; turn += 1) await parts.connection.get("/");
  assert.deepEqual(
    parts.log.filter((line) => !line.startsWith("closed")),
    ["a", "b", "c", "a"],
  );
  parts.silent.clear();
  await parts.connection.get("/");
  await parts.connection.get("/");
  assert.deepEqual(parts.log.slice(-2), ["b", "b"]);
});

test("another connection for the same address asks the one that has answered last", async () => {
  const parts = fixture();
  parts.silent.add("a");
  await parts.connection.get("/");
  parts.connection.close();
  const second = parts.open();
  await second.get("/");
  second.close();
  await parts.open().get("/");
  assert.deepEqual(parts.log, ["a", "closed a", "b", "closed b", "b"]);
});

test("one that is there no more is left at once", async () => {
  const parts = fixture();
  await parts.connection.get("/");
  parts.found = { kind: "found", origins: ["b"] };
  await parts.connection.get("/");
  assert.deepEqual(parts.log, ["a", "closed a", "b"]);
});

for (const [what, found, why] of [
  ["nothing is found", { kind: "none", why: "no pod" }, "no pod"],
  ["nothing is known in time", "never", "which nodes there are is not known after 50 ms"],
] as const)
  test(`${what}: the request fails, and says why`, async () => {
    const parts = fixture();
    parts.found = found;
    assert.deepEqual(await parts.connection.get("/"), { failure: { kind: "unreachable", detail: why } });
    assert.deepEqual(parts.log, []);
  });

test("nobody finds such nodes: the request fails", async () => {
  const { connection } = fixture([]);
  assert.deepEqual(await connection.get("/"), {
    failure: { kind: "unreachable", detail: "nothing finds nodes by pods: here yet" },
  });
});

test("once closed, it sends nothing", async () => {
  const { connection, log } = fixture();
  connection.close();
  assert.ok("failure" in (await connection.get("/")));
  assert.deepEqual(log, []);
});

/** Requests to one address share clients: no request waits for another, and nobody gets a connection that was closed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { array, assert as assertProperty, asyncProperty, constant, nat, oneof, record } from "fast-check";
import { ByteBudget } from "../../../../src/core/probe/client/byte-budget.ts";
import { NodeClient, type NodeConnection, type NodeReply } from "../../../../src/core/probe/client/client.ts";
import { SharedClients } from "../../../../src/core/probe/client/shared-clients.ts";
import { runPendingTasks } from "../../../fake/fake-transport.ts";
import { serveRaw } from "../../../fake/raw-node.ts";

const origin = "http://pg1:8008";

/** A client whose requests end when the test says so. */
class FakeClient implements NodeConnection {
  readonly number: number;
  /** Ends the request in flight. */
  end: ((reply: NodeReply) => void) | null = null;
  isClosed = false;

  constructor(number: number) {
    this.number = number;
  }

  get(path: string): Promise<NodeReply> {
    assert.equal(this.end, null, "one request at a time");
    assert.equal(this.isClosed, false, "a closed client is not used");
    return new Promise((resolve) => {
      this.end = (reply) => {
        this.end = null;
        resolve("failure" in reply ? reply : { status: reply.status, body: Buffer.from(`${path} by ${this.number}`) });
      };
    });
  }

  async getStreamed(path: string): Promise<{ readonly status: number } | Extract<NodeReply, { failure: unknown }>> {
    const reply = await this.get(path);
    return "failure" in reply ? reply : { status: reply.status };
  }

  close(): void {
    this.isClosed = true;
    this.end?.({ failure: { kind: "reset", detail: "closed" } });
  }
}

class FakeAddress {
  readonly opened: FakeClient[] = [];
  readonly clients = new SharedClients(() => {
    const client = new FakeClient(this.opened.length + 1);
    this.opened.push(client);
    return client;
  }, null);

  /** Answers the requests of some clients, by their numbers. */
  async answer(...numbers: readonly number[]): Promise<void> {
    for (const number of numbers) this.opened[number - 1]?.end?.({ status: 200, body: Buffer.of() });
    await runPendingTasks();
  }

  get closed(): readonly number[] {
    return this.opened.filter(({ isClosed }) => isClosed).map(({ number }) => number);
  }
}

function textOf(reply: NodeReply): string {
  return "failure" in reply ? reply.failure.detail : reply.body.toString();
}

test("requests that follow each other have one client, whoever sends them", async () => {
  const address = new FakeAddress();
  const [status, liveness] = [address.clients.connect(origin), address.clients.connect(origin)];
  for (const [user, path] of [
    [status, "/leader"],
    [liveness, "/liveness"],
    [status, "/leader"],
  ] as const) {
    const reply = user.get(path);
    await address.answer(1);
    assert.equal(textOf(await reply), `${path} by 1`);
  }
  assert.equal(address.opened.length, 1);
});

test("a request that another one is in flight beside has a client of its own, which closes after it", async () => {
  const address = new FakeAddress();
  const [status, liveness] = [address.clients.connect(origin), address.clients.connect(origin)];
  const slow = liveness.get("/liveness");
  const quick = status.get("/leader");
  await address.answer(2);
  assert.equal(textOf(await quick), "/leader by 2");
  assert.deepEqual(address.closed, [], "it is free");
  await address.answer(1);
  assert.equal(textOf(await slow), "/liveness by 1");
  assert.deepEqual(address.closed, [1], "one is free already");
  const next = liveness.get("/liveness");
  await address.answer(2);
  assert.equal(textOf(await next), "/liveness by 2");
});

test("other addresses share nothing", async () => {
  const address = new FakeAddress();
  const replies = [origin, "http://pg2:8008"].map((each) => address.clients.connect(each).get("/leader"));
  await address.answer(1, 2);
  assert.deepEqual((await Promise.all(replies)).map(textOf), ["/leader by 1", "/leader by 2"]);
});

test("whoever connects after a close gets no connection from before it, and others keep what they have in flight", async () => {
  const address = new FakeAddress();
  const [status, liveness] = [address.clients.connect(origin), address.clients.connect(origin)];
  const [ended, goesOn] = [status.get("/leader"), liveness.get("/liveness")];
  status.close();
  assert.equal(textOf(await ended), "closed");
  assert.equal(textOf(await status.get("/leader")), "the connection was closed");
  const again = address.clients.connect(origin).get("/leader");
  assert.equal(address.opened.length, 3);
  await address.answer(2);
  assert.equal(textOf(await goesOn), "/liveness by 2");
  assert.deepEqual(address.closed, [1, 2], "that of before the close is not used again");
  await address.answer(3);
  assert.equal(textOf(await again), "/leader by 3");
});

test("the last close leaves no client open", async () => {
  const address = new FakeAddress();
  const user = address.clients.connect(origin);
  const reply = user.get("/leader");
  await address.answer(1);
  await reply;
  user.close();
  user.close();
  assert.deepEqual(address.closed, [1]);
});

const acts = array(
  oneof(
    record({ kind: constant("connect" as const) }),
    record({ kind: constant("get" as const), at: nat() }),
    record({ kind: constant("answer" as const), at: nat() }),
    record({ kind: constant("close" as const), at: nat() }),
  ),
  { maxLength: 40 },
);

test("whatever is asked, answered and closed: a client has one request, all end, and none stays open", async () => {
  await assertProperty(
    asyncProperty(acts, async (all) => {
      const address = new FakeAddress();
      const users: NodeConnection[] = [];
      const replies: Promise<NodeReply>[] = [];
      for (const act of all) {
        const user = act.kind === "connect" ? undefined : users[act.at % Math.max(1, users.length)];
        if (act.kind === "connect") users.push(address.clients.connect(origin));
        if (act.kind === "get" && user !== undefined) replies.push(user.get("/leader"));
        if (act.kind === "answer") await address.answer((act.at % Math.max(1, address.opened.length)) + 1);
        if (act.kind === "close" && user !== undefined) {
          user.close();
          users.splice(users.indexOf(user), 1);
          const openedBefore = address.opened.length;
          const fresh = address.clients.connect(origin);
          users.push(fresh);
          replies.push(fresh.get("/leader"));
          assert.equal(address.opened.length, openedBefore + 1, "after a close, a new one");
        }
        await runPendingTasks();
        assert.ok(
          address.opened.filter(({ isClosed, end }) => !isClosed && end === null).length <= 1,
          "one is free at most",
        );
      }
      for (const user of users) user.close();
      await Promise.all(replies);
      await runPendingTasks();
      assert.equal(address.closed.length, address.opened.length);
    }),
    { numRuns: 300 },
  );
});

test("what a user keeps of its last body still counts after the request of another one over the same connection", async (context) => {
  let connections = 0;
  const server = await serveRaw(context, (socket) => {
    connections += 1;
    socket.on("data", (request: Buffer) => {
      const body = request.toString().startsWith("GET /leader ") ? "x".repeat(20_000) : "{}";
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    });
  });
  const budget = new ByteBudget({ held: 20_000, perSecond: 1e9, burst: 1e9 }, () => 0);
  const clients = new SharedClients(
    (to) => new NodeClient(to, { connectTimeoutMs: 1_000, timeoutMs: 60_000, budget }, null),
    budget,
  );
  const [status, liveness] = [clients.connect(server.origin), clients.connect(server.origin)];
  context.after(() => [status, liveness].forEach((user) => user.close()));
  await status.get("/leader");
  await liveness.get("/liveness");
  assert.equal(connections, 1);
  assert.equal(budget.hold(10_000), false, "the status document is kept");
  status.close();
  assert.equal(budget.hold(10_000), true, "nobody keeps it");
});

test("an answer that nobody asked for reaches no other user of the connection", async (context) => {
  let requests = 0;
  const server = await serveRaw(context, (socket) => {
    socket.on("data", () => {
      requests += 1;
      const answer = (body: string): string => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
      socket.write(requests === 1 ? answer("first") + answer("smuggled") : answer("asked for"));
    });
  });
  const clients = new SharedClients(
    (to) => new NodeClient(to, { connectTimeoutMs: 1_000, timeoutMs: 60_000 }, null),
    null,
  );
  const [status, liveness] = [clients.connect(server.origin), clients.connect(server.origin)];
  context.after(() => [status, liveness].forEach((user) => user.close()));
  await status.get("/leader");
  assert.notEqual(textOf(await liveness.get("/liveness")), "smuggled");
  assert.equal(textOf(await liveness.get("/liveness")), "asked for");
});

import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { readApiAccess } from "../../../../src/features/kubernetes/api/api-access.ts";
import { ApiClient, type ApiReply, refusalText } from "../../../../src/features/kubernetes/api/api-client.ts";
import { FakeApiServer, type Misbehaviour } from "../../../fake/fake-api-server.ts";
import { until } from "../../../fake/until.ts";

const list = { method: "GET", path: "/api/v1/namespaces/databases/services" } as const;

interface Fixture {
  readonly server: FakeApiServer;
  readonly client: ApiClient;
  /** How often the files were read. */
  readonly reads: () => number;
  readonly pass: (ms: number) => void;
}

async function fixture(context: TestContext, callMs = 2_000): Promise<Fixture> {
  const server = await FakeApiServer.open(context);
  let [reads, nowMs] = [0, 1_000];
  const file = server.kubeconfig();
  const client = new ApiClient({
    readAccess: () => {
      reads += 1;
      return readApiAccess({ kubeconfig: file, context: null }, {});
    },
    now: () => nowMs,
    callMs,
  });
  context.after(() => client.close());
  return { server, client, reads: () => reads, pass: (ms) => void (nowMs += ms) };
}

/** What a call has come to, as text. */
function textOf(reply: ApiReply): string {
  if (reply.kind === "failed") return `${reply.failure.kind}: ${reply.failure.detail}`;
  return reply.status < 300 ? `status ${reply.status}` : refusalText(reply);
}

describe("calls to the API server", () => {
  test("have the token, and say what they accept", async (context) => {
    const { server, client } = await fixture(context);
    assert.equal(textOf(await client.call(list)), "status 200");
    assert.equal(client.namespace, "databases");
    assert.equal(server.calls[0]?.token, "good");
  });

  test("after 401 the token is read again, and the call is sent once more", async (context) => {
    const { server, client, reads } = await fixture(context);
    await client.call(list);
    server.token = "rotated";
    server.kubeconfig();
    assert.equal(textOf(await client.call(list)), "status 200");
    assert.equal(reads(), 2);
    server.token = "unknown to rolecall";
    assert.equal(textOf(await client.call(list)), "status 401: Unauthorized");
    assert.equal(server.calls.length, 5);
  });

  test("the files are read again in time, before the token ends", async (context) => {
    const { server, client, pass } = await fixture(context);
    await client.call(list);
    server.kubeconfig("rotated");
    pass(29_000);
    await client.call(list);
    pass(2_000);
    server.token = "rotated";
    await client.call(list);
    assert.deepEqual(
      server.calls.map(({ token }) => token),
      ["good", "good", "rotated"],
    );
  });

  const forbidden = 'services is forbidden: User "rolecall" cannot list resource "services"';
  const far = { "retry-after": "100000" };
  const rows: readonly (readonly [string, Misbehaviour | "denied", string, number])[] = [
    ["403 names the right that is missing", "denied", `status 403: ${forbidden}`, 0],
    ["429 without a time", { kind: "answer", status: 429, body: "Too many requests" }, "status 429", 1_000],
    [
      "429 with a time",
      { kind: "answer", status: 429, body: "{}", headers: { "retry-after": "7" } },
      "status 429",
      7_000,
    ],
    ["429 for too long", { kind: "answer", status: 429, body: "{}", headers: far }, "status 429", 30_000],
    [
      "503 with a time",
      { kind: "answer", status: 503, body: "{}", headers: { "retry-after": "2" } },
      "status 503",
      2_000,
    ],
    ["500 of a proxy", { kind: "answer", status: 500, body: "<html>" }, "status 500", 0],
    ["504 of the server", { kind: "answer", status: 504, body: '{"message":"too slow"}' }, "status 504: too slow", 0],
    ["a cut connection", { kind: "reset" }, "reset: connection closed by the node before its answer", 0],
    ["no answer", { kind: "hang" }, "timeout: no answer within 300 ms", 0],
    [
      "an answer without an end",
      { kind: "answer", status: 200, body: `"${"x".repeat(9 * 1024 * 1024)}"` },
      "too_large: a body of more than 8388608 bytes, or of too many values",
      0,
    ],
  ];
  for (const [what, bad, expected, pauseMs] of rows)
    test(`${what}: ${expected}`, async (context) => {
      // Only what never answers may take as long as it wants.
      const isHung = bad !== "denied" && bad.kind === "hang";
      const { server, client } = await fixture(context, isHung ? 300 : 20_000);
      if (bad === "denied") server.denied.add("list services");
      else server.misbehave = () => bad;
      assert.ok(textOf(await client.call(list)).startsWith(expected));
      assert.equal(client.pauseMs, pauseMs);
    });

  test("while the server is out of reach, it is tried a few times a second at most", async (context) => {
    const { server, client, pass } = await fixture(context);
    server.misbehave = () => ({ kind: "reset" });
    await client.call(list);
    assert.equal(textOf(await client.call(list)), "unreachable: the API server was out of reach just now");
    assert.equal(server.calls.length, 1);
    pass(200);
    server.misbehave = () => null;
    assert.equal(textOf(await client.call(list)), "status 200");
  });

  test("without its files a call fails, and says which", async () => {
    const access = (): never => {
      throw new Error("Cannot read /none: it is not there");
    };
    const client = new ApiClient({ readAccess: access, now: () => 0 });
    assert.match(textOf(await client.call(list)), /Cannot read \/none/);
  });

  test("a file that is replaced just now does not end the calls", async (context) => {
    const server = await FakeApiServer.open(context);
    const file = server.kubeconfig();
    let [isThere, nowMs] = [true, 0];
    const client = new ApiClient({
      readAccess: () => {
        if (!isThere) throw new Error("Cannot read the token");
        return readApiAccess({ kubeconfig: file, context: null }, {});
      },
      now: () => nowMs,
    });
    context.after(() => client.close());
    await client.call(list);
    isThere = false;
    nowMs = 60_000;
    assert.equal(textOf(await client.call(list)), "status 200");
  });

  test("what is open ends when it is aborted, and when the client is closed", async (context) => {
    const { server, client } = await fixture(context);
    for (const end of ["abort", "close"] as const) {
      const ending = new AbortController();
      const stream = await client.open(`${list.path}?watch=true`, ending.signal);
      assert.equal(stream.kind, "open");
      if (stream.kind !== "open") return;
      const over = (async () => {
        for await (const _ of stream.body);
      })().then(
        () => "ended",
        () => "failed",
      );
      await until("the watch", () => server.watches === 1);
      if (end === "abort") ending.abort();
      else client.close();
      assert.equal(await over, "failed");
      await until("the end of the watch", () => server.watches === 0);
    }
  });
});

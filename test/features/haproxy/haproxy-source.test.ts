import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test, type TestContext } from "node:test";
import { haproxySource } from "../../../src/features/haproxy/haproxy-source.ts";
import { haproxyBackendOf } from "../../fake/config.ts";
import { listenDuringTest } from "../../fake/listen.ts";

/** Nothing ends a read early. */
const unlimited = new AbortController().signal;

const head = "# pxname,svname,scur,stot,status,weight,iid,type,check_fall,";

/** A Runtime API that knows some commands. @returns its port, and the commands that it got */
async function runtimeApi(
  context: TestContext,
  answers: Readonly<Record<string, readonly string[]>>,
): Promise<{ readonly port: number; readonly asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      for (const command of bytes
        .toString()
        .split("\n")
        .filter((line) => line !== "")) {
        if (command !== "prompt") asked.push(command);
        socket.write(`${(answers[command] ?? []).join("\n")}\n\n> `);
      }
    });
  });
  return { port: await listenDuringTest(context, server), asked };
}

function sourceAt(port: number): ReturnType<typeof haproxySource> {
  const backends = [haproxyBackendOf({ name: "w" }), haproxyBackendOf({ name: "r", interMs: 5_000 })];
  const socket = { host: "127.0.0.1", port };
  return haproxySource({ socket, zone: null, cutSessions: false, backends }, 20_000);
}

const ofR = [head, "r,pg2,1,1,UP,1,5,2,2,", "r,BACKEND,1,1,UP,1,5,1,,"];
const ofW = [head, "w,pg1,3,9,UP,1,4,2,,", "w,BACKEND,3,9,UP,1,4,1,,"];

test("asks HAProxy once where every backend has a name of its own", async (context) => {
  const { port, asked } = await runtimeApi(context, { "show stat w 6 -1": ofW, "show stat r 6 -1": ofR });
  const pools = await sourceAt(port).read(unlimited);
  assert.deepEqual(
    pools.map(({ servers }) => servers?.map(({ server, delayMs }) => [server, delayMs])),
    // Three checks of 2 s, two of the 5 s that are configured, and 1 s for a push.
    [[["pg1", 7_000]], [["pg2", 11_000]]],
  );
  assert.deepEqual(asked, ["show stat w 6 -1", "show stat r 6 -1"]);
});

test("finds a backend that has the name of a frontend", async (context) => {
  const { port } = await runtimeApi(context, {
    // The frontend answers, and has neither servers nor a backend.
    "show stat w 6 -1": [head],
    "show stat r 6 -1": ofR,
    "show stat -1 2 -1": [head, "w,BACKEND,3,9,UP,1,4,1,,", "r,BACKEND,1,1,UP,1,5,1,,"],
    "show stat 4 6 -1": ofW,
    "show stat 5 6 -1": ofR,
  });
  const pools = await sourceAt(port).read(unlimited);
  assert.deepEqual(
    pools.map(({ servers }) => servers?.map(({ server }) => server)),
    [["pg1"], ["pg2"]],
  );
});

test("says that HAProxy has no backend where only a frontend has the name", async (context) => {
  const { port } = await runtimeApi(context, {
    "show stat w 6 -1": [head],
    "show stat r 6 -1": ofR,
    "show stat -1 2 -1": [head, "r,BACKEND,1,1,UP,1,5,1,,"],
    "show stat 5 6 -1": ofR,
  });
  const pools = await sourceAt(port).read(unlimited);
  assert.deepEqual(
    pools.map(({ servers }) => servers?.map(({ server }) => server)),
    [undefined, ["pg2"]],
  );
});

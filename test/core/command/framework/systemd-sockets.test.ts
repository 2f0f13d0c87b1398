import assert from "node:assert/strict";
import { test } from "node:test";
import { systemdSockets } from "../../../../src/core/command/framework/systemd-sockets.ts";

const own = String(process.pid);
const environments: readonly (readonly [title: string, env: Record<string, string>, sockets: readonly number[]])[] = [
  ["none", {}, []],
  ["one", { LISTEN_PID: own, LISTEN_FDS: "1" }, [3]],
  ["three", { LISTEN_PID: own, LISTEN_FDS: "3" }, [3, 4, 5]],
  ["those of another process", { LISTEN_PID: String(process.pid + 1), LISTEN_FDS: "1" }, []],
  ["those of nobody", { LISTEN_FDS: "1" }, []],
  ["a count of zero", { LISTEN_PID: own, LISTEN_FDS: "0" }, []],
  ["a negative count", { LISTEN_PID: own, LISTEN_FDS: "-1" }, []],
  ["no number", { LISTEN_PID: own, LISTEN_FDS: "two" }, []],
  ["more than any service has", { LISTEN_PID: own, LISTEN_FDS: "1000000000" }, []],
];
for (const [title, env, sockets] of environments) {
  test(`finds the inherited sockets: ${title}`, () => assert.deepEqual(systemdSockets(env), sockets));
}

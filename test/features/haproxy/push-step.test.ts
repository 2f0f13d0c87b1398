import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { inPushOrder, pushStep } from "../../../src/features/haproxy/push-step.ts";
import { parseServerStates, type ServerState } from "../../../src/features/haproxy/server-state.ts";
import type { ServerChange } from "../../../src/core/balancing/server-change.ts";

const running: ServerState = {
  id: 1,
  isAdded: false,
  address: { host: "127.0.0.1", port: 5432 },
  isInMaintenance: false,
  operational: "running",
  isReserved: false,
  isChecked: true,
  checkHealth: 4,
  weight: 100,
  initialWeight: 100,
};
const stopped: ServerState = { ...running, operational: "stopped", checkHealth: 0 };

function changeTo(parts: Partial<ServerChange>): ServerChange {
  return { backend: "b", server: "s", target: null, weight: null, cutsSessions: false, atMs: 0, ...parts };
}

const set = (what: string): string => `set server b/s ${what}`;
const rows: readonly [string, Partial<ServerChange>, ServerState | undefined, readonly string[], string][] = [
  ["a yes for a stopped server", { target: "up" }, stopped, [set("health up")], "pushed"],
  [
    "a yes for a draining server",
    { target: "up" },
    { ...running, operational: "stopping" },
    [set("health up")],
    "pushed",
  ],
  ["a yes for a running server", { target: "up" }, running, [], "unchanged"],
  ["a yes for a server in slow start", { target: "up" }, { ...running, operational: "starting" }, [], "unchanged"],
  ["a no for a running server", { target: "down" }, running, [set("health down")], "pushed"],
  [
    "a no for a stopped server that rises",
    { target: "down" },
    { ...stopped, checkHealth: 1 },
    [set("health down")],
    "pushed",
  ],
  ["a no for a stopped server", { target: "down" }, stopped, [], "unchanged"],
  ["a drain of a running server", { target: "drain" }, running, [set("health stopping")], "pushed"],
  ["a drain of a stopped server", { target: "drain" }, stopped, [], "unchanged"],
  ["a weight alone", { weight: 50 }, stopped, [set("weight 50")], "pushed"],
  ["a weight that is set", { weight: 100 }, running, [], "unchanged"],
  ["a weight of a server with weight 1", { weight: 10 }, { ...running, weight: 1, initialWeight: 1 }, [], "unchanged"],
  ["a weight of a server with weight 0", { weight: 10 }, { ...running, weight: 0, initialWeight: 0 }, [], "unchanged"],
  ["a no in maintenance", { target: "down" }, { ...running, isReserved: true }, [], "reserved"],
  ["a no for a server without check", { target: "down" }, { ...running, isChecked: false }, [], "unchecked"],
  ["a no for a server that does not exist", { target: "down" }, undefined, [], "missing"],
];

suite("the commands of a change", () => {
  for (const [title, change, state, commands, outcome] of rows)
    test(title, () => {
      const step = pushStep(changeTo(change), state);
      assert.deepEqual([step.sets, step.outcome, step.cut], [commands, outcome, null]);
    });

  test("sessions are closed also if the server is down already, but not in maintenance", () => {
    const change = changeTo({ target: "down", cutsSessions: true });
    assert.equal(pushStep(change, stopped).cut, "shutdown sessions server b/s");
    assert.equal(pushStep(change, { ...stopped, isReserved: true }).cut, null);
  });

  test("servers leave before others enter", () => {
    const steps = (["up", null, "drain", "down"] as const).map((target) => pushStep(changeTo({ target }), running));
    assert.deepEqual(
      inPushOrder(steps).map(({ change }) => change.target),
      ["down", "drain", "up", null],
    );
  });
});

const head =
  "1\n# be_name srv_name srv_op_state srv_admin_state srv_uweight srv_iweight srv_check_health srv_check_state";

suite("show servers state", () => {
  for (const [admin, isReserved] of [
    [0, false],
    [0x01, true],
    [0x02, true],
    [0x04, false],
    [0x05, true],
    [0x08, true],
    [0x10, true],
    [0x20, true],
    [0x40, true],
  ] as const)
    test(`srv_admin_state ${admin} ${isReserved ? "is" : "is not"} an operator's`, () => {
      const states = parseServerStates(`${head}\nb s 2 ${admin} 1 1 4 6\n\n`);
      assert.equal(states?.get("s")?.isReserved, isReserved);
    });

  for (const [checks, isChecked] of [
    [6, true],
    [14, true],
    [2, false],
    [0, false],
  ] as const)
    test(`srv_check_state ${checks} ${isChecked ? "is" : "is not"} a checked server`, () => {
      assert.equal(parseServerStates(`${head}\nb s 2 0 1 1 4 ${checks}`)?.get("s")?.isChecked, isChecked);
    });

  test("names a backend that does not exist, and rejects any other answer", () => {
    assert.equal(parseServerStates("Can't find backend."), null);
    for (const answer of ["", "Permission denied", "HTTP/1.1 400"])
      assert.throws(() => parseServerStates(answer), /unexpected answer to show servers state/);
  });
});

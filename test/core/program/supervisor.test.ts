import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { supervisorOf } from "../../../src/core/program/supervisor.ts";

const watchdog = { WATCHDOG_USEC: "10000000", NOTIFY_SOCKET: "@notify" };

suite("what starts rolecall again", () => {
  const rows: readonly (readonly [string, NodeJS.ProcessEnv, boolean, "none" | "unit" | "container", number | null])[] =
    [
      ["a shell", {}, false, "none", null],
      ["a unit of systemd", { SYSTEMD_EXEC_PID: "7" }, true, "unit", null],
      ["a unit of systemd before 248, by its invocation", { INVOCATION_ID: "0a" }, false, "unit", null],
      ["a child of a unit", { SYSTEMD_EXEC_PID: "6", WATCHDOG_PID: "6", ...watchdog }, false, "none", null],
      ["a unit with a watchdog", { SYSTEMD_EXEC_PID: "7", WATCHDOG_PID: "7", ...watchdog }, true, "unit", 10_000],
      ["a unit with a watchdog, before systemd 248", { WATCHDOG_PID: "7", ...watchdog }, true, "unit", 10_000],
      ["a watchdog of whoever has its variables", { SYSTEMD_EXEC_PID: "7", ...watchdog }, true, "unit", 10_000],
      ["a watchdog of another process", { SYSTEMD_EXEC_PID: "7", WATCHDOG_PID: "6", ...watchdog }, true, "unit", null],
      [
        "a watchdog that is no number",
        { SYSTEMD_EXEC_PID: "7", ...watchdog, WATCHDOG_USEC: "10s" },
        true,
        "unit",
        null,
      ],
      ["a watchdog that cannot be told", { SYSTEMD_EXEC_PID: "7", WATCHDOG_USEC: "10000000" }, true, "unit", null],
      ["a container in Kubernetes", { KUBERNETES_SERVICE_HOST: "10.0.0.1" }, true, "container", null],
    ];
  for (const [name, env, isPresent, ends, watchdogMs] of rows)
    test(name, () => assert.deepEqual(supervisorOf(env, 7), { isPresent, ends, watchdogMs }));

  test("the first process of a container", () =>
    assert.deepEqual(supervisorOf({}, 1), { isPresent: false, ends: "container", watchdogMs: null }));
});

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { supervisorOf } from "../../../src/switchover/checks/supervisor.ts";

const watchdog = { WATCHDOG_USEC: "10000000", NOTIFY_SOCKET: "@notify" };

suite("what starts rolecall again", () => {
  const rows: readonly (readonly [string, NodeJS.ProcessEnv, boolean, number | null])[] = [
    ["a shell", {}, false, null],
    ["a unit of systemd", { SYSTEMD_EXEC_PID: "7" }, true, null],
    ["a child of a unit", { SYSTEMD_EXEC_PID: "6", WATCHDOG_PID: "6", ...watchdog }, false, null],
    ["a unit with a watchdog", { SYSTEMD_EXEC_PID: "7", WATCHDOG_PID: "7", ...watchdog }, true, 10_000],
    ["a unit with a watchdog, before systemd 248", { WATCHDOG_PID: "7", ...watchdog }, true, 10_000],
    ["a watchdog of whoever has its variables", { SYSTEMD_EXEC_PID: "7", ...watchdog }, true, 10_000],
    ["a watchdog of another process", { SYSTEMD_EXEC_PID: "7", WATCHDOG_PID: "6", ...watchdog }, true, null],
    ["a watchdog that is no number", { SYSTEMD_EXEC_PID: "7", ...watchdog, WATCHDOG_USEC: "10s" }, true, null],
    ["a watchdog that cannot be told", { SYSTEMD_EXEC_PID: "7", WATCHDOG_USEC: "10000000" }, true, null],
    ["a container in Kubernetes", { KUBERNETES_SERVICE_HOST: "10.0.0.1" }, true, null],
  ];
  for (const [name, env, isPresent, watchdogMs] of rows)
    test(name, () => assert.deepEqual(supervisorOf(env, 7), { isPresent, watchdogMs }));
});

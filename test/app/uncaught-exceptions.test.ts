import assert from "node:assert/strict";
import { test } from "node:test";
import { containedModules, hasWrittenNothingShared } from "../../src/app/uncaught-exceptions.ts";
import { readSources } from "../fake/source-files.ts";

const source = new URL("../../src/", import.meta.url);

function errorIn(...modules: readonly string[]): Error {
  const error = new Error("planted");
  const frames = modules.map((module) => `    at work (${new URL(`${module}.js`, source).href}:1:2)`);
  error.stack = ["Error: planted", ...frames, "    at Socket.emit (node:events:518:28)"].join("\n");
  return error;
}

test("each beginning of a path in the list of modules that write nothing shared is that of a module", () => {
  const files = readSources("src").map(({ file }) => file);
  assert.deepEqual(
    containedModules.filter((beginning) => !files.some((file) => file.startsWith(beginning))),
    [],
  );
});

for (const [modules, isContained] of [
  [[], true],
  [["core/http/listener/listener"], true],
  [["features/xds/xds-service"], true],
  [["core/balancing/balancer-set", "features/haproxy/haproxy-balancer"], true],
  [["features/xds/xds-service", "core/feature/scope"], true],
  [["features/haproxy/haproxy-balancer", "core/feature/offer"], false],
  [["features/gateway/gateway"], true],
  [["core/probe/node-prober", "core/health/observe/observe"], true],
  [["core/state/store"], false],
  [["features/haproxy/haproxy-balancer", "app/monitor"], false],
  [["features/switchover/switchovers"], false],
  [["core/workers/relay-server"], true],
  [["core/workers/worker-pool"], false],
] as const)
  test(`an exception in ${modules.join(", ") || "Node alone"} ${isContained ? "is contained" : "ends the process"}`, () => {
    assert.equal(hasWrittenNothingShared(errorIn(...modules)), isContained);
  });

import assert from "node:assert/strict";
import { test } from "node:test";
import { configKeys } from "../../../src/app/registry/config.ts";
import { readEnvironment } from "../../../src/core/config/sources/environment.ts";

test("a service ignores the variables of commands, and still reports a misspelt one", () => {
  const client = { ROLECALL_SERVER: "10.0.0.1", ROLECALL_CONTEXT: "prod", ROLECALL_CONTEXTS_FILE: "contexts.yaml" };
  assert.deepEqual(readEnvironment(client, configKeys).problems, []);
  assert.equal(readEnvironment({ ROLECALL_SEVER: "10.0.0.1" }, configKeys).problems.length, 1);
});

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { oneOf } from "../../../../src/core/cluster/values/one-of.ts";

test("names are listed, and an empty list says that there is none", () => {
  assert.equal(oneOf(["pg1"], "node"), "one of pg1");
  assert.equal(oneOf(new Set(["pg1", "pg2"]), "node"), "one of pg1, pg2");
  assert.equal(oneOf([], "node"), "a known node, and there is none yet");
});

test("no text lists the names of clusters, nodes or members by itself: there may be none", () => {
  const listed =
    /one of \$\{(?!routePaths|faultNames|garbageStyles|sslModes|hintEvents|eventSeverities|exporterRoles)[^}]*\.join\(/;
  const own = ["core/cluster/values/one-of.ts", ...lists];
  const found = readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !own.includes(file))
    .filter((file) => listed.test(readFileSync(`src/${file}`, "utf8")));
  assert.deepEqual(found, []);
});

/** What these list is never empty. */
const lists: readonly string[] = [
  "core/command/client/node-name.ts", // of several clusters; an unknown name has `oneOf`'s words
  "core/command/connect/connection.ts", // contexts; without one it says so before
  "core/command/contexts/contexts-file.ts", // after a look whether there is one
  "core/command/framework/arguments.ts", // options and choices of a command
  "core/command/result/policy-file.ts", // dispositions
  "core/config/schema/listener-schema.ts", // dialects
  "core/config/schema/schema.ts", // levels and formats of the log
  "core/config/sources/unknown-names.ts", // keys of the configuration
  "core/health/check.ts", // parameters of checks
  "core/http/node-api/route-management.ts", // pages of exporters
  "core/http/node-api/route-request.ts", // routes
  "core/program/child-program.ts", // files of the program
  "features/history/cli/past-incident.ts", // of several clusters
  "features/replay/file/reading.ts", // what a file may have
  "features/switchover/run/read-request.ts", // after a look whether there is one
];

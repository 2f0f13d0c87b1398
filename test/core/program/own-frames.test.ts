import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { ownModuleOf } from "../../../src/core/program/own-frames.ts";
import { readProgramFile } from "../../../src/core/program/program-files.ts";

const own = new URL("../../../src/", import.meta.url).href;

describe("the module of a stack frame", () => {
  for (const [frame, module] of [
    [`    at work (${own}core/state/store.js:1:2)`, "core/state/store"],
    [`    at async work (${own}core/http/listener/listener.js:1:2)`, "core/http/listener/listener"],
    [`    at ${own}app/app.js:10:20`, "app/app"],
    [`    at Object.work [as run] (${own}core/state/store.js:1:2)`, "core/state/store"],
    ["    at Socket.emit (node:events:513:28)", null],
    ["    at web (/srv/node_modules/http-proxy/dist/lib/index.js:150:9)", null],
    ["    at new Promise (<anonymous>)", null],
    ["    at", null],
  ] as const)
    test(frame.replace(own, ""), () => assert.equal(ownModuleOf(frame), module));
});

test("the table of the bundle names the module of every function of the program", () => {
  const table: Readonly<Record<string, readonly (readonly [number, string | null])[]>> = JSON.parse(
    readFileSync("dist/modules.json", "utf8"),
  );
  const bundles = readdirSync("dist", { recursive: true, encoding: "utf8" }).filter(
    (name) => /\.c?js$/.test(name) && !name.startsWith("web/"),
  );
  assert.equal(Object.keys(table).length, bundles.length);
  const found = bundles.flatMap((name) => {
    const lines = readFileSync(`dist/${name}`, "utf8").split("\n");
    const at = lines.findIndex((line) => line.startsWith("function hasWrittenNothingShared("));
    return at < 0 ? [] : [table[name.replace(/.*\//, "")]?.findLast(([start]) => start <= at + 1)?.[1]];
  });
  assert.deepEqual([...new Set(found)], ["app/uncaught-exceptions"]);
});

test("a file that the program does not have is null", () => {
  assert.equal(readProgramFile("no-such-file"), null);
  assert.match(readProgramFile("package.json")?.toString() ?? "", /"name": "rolecall"/);
});

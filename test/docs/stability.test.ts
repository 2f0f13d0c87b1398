/**
 * What docs/stability.md promises: each name of 1.0 is still there. `UPDATE_STABLE=1` adds the names of now to the list,
 * which is right for a release; a name leaves the list only with a major version, by hand.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { parse, stringify } from "yaml";
import { configJsonSchema } from "../../src/app/registry/config.ts";
import { eventKinds } from "../../src/app/registry/event-kinds.ts";
import { oldNames } from "../../src/app/registry/old-names.ts";
import { allCommands } from "../../src/cli/specs/commands.ts";
import { defaultServers } from "../../src/core/command/connect/listener-finder.ts";
import { schemaVersion } from "../../src/core/command/result/document.ts";
import { ruleIds } from "../../src/core/command/result/rule-ids.ts";
import { resultSchema } from "../../src/core/command/result/schema.ts";
import { removedKeys } from "../../src/core/config/sources/removed-keys.ts";
import { readSchema } from "../../src/core/config/schema/json-schema.ts";
import { parameterNames } from "../../src/core/health/check.ts";
import { hardReasons, softReasons } from "../../src/core/health/reason.ts";
import { routePaths } from "../../src/core/health/route.ts";
import { keyPaths } from "../fake/key-paths.ts";

const file = "test/spec/stable.yaml";
const page = readFileSync("docs/stability.md", "utf8");

/** All matches of a pattern in a file, by its first group. */
function named(path: string, pattern: RegExp): readonly string[] {
  return [...readFileSync(path, "utf8").matchAll(pattern)].map(([, name = ""]) => name);
}

/** The metrics of docs/metrics.md with their labels: a test compares their names with those of the source. */
function metrics(): readonly string[] {
  return named("docs/metrics.md", /^\| (`[^|]*`)[^|]* \|/gm).flatMap((cell) =>
    [...cell.matchAll(/`((?:rolecall|process)_\w+(?:\{[\w,]*\})?)`/g)].map(([, name = ""]) => name),
  );
}

/** The codes of refusals of docs/management.md, such as 403 `not_allowed` `cross_origin`, that the source has. */
function refusals(): readonly string[] {
  const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(join("src", name), "utf8"))
    .join("\n");
  const codes = named("docs/management.md", /\b[45]\d\d((?:,? `[a-z_]+`)+)/g).flatMap(
    (text) => text.match(/[a-z_]+/g) ?? [],
  );
  return [...new Set(codes)].filter((code) => sources.includes(`"${code}"`));
}

/** What the page names as stable, as it is now. The names of the parts are those of the page. */
const present: Readonly<Record<string, readonly string[]>> = {
  "paths of checks": routePaths(),
  "their parameters": parameterNames(),
  "hard reasons": hardReasons,
  "other reasons": softReasons,
  metrics: metrics(),
  keys: keyPaths(readSchema(configJsonSchema())),
  "kinds of events": eventKinds,
  alerts: named("deploy/prometheus/rolecall-rules.yml", /^ *- alert: (\w+)$/gm),
  "rule ids": ruleIds,
  refusals: refusals(),
  commands: allCommands.map(({ name }) => name),
  options: allCommands.flatMap(({ name, options }) => options.map((option) => `${name} --${option.name}`)),
  "old names": oldNames.map(({ was }) => was),
  "removed keys": removedKeys.map(({ path }) => path),
};

if (process.env["UPDATE_STABLE"] === "1") {
  const known: Readonly<Record<string, readonly string[]>> = parse(readFileSync(file, "utf8")) ?? {};
  const all = Object.entries(present).map(([part, names]) => [part, [...new Set([...(known[part] ?? []), ...names])]]);
  const [comment = ""] = readFileSync(file, "utf8").split(/^(?!#)/m);
  writeFileSync(file, comment + stringify(Object.fromEntries(all), { lineWidth: 0 }));
}

const stable: Readonly<Record<string, readonly string[]>> = parse(readFileSync(file, "utf8"));

describe("what docs/stability.md promises", () => {
  test("has its names in the list, part by part", () => {
    assert.deepEqual(Object.keys(stable).toSorted(), Object.keys(present).toSorted());
  });

  for (const [part, names] of Object.entries(stable))
    test(`${part}: each of ${names.length} is still there`, () => {
      assert.ok(names.length > 2, "a list that lost its names proves nothing");
      const now = new Set(present[part]);
      assert.deepEqual(
        names.filter((name) => !now.has(name)),
        [],
      );
    });

  test("every row of its table has a part of the list", () => {
    const rows = [...page.matchAll(/^\| ([a-z][^|]*?) \| \[/gm)].map(([, row = ""]) => row);
    assert.deepEqual(rows, [
      "paths of checks and their parameters",
      "reasons, and which of them are hard",
      "metrics with their labels",
      "keys of the configuration",
      "kinds of events",
      "names of alerts",
      "rule ids (RC…)",
      "refusals of management calls",
      "commands and their options",
      "old names of commands, and removed keys, until 2.0",
    ]);
  });

  test("states the exit codes, ports and version of the result document that the source has", () => {
    const { exit_code: exitCode } = resultSchema["properties"] as { exit_code: { enum: readonly number[] } };
    assert.ok(
      page.includes(
        `**Exit codes**: ${exitCode.enum
          .map((code) => `\`${code}\``)
          .join(", ")
          .replace(/, ([^,]*)$/, " and $1")},`,
      ),
    );
    const [health, admin] = [defaultServers.node, defaultServers.admin].map((url) => new URL(url).port);
    const exporter = /Default with the dialect exporter: (\d+)/.exec(JSON.stringify(configJsonSchema()))?.[1];
    const ports = `\`${health}\` for health checks, \`${admin}\` for an admin listener, \`${exporter}\` for an exporter listener`;
    assert.ok(page.replaceAll(/\s+/g, " ").includes(ports), ports);
    assert.ok(page.includes(`\`${schemaVersion}\``));
  });
});

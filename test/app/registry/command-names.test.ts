/** Every text of the program that names a command has the name of now: advice, explanations, alerts, files, pages. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { oldNames } from "../../../src/app/registry/old-names.ts";

/** What people read of it: sources with their texts, and files that are installed or shown. */
const places = ["src", "deploy", "config", "docs", "packaging", "README.md", "SECURITY.md", "Dockerfile"];
/** What names old names on purpose. */
const exempt = ["src/app/registry/old-names.ts", "docs/cli.md"];
const old = [...new Set(oldNames.map(({ was }) => was.split(" ")[0] ?? ""))];

function filesIn(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .map((name) => join(path, name))
    .filter((file) => statSync(file).isFile() && !/\.(?:png|svg|ico|gz|woff2?)$/.test(file));
}

const files = places.flatMap(filesIn).filter((file) => !exempt.includes(file));

test("no text has an old name of a command", () => {
  // "rolecall drains a server" is a sentence.
  const pattern = new RegExp(String.raw`(?<![\w/.-])rolecall\s+(?:${old.join("|")})\b(?!\.\w|[/:]| (?:a|the)\b)`, "g");
  const found = files.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(pattern)].map(([text]) => `${file}: ${text}`),
  );
  assert.deepEqual(found, []);
});

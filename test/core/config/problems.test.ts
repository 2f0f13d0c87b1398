import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import type { LoadedConfig } from "../../../src/core/config/load.ts";
import { loadConfig } from "../../../src/app/registry/config.ts";
import { renderProblems } from "../../../src/core/config/model/problem.ts";

const folder = mkdtempSync(join(tmpdir(), "rolecall-config-"));
after(() => rmSync(folder, { recursive: true }));

function load(text: string): LoadedConfig {
  const file = join(folder, "rolecall.yaml");
  writeFileSync(file, text);
  return loadConfig({ file, env: {}, flags: {} });
}

suite("reports every problem of a file at once, each with its line and path", () => {
  const bad = "test/spec/config/bad";
  for (const name of readdirSync(bad)) {
    test(name, () => {
      const text = readFileSync(join(bad, name), "utf8");
      const expected = [...text.matchAll(/^#! (\d+) (\S+) \| (.+)$/gm)].map(([, line, path = "", part = ""]) => ({
        line: Number(line),
        path: path === "." ? "" : path,
        part,
      }));
      assert.ok(expected.length > 0, "the file lists what is expected");
      const result = loadConfig({ file: join(bad, name), env: {}, flags: {} });
      assert.ok(!result.ok);
      const shown = renderProblems(result.problems);
      const places = (problems: readonly { line: number | null; path: string }[]) =>
        problems.map(({ line, path }) => `${line} ${path}`).sort();
      assert.deepEqual(places(result.problems), places(expected), shown);
      for (const { line, path, part } of expected) {
        const there = result.problems.filter((problem) => problem.line === line && problem.path === path);
        assert.ok(
          there.some(({ message }) => message.includes(part)),
          `${line} ${path} must contain ${part}:\n${shown}`,
        );
      }
      assert.ok(result.problems.every(({ file, where }) => file === join(bad, name) && where.startsWith(`${file}:`)));
      assert.doesNotMatch(shown, /secret[^s]/);
    });
  }
});

suite("an unreadable file is a problem", () => {
  test("if it does not exist", () => {
    const result = loadConfig({ file: join(folder, "none.yaml"), env: {}, flags: {} });
    assert.match(
      result.ok ? "" : renderProblems(result.problems),
      /none\.yaml: cannot be opened: there is no such file$/,
    );
  });
  test("if it is a folder", () => {
    mkdirSync(join(folder, "folder"));
    const result = loadConfig({ file: join(folder, "folder"), env: {}, flags: {} });
    assert.match(result.ok ? "" : renderProblems(result.problems), /must be a regular file/);
  });
  test("if it has more than 1 MiB, but not with exactly 1 MiB", () => {
    const valid = "clusters: [{ name: demo, discover: ['http://10.0.0.1:8008'] }]\n#";
    const result = load(valid.padEnd(1024 * 1024 + 1, " "));
    assert.match(result.ok ? "" : renderProblems(result.problems), /must be at most 1 MiB/);
    assert.ok(load(valid.padEnd(1024 * 1024, " ")).ok);
  });
  test("if it is empty", () => {
    const result = load("");
    assert.match(result.ok ? "" : renderProblems(result.problems), /:1: must be a mapping/);
  });
  test("if it is nested so deep that a recursive parser would overflow its stack", () => {
    for (const opener of ["[", "{", "- ", "a: ", "? "]) {
      const result = load(opener.repeat(100_000));
      assert.match(
        result.ok ? "" : renderProblems(result.problems),
        /must be nested at most 64 deep|cannot be read as YAML/,
      );
    }
  });
  test("if it is nothing but errors, of which a hundred are reported", () => {
    const result = load("}\n".repeat(400_000));
    assert.equal(result.ok ? 0 : result.problems.length, 100);
  });
});

test("shows a hundred problems and counts the others", () => {
  const result = load(Array.from({ length: 130 }, (_, index) => `key${index}: 1`).join("\n"));
  const lines = result.ok ? [] : renderProblems(result.problems).split("\n");
  assert.equal(lines.length, 101);
  assert.equal(lines.at(-1), "and 31 more problems");
});

test("content of a file cannot add lines, terminal sequences or long texts to the messages", () => {
  const key = `"${"k".repeat(100_000)}"`;
  const result = load(`"a\\nb\\e[31m": 1\n? ${key}\n: 1\nlog: { level: "x\\ny${"z".repeat(100_000)}" }\n`);
  const shown = result.ok ? "" : renderProblems(result.problems);
  assert.equal(shown.split("\n").length, 4);
  assert.ok(shown.length < 2000);
  // eslint-disable-next-line no-control-regex -- this character must not be in the text
  assert.doesNotMatch(shown, /\u001b/);
});

test("a problem has the value found and what is allowed", () => {
  const result = load("clusters: [{ name: demo, discover: ['http://10.0.0.1:8008'] }]\nlog:\n  level: loud\n");
  const file = join(folder, "rolecall.yaml");
  const allowed = "one of trace, debug, info, warn, error, fatal, silent";
  assert.deepEqual(result, {
    ok: false,
    problems: [
      {
        where: `${file}:3 log.level`,
        file,
        line: 3,
        path: "log.level",
        found: '"loud"',
        allowed,
        message: `must be ${allowed}, got "loud"`,
      },
    ],
    warnings: [],
  });
});

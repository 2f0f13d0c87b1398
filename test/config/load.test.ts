import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { unrestrictedAccess } from "../../src/config/model/listener-access-config.ts";
import { type ConfigFlags, type LoadedConfig, loadConfig } from "../../src/config/load.ts";
import { renderProblems } from "../../src/config/model/problem.ts";

const folder = mkdtempSync(join(tmpdir(), "rolecall-config-"));
after(() => rmSync(folder, { recursive: true }));

function load(text: string | Uint8Array, env: Record<string, string> = {}, flags: ConfigFlags = {}): LoadedConfig {
  const file = join(folder, "rolecall.yaml");
  writeFileSync(file, text);
  return loadConfig({ file, env, flags });
}

function loaded(result: LoadedConfig) {
  assert.ok(result.ok, result.ok ? "" : renderProblems(result.problems));
  return result.config;
}

suite("a bad file gets every problem at once, each with its line and path", () => {
  const bad = "test/spec/config/bad";
  for (const name of readdirSync(bad)) {
    test(name, () => {
      const text = readFileSync(join(bad, name), "utf8");
      const expected = [...text.matchAll(/^#! (\d+) (\S+) \| (.+)$/gm)].map(([, line, path = "", part = ""]) => ({
        line: Number(line),
        path: path === "." ? "" : path,
        part,
      }));
      assert.ok(expected.length > 0, "the table says what is expected");
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
          `${line} ${path} must say ${part}:\n${shown}`,
        );
      }
      assert.ok(result.problems.every(({ file, where }) => file === join(bad, name) && where.startsWith(`${file}:`)));
      assert.doesNotMatch(shown, /secret[^s]/);
    });
  }
});

suite("a file that cannot be read is a problem", () => {
  test("when it is not there", () => {
    const result = loadConfig({ file: join(folder, "none.yaml"), env: {}, flags: {} });
    assert.match(
      result.ok ? "" : renderProblems(result.problems),
      /none\.yaml: cannot be opened: there is no such file$/,
    );
  });
  test("when it is a folder", () => {
    mkdirSync(join(folder, "folder"));
    const result = loadConfig({ file: join(folder, "folder"), env: {}, flags: {} });
    assert.match(result.ok ? "" : renderProblems(result.problems), /must be a regular file/);
  });
  test("when it is over 1 MiB, and not when it is 1 MiB", () => {
    const valid = "clusters: [{ name: demo, discover: ['http://10.0.0.1:8008'] }]\n#";
    const result = load(valid.padEnd(1024 * 1024 + 1, " "));
    assert.match(result.ok ? "" : renderProblems(result.problems), /must be at most 1 MiB/);
    assert.ok(load(valid.padEnd(1024 * 1024, " ")).ok);
  });
  test("when it is empty", () => {
    const result = load("");
    assert.match(result.ok ? "" : renderProblems(result.problems), /:1: must be a mapping/);
  });
  test("when it nests so deep that a parser would run out of stack", () => {
    for (const opener of ["[", "{", "- ", "a: ", "? "]) {
      const result = load(opener.repeat(100_000));
      assert.match(
        result.ok ? "" : renderProblems(result.problems),
        /must be nested at most 64 deep|cannot be read as YAML/,
      );
    }
  });
  test("when it is nothing but errors: a hundred of them are enough", () => {
    const result = load("}\n".repeat(400_000));
    assert.equal(result.ok ? 0 : result.problems.length, 100);
  });
});

test("more than a hundred problems are counted and not shown", () => {
  const result = load(Array.from({ length: 130 }, (_, index) => `key${index}: 1`).join("\n"));
  const lines = result.ok ? [] : renderProblems(result.problems).split("\n");
  assert.equal(lines.length, 101);
  assert.equal(lines.at(-1), "and 31 more problems");
});

test("what a file says cannot write lines of its own into the problems, nor long ones", () => {
  const key = `"${"k".repeat(100_000)}"`;
  const result = load(`"a\\nb\\e[31m": 1\n? ${key}\n: 1\nlog: { level: "x\\ny${"z".repeat(100_000)}" }\n`);
  const shown = result.ok ? "" : renderProblems(result.problems);
  assert.equal(shown.split("\n").length, 4);
  assert.ok(shown.length < 2000);
  // eslint-disable-next-line no-control-regex -- This is the one that must not be there.
  assert.doesNotMatch(shown, /\u001b/);
});

test("a problem carries the value found and what is allowed", () => {
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
        message: `must be ${allowed}: it is "loud"`,
      },
    ],
  });
});

test("the least file gets every default", () => {
  const config = loaded(
    load("clusters: [{ name: demo, discover: ['HTTP://10.0.0.1:8008/patroni/', 'https://db.internal/'] }]"),
  );
  const guards = {
    exclusivePrimary: true,
    runningPrimary: true,
    attachedReplica: true,
    sameSystem: true,
    attachWindowMs: 10_000,
    demotedForMs: 60_000,
    lagSamples: 1,
    dwellMs: 0,
    handoverHoldMs: 0,
    surviveMs: 0,
  };
  const quiet = {
    address: "127.0.0.1",
    cluster: "demo",
    node: null,
    wholeCluster: false,
    operatorPages: false,
    defaults: "",
    door: unrestrictedAccess,
  };
  assert.deepEqual(config, {
    clusters: [
      {
        name: "demo",
        scope: "demo",
        discover: ["http://10.0.0.1:8008", "https://db.internal"],
        nodes: [],
        tls: null,
        auth: null,
        guards,
      },
    ],
    probe: {
      intervalMs: 1000,
      connectTimeoutMs: 500,
      timeoutMs: 2500,
      fall: 3,
      rise: 1,
      maxAgeMs: 5500,
      clusterIntervalMs: 3000,
      configIntervalMs: 30_000,
      metricsIntervalMs: 3000,
    },
    listen: [
      { ...quiet, port: 8008, dialect: "node" },
      { ...quiet, port: 9108, dialect: "admin", cluster: null },
    ],
    hostSuffixes: [],
    ignoreParams: ["be"],
    stateFile: null,
    drainMs: 5000,
    fastPath: true,
    workers: 0,
    log: { level: "info" },
    exporter: { naming: "upstream", disableIntro: false, namespace: null, telemetryPath: "/metrics" },
    simulator: null,
  });
});

test("every key is read into its own place", () => {
  const file = "test/spec/config/every-key.yaml";
  const config = loaded(loadConfig({ file, env: {}, flags: {} }));
  const expected: unknown = JSON.parse(readFileSync("test/spec/config/every-key.json", "utf8"));
  const relative: unknown = JSON.parse(
    JSON.stringify(config).replaceAll(join(process.cwd(), "test/spec/config/"), "./"),
  );
  assert.deepEqual(relative, expected);
});

test("a file that says every default says nothing new", () => {
  const config = loaded(loadConfig({ file: "test/spec/config/sample.yaml", env: {}, flags: {} }));
  const least = loaded(load("clusters: [{ name: demo, discover: ['http://10.0.0.1:8008'] }]"));
  assert.deepEqual({ ...config, clusters: [], listen: [] }, { ...least, clusters: [], listen: [] });
  assert.deepEqual(config.clusters[0]?.guards, least.clusters[0]?.guards);
  assert.deepEqual(
    config.listen.map(({ address, port, dialect, cluster, node, wholeCluster }) => [
      address,
      port,
      dialect,
      cluster,
      node,
      wholeCluster,
    ]),
    [
      ["127.0.0.1", 8008, "node", "demo", null, true],
      ["127.0.0.1", 8108, "node", "demo", "pg2", false],
      ["127.0.0.1", 9108, "admin", null, null, false],
    ],
  );
});

test("max_age follows interval and timeout where it is not said", () => {
  const config = loaded(
    load("clusters: [{ name: a, discover: ['http://a:1'] }]\nprobe: { interval: 200ms, timeout: 1s }"),
  );
  assert.equal(config.probe.maxAgeMs, 1600);
});

test("a listener that names no cluster speaks for the only one, or for all of several", () => {
  const one = loaded(
    load("clusters: [{ name: a, discover: ['http://a:1'] }]\nlisten: [{ port: 1 }, { port: 2, cluster: '*' }]"),
  );
  assert.deepEqual(
    one.listen.map(({ cluster }) => cluster),
    ["a", null],
  );
  const two = loaded(
    load(
      "clusters: [{ name: a, discover: ['http://a:1'] }, { name: b, discover: ['http://b:1'] }]\nlisten: [{ port: 1 }, { port: 2, cluster: b }]",
    ),
  );
  assert.deepEqual(
    two.listen.map(({ cluster }) => cluster),
    [null, "b"],
  );
});

test("nobody can change a configuration", () => {
  const config = loaded(load("clusters: [{ name: a, nodes: [{ name: n, api: 'http://a:1', database: 'a:5432' }] }]"));
  const isFrozen = (value: unknown): boolean =>
    typeof value !== "object" || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozen));
  assert.ok(isFrozen(config));
});

test("loading twice gives the same: defaults are not shared with what was loaded before", () => {
  const text = "clusters: [{ name: a, discover: ['http://a:1'] }]";
  assert.deepEqual(load(text), load(text));
});

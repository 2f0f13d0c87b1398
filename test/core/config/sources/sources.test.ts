import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, suite, test } from "node:test";
import { variables } from "../../../../src/core/config/sources/environment.ts";
import type { ConfigFlags } from "../../../../src/core/config/load.ts";
import { configKeys, loadConfig } from "../../../../src/app/registry/config.ts";
import { renderProblems } from "../../../../src/core/config/model/problem.ts";

interface Row {
  readonly name: string;
  readonly file: string | null;
  readonly env: Record<string, string>;
  readonly flags: ConfigFlags;
  readonly expected?: object;
  readonly problems?: readonly string[];
}

const folder = mkdtempSync(join(tmpdir(), "rolecall-sources-"));
after(() => rmSync(folder, { recursive: true }));

function write(text: string): string {
  const file = join(folder, "rolecall.yaml");
  writeFileSync(file, text);
  return file;
}

suite("flags override the environment, which overrides the file", () => {
  const rows = JSON.parse(readFileSync("test/spec/config/sources.json", "utf8")) as Row[];
  for (const row of rows) {
    test(row.name, () => {
      const result = loadConfig({ file: row.file === null ? null : write(row.file), env: row.env, flags: row.flags });
      if (row.expected !== undefined) {
        assert.ok(result.ok, result.ok ? "" : renderProblems(result.problems));
        assertHolds({ ...result.config, simulator: result.simulator }, row.expected, "");
        return;
      }
      const shown = result.ok ? "" : renderProblems(result.problems).replaceAll(`${folder}/`, "");
      const lines = shown.split("\n");
      assert.equal(lines.length, row.problems?.length, shown);
      for (const part of row.problems ?? [])
        assert.ok(
          lines.some((line) => line.startsWith(part)),
          `${part}\n is not in\n${shown}`,
        );
    });
  }
});

test("a problem with a variable has neither file nor line, and the variable's name as its path", () => {
  const result = loadConfig({ file: null, env: { ROLECALL_DISCOVER: "http://a:1", ROLECALL_DRAIN: "x" }, flags: {} });
  const [problem] = result.ok ? [] : result.problems;
  assert.deepEqual(
    [problem?.where, problem?.path, problem?.file, problem?.line],
    ["ROLECALL_DRAIN", "ROLECALL_DRAIN", null, null],
  );
});

test("file names in a file are relative to its folder, those in variables to the working directory", () => {
  const text =
    "clusters: [{ name: a, discover: ['https://a:1'], tls: { ca: tls/ca.pem } }]\nstate_file: members.json\n";
  const inside = loadConfig({ file: write(text), env: {}, flags: {} });
  assert.ok(inside.ok);
  assert.equal(inside.config.clusters[0]?.tls?.ca, join(folder, "tls/ca.pem"));
  assert.equal(inside.config.stateFile, join(folder, "members.json"));
  const outside = loadConfig({ file: write(text), env: { ROLECALL_STATE_FILE: "members.json" }, flags: {} });
  assert.equal(outside.ok && outside.config.stateFile, resolve("members.json"));
});

test("each file name of a fleet is relative to where it is written", () => {
  const fleet = {
    name: "edges",
    advertise: "https://edge1:9443",
    etcd: { urls: ["https://10.0.0.1:2379"], tls: { ca: "ca.pem" }, auth: { user: "rolecall", password_file: "a" } },
    token_file: "b",
    tls: { ca: "ca.pem", cert: "cert.pem", key: "key.pem" },
  };
  const file = write(JSON.stringify({ clusters: [{ name: "a", discover: ["https://a:1"] }], fleet }));
  const env = {
    ROLECALL_FLEET_ETCD_AUTH_PASSWORD_FILE: "other",
    ROLECALL_FLEET_TLS_CA: "other.pem",
    ROLECALL_FLEET_ETCD_TLS_CERT: "other.pem",
    ROLECALL_FLEET_ETCD_TLS_KEY: "/etc/other.key",
  };
  const result = loadConfig({ file, env, flags: { set: ["fleet.token_file=token"] } });
  assert.ok(result.ok);
  const { etcd, tls, tokenFile } = result.config.fleet ?? {};
  assert.deepEqual(
    [etcd?.auth?.passwordFile, etcd?.tls?.ca, etcd?.tls?.cert, etcd?.tls?.key, tls?.ca, tls?.cert, tls?.key, tokenFile],
    [
      resolve("other"),
      join(folder, "ca.pem"),
      resolve("other.pem"),
      "/etc/other.key",
      resolve("other.pem"),
      join(folder, "cert.pem"),
      join(folder, "key.pem"),
      resolve("token"),
    ],
  );
});

test("the history is on if a state file or a directory is configured, unless it is disabled", () => {
  const clusters = "clusters: [{ name: a, discover: ['https://a:1'] }]\n";
  const directoryOf = (text: string, env: Readonly<Record<string, string>> = {}): string | null | undefined => {
    const loaded = loadConfig({ file: write(clusters + text), env, flags: {} });
    return loaded.ok ? loaded.config.history.directory : undefined;
  };
  assert.equal(directoryOf(""), null);
  assert.equal(directoryOf("state_file: members.json\n"), join(folder, "members.json.history"));
  assert.equal(directoryOf("state_file: members.json\nhistory: { enabled: false }\n"), null);
  assert.equal(directoryOf("history: { directory: past }\n"), join(folder, "past"));
  assert.equal(directoryOf("", { ROLECALL_HISTORY_DIRECTORY: "past" }), resolve("past"));
  assert.equal(directoryOf("history: { directory: past, max_size: 1kB }\n"), undefined);
});

test("every key outside lists has an environment variable", () => {
  const tlsKeys = ["CA", "CERT", "KEY", "SERVER_NAME", "VERIFY"];
  assert.deepEqual(
    configKeys.overrides.map(({ variable, kind }) => `${variable} ${kind}`),
    [
      ...["INTERVAL", "CONNECT_TIMEOUT", "TIMEOUT"].map((key) => `ROLECALL_PROBE_${key} text`),
      ...["FALL", "RISE"].map((key) => `ROLECALL_PROBE_${key} number`),
      ...["MAX_AGE", "BURST_INTERVAL", "CLUSTER_INTERVAL", "CONFIG_INTERVAL", "METRICS_INTERVAL"].map(
        (key) => `ROLECALL_PROBE_${key} text`,
      ),
      "ROLECALL_FOLLOW list",
      ...["NAME text", "ADVERTISE text", "ETCD_URLS list", "ETCD_PREFIX text"].map((key) => `ROLECALL_FLEET_${key}`),
      ...tlsKeys.map((key) => `ROLECALL_FLEET_ETCD_TLS_${key} text`),
      ...["USER", "PASSWORD_FILE"].map((key) => `ROLECALL_FLEET_ETCD_AUTH_${key} text`),
      ...["ZONE text", "OBSERVERS number", "WEIGHT number", "LEASE text"].map((key) => `ROLECALL_FLEET_${key}`),
      "ROLECALL_FLEET_TOKEN_FILE text",
      ...tlsKeys.map((key) => `ROLECALL_FLEET_TLS_${key} text`),
      ...["KUBECONFIG", "CONTEXT", "INSTANCE"].map((key) => `ROLECALL_KUBERNETES_${key} text`),
      "ROLECALL_AUDIT_INTERVAL text",
      "ROLECALL_HOST_SUFFIXES list",
      "ROLECALL_IGNORE_PARAMS list",
      "ROLECALL_STATE_FILE text",
      "ROLECALL_HISTORY_ENABLED boolean",
      ...["DIRECTORY", "MAX_SIZE", "MAX_AGE"].map((key) => `ROLECALL_HISTORY_${key} text`),
      "ROLECALL_DRAIN text",
      "ROLECALL_FAST_PATH boolean",
      "ROLECALL_WORKERS number",
      ...["EXCLUSIVE_PRIMARY", "RUNNING_PRIMARY", "ATTACHED_REPLICA", "SAME_SYSTEM", "FAILOVER_HOLD"].map(
        (key) => `ROLECALL_GUARDS_${key} boolean`,
      ),
      ...["ATTACH_WINDOW", "DEMOTED_FOR"].map((key) => `ROLECALL_GUARDS_${key} text`),
      "ROLECALL_GUARDS_LAG_SAMPLES number",
      ...["DWELL", "HANDOVER_HOLD", "SURVIVE"].map((key) => `ROLECALL_GUARDS_${key} text`),
      ...["LEVEL", "FORMAT"].map((key) => `ROLECALL_LOG_${key} text`),
      "ROLECALL_EXPORTER_NAMING text",
      "ROLECALL_EXPORTER_DISABLE_INTRO boolean",
      "ROLECALL_EXPORTER_NAMESPACE text",
      "ROLECALL_EXPORTER_TELEMETRY_PATH text",
      "ROLECALL_SIMULATOR_NODES number",
      "ROLECALL_SIMULATOR_PORT number",
    ],
  );
  assert.equal(new Set(variables(configKeys)).size, variables(configKeys).length);
});

/** Asserts that `actual` has every field of `expected`, and lists of the same length. */
function assertHolds(actual: unknown, expected: unknown, path: string): void {
  if (typeof expected !== "object" || expected === null) {
    assert.equal(actual, expected, path);
    return;
  }
  assert.ok(typeof actual === "object" && actual !== null, path);
  if (Array.isArray(expected)) assert.equal((actual as unknown[]).length, expected.length, path);
  for (const [key, value] of Object.entries(expected))
    assertHolds((actual as Record<string, unknown>)[key], value, `${path}.${key}`);
}

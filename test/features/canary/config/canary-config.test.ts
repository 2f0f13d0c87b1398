/** What the configuration of canaries may be, and what is refused. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { parse } from "yaml";
import { loadConfig } from "../../../../src/app/registry/config.ts";
import { parseCanaryAddress } from "../../../../src/features/canary/config/canary-address.ts";

const urls: readonly { readonly url: string; readonly target: string | null; readonly user?: string }[] = parse(
  readFileSync("test/spec/canary/urls.yaml", "utf8"),
);

suite("a url of a canary", () => {
  for (const { url, target, user } of urls)
    test(`${url} is ${target ?? "refused"}`, () => {
      const parsed = parseCanaryAddress(url);
      assert.equal(parsed?.target ?? null, target);
      assert.equal(parsed?.user, user);
    });
});

/** The problems of a configuration with these canaries, in cluster `a`. */
function problemsOf(canaries: readonly object[]): readonly string[] {
  const cluster = { discover: ["http://10.0.0.1:8008"] };
  const builtIn = {
    clusters: [
      { name: "a", ...cluster, canaries },
      { name: "b", discover: ["http://10.0.0.2:8008"] },
    ],
    pools: [
      { name: "writes", cluster: "a", check: "/primary" },
      { name: "others", cluster: "b", check: "/primary" },
    ],
  };
  const loaded = loadConfig({ file: null, builtIn, env: {}, flags: {} });
  return loaded.ok ? [] : loaded.problems.map(({ path, message }) => `${path} ${message}`);
}

const url = "postgres://canary@lb:5000/app";
const rows: readonly (readonly [title: string, canaries: readonly object[], problem: RegExp | null])[] = [
  [
    "two ways of one pool",
    [
      { pool: "writes", url },
      { pool: "writes", url: "postgres://canary@lb:6432/app" },
    ],
    null,
  ],
  ["verified TLS", [{ pool: "writes", url, tls: {}, password_file: "p" }], null],
  [
    "a pool that does not exist",
    [{ pool: "write", url }],
    /canaries\[0\]\.pool must be the name of a pool: writes, others/,
  ],
  ["a pool of another cluster", [{ pool: "others", url }], /must be a pool of cluster a; this one is of b/],
  [
    "one way twice",
    [
      { pool: "writes", url },
      { pool: "writes", url },
    ],
    /an address that no other canary of the pool has/,
  ],
  [
    "a timeout above the interval",
    [{ pool: "writes", url, interval: "1s" }],
    /timeout must be a duration that is at most interval/,
  ],
  ["TLS over a Unix socket", [{ pool: "writes", url: "postgres://canary@%2Frun/app", tls: {} }], /tls must be null/],
  [
    "a certificate without its key",
    [{ pool: "writes", url, tls: { cert: "c.pem" } }],
    /must have cert and key, or neither/,
  ],
  [
    "17 of them",
    Array.from({ length: 17 }, (_, at) => ({ pool: "writes", url: `postgres://c@lb:${at + 1}/a` })),
    /a list of at most 16/,
  ],
];

suite("canaries of a cluster", () => {
  for (const [title, canaries, problem] of rows)
    test(`${title}: ${problem === null ? "taken" : "refused"}`, () => {
      const problems = problemsOf(canaries);
      if (problem === null) assert.deepEqual(problems, []);
      else assert.match(problems.join("\n"), problem);
    });

  test("a password in a url is refused, and is not repeated", () => {
    const problems = problemsOf([{ pool: "writes", url: "postgres://canary:hunter2@lb:5000/app" }]).join("\n");
    assert.match(problems, /canaries\[0\]\.url must be postgres:\/\/user@host.*password_file/);
    assert.doesNotMatch(problems, /hunter2/);
  });
});

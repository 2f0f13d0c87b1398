import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { renderClusters } from "../../fake/rendered-rows.ts";
import { assertValidHaproxy } from "../../fake/valid-haproxy.ts";

const folder = mkdtempSync(join(tmpdir(), "rolecall-declared-pools-"));
after(() => rmSync(folder, { recursive: true }));

const pools = [
  { name: "orders-read", cluster: "demo", check: "/replica?lag=10MB&lag_time=10s", min: 1, zones: ["a"] },
  { name: "orders-write", cluster: "demo", check: "/primary" },
  { name: "reports", cluster: "demo", check: "/async?tag_for=all%20of%20'it&miss=503", weight: {} },
];

async function rendered(
  args: readonly string[],
  parts: { readonly clusters?: string; readonly pools?: readonly object[] } = {},
): ReturnType<typeof renderClusters> {
  // A rolecall that runs on this machine is not asked: none has an admin listener there.
  const listen = [{ port: 8008 }, { port: 1, dialect: "admin" }];
  return renderClusters(folder, { kind: "haproxy", clusters: "same-ports", pools, args, listen, ...parts });
}

test("render haproxy has a backend and a port for each pool of the configuration, and no others", async () => {
  const { code, out, err } = await rendered(["--runtime-socket", "/run/haproxy/admin.sock", "--follow-members"]);
  assert.equal(code, 0, err);
  assertValidHaproxy(out, folder);
  const file = "test/spec/cli/golden/render-haproxy-pools.txt";
  if (process.env["UPDATE_GOLDEN"] === "1") writeFileSync(file, out);
  assert.equal(out, existsSync(file) ? readFileSync(file, "utf8") : "");
});

test("the ports follow --write-port in the order of the pools, over all clusters", async () => {
  const first = { name: "one", cluster: "demo", check: "/primary" };
  const of = (cluster: string, name: string): object => ({ ...first, cluster, name });
  const args = ["--write-port", "6000"];
  const several = [first, of("a-b.c", "two"), of("demo", "three")];
  const { out, err } = await rendered(args, { clusters: "several", pools: several });
  const ports = [...out.matchAll(/^frontend (\S+)\n {2}bind 127\.0\.0\.1:(\d+)$/gm)].map(
    ([, name, port]) => `${name} ${port}`,
  );
  assert.deepEqual(ports.toSorted(), ["one_in 6000", "three_in 6002", "two_in 6001"], err);
  assert.doesNotMatch(out, /backend demo_write|clusters\/demo_write/, "a cluster without a pool has no section");
  assertValidHaproxy(out, folder);
});

test("the statistics page is on loopback, on port 8404, on another port, or left out", async () => {
  for (const [args, port] of [
    [[], "8404"],
    [["--bind", "*"], "8404"],
    [["--stats-port", "9000"], "9000"],
    [["--stats-port", "none"], null],
  ] as const) {
    const { code, out, err } = await rendered(args);
    assert.equal(code, 0, err);
    assert.equal(/^frontend stats\n {2}no log\n {2}bind 127\.0\.0\.1:(\d+)$/m.exec(out)?.[1] ?? null, port);
    assert.equal(out.includes("stats enable"), port !== null);
    assertValidHaproxy(out, folder);
  }
  const { err } = await rendered(["--write-port", "8404"]);
  assert.match(err, /RC001 .*--stats-port and pool orders-\w+ are both 8404/);
});

test("agents, a zone and two instances", async () => {
  const edges = ["--edge", "10.0.0.11:8008,10.0.0.12:8008"];
  const { code, out, err } = await rendered([...edges, "--agent", "8009", "--zone", "a"]);
  assert.equal(code, 0, err);
  assert.match(out, /agent-send "demo\/pg1 \/replica\?lag=10MB&lag_time=10s&keep=1&zone=a\\n"$/m);
  assert.doesNotMatch(out, /agent-send "demo\/pg1 \/primary/);
  assertValidHaproxy(out, folder);
});

const refused: readonly [string, readonly string[], Parameters<typeof rendered>[1], RegExp][] = [
  ["--read-port", ["--read-port", "5005"], {}, /RC001 {2}--read-port must be left out: the pools of the configuration/],
  ["--lag", ["--lag", "1MB"], {}, /RC001 {2}--lag must be left out/],
  ["a port twice", ["--stats-port", "5001"], {}, /RC001 .*--stats-port and pool orders-write are both 5001/],
  [
    "a section twice",
    [],
    {
      pools: [
        { name: "a", check: "/primary" },
        { name: "a_direct", check: "/replica" },
      ],
    },
    /RC001 {2}Sections of HAProxy must have different names: pool a and pool a_direct would both have a_direct/,
  ],
  [
    "a section of rolecall",
    [],
    { pools: [{ name: "rolecall", check: "/primary" }] },
    /rolecall itself and pool rolecall would both have rolecall/,
  ],
  [
    "clusters without a pool",
    ["--cluster", "a-b.c"],
    { clusters: "several" },
    /RC112 {2}Cannot render: no pool of the configuration is of these clusters/,
  ],
];
for (const [title, args, parts, message] of refused)
  test(`render haproxy is refused: ${title}`, async () => {
    const { code, out, err } = await rendered(args, parts);
    assert.deepEqual([code, out], [2, ""]);
    assert.match(err, message);
  });

test("a pool whose name HAProxy cannot read is left out, with a finding", async () => {
  const odd = { name: 'x"y', cluster: "demo", check: "/primary" };
  const { out, err } = await rendered([], { pools: [odd, ...pools] });
  assert.match(err, /RC120 {2}pool "x\\"y" is left out/);
  assertValidHaproxy(out, folder);
});

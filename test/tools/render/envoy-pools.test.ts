import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { parse } from "yaml";
import { renderClusters } from "../../fake/rendered-rows.ts";

const folder = mkdtempSync(join(tmpdir(), "rolecall-envoy-pools-"));
after(() => rmSync(folder, { recursive: true }));

const pools = [
  { name: "orders-write", cluster: "demo", check: "/primary" },
  { name: "orders-read", cluster: "demo", check: "/replica?lag=10MB", min: 1 },
];

interface Bootstrap {
  readonly static_resources: {
    readonly listeners: readonly { readonly name: string; readonly address: { readonly socket_address: object } }[];
    readonly clusters: readonly {
      readonly name: string;
      readonly close_connections_on_host_health_failure?: boolean;
    }[];
  };
}

const rendered = (args: readonly string[], of: readonly object[] = pools): ReturnType<typeof renderClusters> =>
  renderClusters(folder, { kind: "envoy", clusters: "three", pools: of, args });

test("render envoy --xds writes the pools of the configuration, whose endpoints are pushed", async () => {
  const { code, out, err } = await rendered(["--xds", "--edge", "10.0.0.11:8008,10.0.0.12:8008", "--zone", "a"]);
  assert.equal(code, 0, err);
  const text = out.replace(`id: ${hostname()}`, "id: HOSTNAME");
  const file = "test/spec/cli/golden/render-envoy-xds.txt";
  if (process.env["UPDATE_GOLDEN"] === "1") writeFileSync(file, text);
  assert.equal(text, existsSync(file) ? readFileSync(file, "utf8") : "");
});

test("render envoy without --xds has a cluster and a port for each pool of the configuration", async () => {
  const { code, out, err } = await rendered(["--write-port", "6000"]);
  assert.equal(code, 0, err);
  const { static_resources: resources }: Bootstrap = parse(out);
  assert.deepEqual(
    resources.listeners.slice(1).map(({ name, address }) => [name, address.socket_address]),
    [
      ["orders-write", { address: "127.0.0.1", port_value: 6000 }],
      ["orders-read", { address: "127.0.0.1", port_value: 6001 }],
    ],
  );
  assert.deepEqual(
    resources.clusters.slice(0, 2).map(({ name, close_connections_on_host_health_failure: closes }) => [name, closes]),
    [
      ["orders-write", true],
      ["orders-read", false],
    ],
  );
  assert.match(out, /path: \/replica\?lag=10MB&keep=1\n/);
});

for (const [title, args, of, message] of [
  ["no pools", ["--xds"], [], /RC001 {2}Cannot render for Envoy: pools must have at least one entry/],
  ["a port twice", ["--xds", "--stats-port", "5001"], pools, /--stats-port and pool orders-read are both 5001/],
  ["no admin interface", ["--xds", "--stats-port", "none"], pools, /--stats-port must be a port for envoy, got "none"/],
  ["no admin interface without pushes", ["--stats-port", "none"], [], /--stats-port must be a port for envoy/],
  ["the port of the pushes", ["--xds", "--xds-port", "5000"], pools, /rolecall and pool orders-write are both 5000/],
  ["another zone", ["--xds", "--zone", "a b"], pools, /RC001 {2}--zone must be/],
] as const)
  test(`render envoy refuses ${title}`, async () => {
    const { code, err } = await rendered(args, of);
    assert.equal(code, 2);
    assert.match(err, message);
  });

import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { parse } from "yaml";
import { CertificateAuthority } from "../../fake/certificates.ts";
import { renderClusters, renderedSpec } from "../../fake/rendered-rows.ts";
import { assertValidHaproxy } from "../../fake/valid-haproxy.ts";

const folder = mkdtempSync(join(tmpdir(), "rolecall-rendered-"));

before(() => {
  const authority = new CertificateAuthority();
  copyFileSync(authority.ca, join(folder, "ca.pem"));
  authority.remove();
});
after(() => rmSync(folder, { recursive: true }));

for (const { title, clusters, args, haproxy, rules = [] } of renderedSpec.accepted) {
  test(`render haproxy: ${title}`, async () => {
    const { code, out, err } = await renderClusters(folder, { kind: "haproxy", clusters, args });
    assert.equal(code, 0, err);
    assert.deepEqual(rulesIn(err), rules);
    for (const text of haproxy) assert.ok(out.includes(text), `${JSON.stringify(text)} is missing in\n${out}`);
    assertDistinctSections(out);
    assertValidHaproxy(out, folder);
  });
}

for (const { title, clusters, args, envoy, rules = [] } of renderedSpec.accepted) {
  test(`render envoy: ${title}`, async () => {
    const { code, out, err } = await renderClusters(folder, { kind: "envoy", clusters, args });
    assert.equal(code, 0, err);
    assert.deepEqual(rulesIn(err), rules);
    for (const text of envoy) assert.ok(out.includes(text), `${JSON.stringify(text)} is missing in\n${out}`);
    assertSafeEnvoy(out);
  });
}

for (const { args, message } of renderedSpec.refused) {
  for (const kind of ["haproxy", "envoy"])
    test(`render ${kind} ${JSON.stringify(args)} is refused`, async () => {
      const { code, out, err } = await renderClusters(folder, { kind, clusters: "three", args });
      assert.equal(code, 2);
      assert.equal(out, "");
      assert.ok(err.includes(message), err);
    });
}

for (const [clusters, message] of [
  ["unreachable", "no member is known of demo"],
  ["addressless", "no node has a known database address"],
] as const) {
  for (const kind of ["haproxy", "envoy"])
    test(`render ${kind} of ${clusters} clusters is refused, because the file would have no pool`, async () => {
      const { code, out, err } = await renderClusters(folder, { kind, clusters, args: [] });
      assert.deepEqual([code, out], [2, ""]);
      assert.match(err, new RegExp(`error RC112  Cannot render: ${message}`));
    });
}

test("RC169: a zone that no node is in makes every server a backup, and is reported", async () => {
  const args = ["--edge", "10.0.0.11:8008", "--zone", "c"];
  const { code, out, err } = await renderClusters(folder, { kind: "haproxy", clusters: "zoned", args });
  assert.equal(code, 0, err);
  assert.deepEqual(rulesIn(err), ["RC169"]);
  assert.match(err, /no node of cluster demo is in zone c: all its servers are backups/);
  assert.match(out, /server pg1 127\.0\.0\.1:5431 backup$/m);
  assertValidHaproxy(out, folder);
});

test("checks go to the first health listener that load balancers can use", async () => {
  const files = { cert: join(folder, "ca.pem"), key: join(folder, "ca.key") };
  const unusable = [
    { port: 9108, dialect: "admin" },
    { port: 8001, node: "pg1" },
    { port: 8002, tls: files },
    { port: 8003, auth: { for: "all", bearer: [join(folder, "ca.pem")] } },
  ];
  const listening = (listen: readonly object[], clusters = "three"): ReturnType<typeof renderClusters> =>
    renderClusters(folder, { kind: "haproxy", clusters, args: [], listen });
  const usable = { address: "0.0.0.0", port: 8004 };
  const { out } = await listening([...unusable, usable]);
  assert.match(out, /server rolecall1 127\.0\.0\.1:8004$/m);
  for (const [listen, clusters] of [
    [unusable, "three"],
    [[{ port: 8005, cluster: "demo" }], "several"],
  ] as const) {
    const { code, err } = await listening(listen, clusters);
    assert.equal(code, 2, err);
    assert.match(err, /RC001 .*must have a health listener .* or --edge must name one/);
  }
});

test("config/examples/haproxy.cfg has the shape of the rendered configuration for two instances", async () => {
  const { out } = await renderClusters(folder, {
    kind: "haproxy",
    clusters: "three",
    args: ["--edge", "10.0.0.11:8008,10.0.0.12:8008"],
  });
  const example = readFileSync("config/examples/haproxy.cfg", "utf8");
  const listener = (text: string): string | undefined =>
    /^listen rolecall\n.*?\n\n/ms.exec(text.replaceAll(/^ *#.*\n/gm, ""))?.[0];
  assert.ok(listener(out) !== undefined);
  assert.equal(listener(out), listener(example));
  for (const text of [out, example])
    for (const kind of ["write", "read"])
      assert.match(
        text,
        new RegExp(
          `use_backend \\w*${kind}_direct if \\{ nbsrv\\(rolecall\\) eq 0 \\} \\|\\| \\{ nbsrv\\(rolecall_ready\\) eq 0 \\}`,
        ),
      );
});

function rulesIn(text: string): readonly string[] {
  const rules = [...text.matchAll(/^\w+ (RC\d+)/gm)].map(([, rule]) => rule ?? "");
  assert.ok(rules.includes("RC122"), "every rendering says how many members it has");
  return rules.filter((rule) => rule !== "RC122");
}

/** HAProxy 3.2 warns of a frontend and a backend with one name. */
function assertDistinctSections(text: string): void {
  const names = [...text.matchAll(/^(?:frontend|backend|listen) (\S+)$/gm)].map(([, name]) => name);
  assert.deepEqual(names, [...new Set(names)]);
}

interface EnvoyCluster {
  readonly name: string;
  readonly common_lb_config: { readonly healthy_panic_threshold: { readonly value: number } };
  readonly load_assignment: {
    readonly endpoints: readonly {
      readonly lb_endpoints: readonly {
        readonly endpoint: {
          readonly health_check_config?: {
            readonly address?: { readonly socket_address: { readonly address: string } };
          };
        };
      }[];
    }[];
  };
}

/**
 * What no `--mode validate` finds: Envoy aborts on a name as the address of a health check, and without a panic
 * threshold of 0 it sends writes to replicas.
 */
function assertSafeEnvoy(text: string): void {
  const { clusters } = (parse(text) as { static_resources: { clusters: readonly EnvoyCluster[] } }).static_resources;
  assert.equal(new Set(clusters.map(({ name }) => name)).size, clusters.length);
  for (const { common_lb_config: common, load_assignment: assignment } of clusters) {
    assert.equal(common.healthy_panic_threshold.value, 0);
    for (const { lb_endpoints: endpoints } of assignment.endpoints)
      for (const { endpoint } of endpoints)
        assert.match(endpoint.health_check_config?.address?.socket_address.address ?? "127.0.0.1", /^127\.0\.0\.1$/);
  }
}

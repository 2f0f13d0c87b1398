import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { parseAllDocuments } from "yaml";
import { loadConfig } from "../../../../src/app/registry/config.ts";
import { renderProblems } from "../../../../src/config/model/problem.ts";
import type { Config } from "../../../../src/config/model/config.ts";
import { adminApiAnswers } from "../../../fake/admin-api-answers.ts";
import { serveCannedAnswers } from "../../../fake/canned-server.ts";
import { runText } from "../../../fake/command-line.ts";

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly data?: Readonly<Record<string, string>>;
  // oxlint-disable-next-line typescript/no-explicit-any -- each kind has its own spec
  readonly spec: any;
}

const folder = mkdtempSync(join(tmpdir(), "rolecall-manifests-"));
let server: Awaited<ReturnType<typeof serveCannedAnswers>>;

before(async () => {
  server = await serveCannedAnswers(adminApiAnswers);
});
after(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

async function manifests(args: readonly string[] = []): Promise<(kind: string, name?: string) => Manifest> {
  const argv = ["render", "kubernetes", "--cluster", "demo", "--server", server.url, ...args];
  const { code, out, err } = await runText(argv);
  assert.equal(code, 0, err);
  const all = parseAllDocuments(out).map((document) => document.toJS() as Manifest);
  return (kind, name) => {
    const found = all.find((one) => one.kind === kind && (name === undefined || one.metadata.name === name));
    assert.ok(found !== undefined, `${kind} ${name ?? ""} is missing`);
    return found;
  };
}

/** The rendered configuration, as rolecall reads it. */
function configOf({ data = {} }: Manifest): Config {
  const file = join(folder, "rolecall.yaml");
  writeFileSync(file, data["rolecall.yaml"] ?? "");
  const result = loadConfig({ file, env: {}, flags: {} });
  assert.ok(result.ok, result.ok ? "" : renderProblems(result.problems));
  return result.config;
}

describe("render kubernetes", () => {
  test("discovers the pods by the name of a headless Service that publishes unready ones", async () => {
    const of = await manifests();
    const [cluster] = configOf(of("ConfigMap")).clusters;
    assert.deepEqual([cluster?.discover, cluster?.nodes], [["http://demo-databases:8008"], []]);
    const { spec } = of("Service", "demo-databases");
    assert.equal(spec.clusterIP, "None");
    assert.equal(spec.publishNotReadyAddresses, true);
    assert.deepEqual(spec.selector, { "cluster-name": "demo" });
  });

  test("databases in another namespace have their Service there, and its name says so", async () => {
    const of = await manifests(["--namespace", "edge", "--database-namespace", "db", "--database-selector", "app=pg"]);
    assert.deepEqual(configOf(of("ConfigMap")).clusters[0]?.discover, ["http://demo-databases.db.svc:8008"]);
    const service = of("Service", "demo-databases");
    assert.equal(service.metadata.namespace, "db");
    assert.deepEqual(service.spec.selector, { app: "pg" });
    assert.equal(of("Deployment").metadata.namespace, "edge");
    const { to } = of("NetworkPolicy").spec.egress[1];
    assert.deepEqual(to, [
      {
        podSelector: { matchLabels: { app: "pg" } },
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "db" } },
      },
    ]);
  });

  test("external databases keep their addresses, and have no Service", async () => {
    const of = await manifests(["--external-databases"]);
    const [cluster] = configOf(of("ConfigMap")).clusters;
    assert.deepEqual(
      cluster?.nodes.map(({ name, api }) => `${name} ${api}`),
      ["pg1 http://10.0.0.1:8008", "pg2 http://10.0.0.2:8008", "pg3 http://10.0.0.3:8008"],
    );
    assert.throws(() => of("Service", "demo-databases"));
  });

  test("the ports of the configuration, the container, the Service and the policy are the same", async () => {
    const of = await manifests();
    const { listen } = configOf(of("ConfigMap"));
    const ports = listen.map(({ port }) => port);
    const { spec } = of("Deployment").spec.template;
    const portsOf = (list: readonly Readonly<Record<string, unknown>>[], key: string): readonly unknown[] =>
      list.map((one) => one[key]);
    assert.deepEqual(portsOf(spec.containers[0].ports, "containerPort"), ports);
    assert.deepEqual(portsOf(of("Service", "rolecall").spec.ports, "port"), ports);
    const { ingress } = of("NetworkPolicy").spec;
    assert.deepEqual(
      ingress.flatMap((rule: { readonly ports: readonly { readonly port: number }[] }) => portsOf(rule.ports, "port")),
      ports,
    );
    assert.deepEqual(
      listen.map(({ address, access }) => [address, access.readOnly]),
      [
        ["0.0.0.0", false],
        ["0.0.0.0", true],
      ],
    );
  });

  test("runs as a user with a number, and has time to drain", async () => {
    const of = await manifests();
    const { spec } = of("Deployment").spec.template;
    assert.deepEqual([spec.securityContext.runAsNonRoot, spec.securityContext.runAsUser], [true, 1000]);
    assert.ok(spec.terminationGracePeriodSeconds * 1000 > configOf(of("ConfigMap")).drainMs);
  });

  test("a change of the configuration replaces the pods", async () => {
    const hash = async (args: readonly string[]): Promise<unknown> =>
      (await manifests(args))("Deployment").spec.template.metadata.annotations["checksum/config"];
    assert.equal(await hash([]), await hash(["--image", "other:1"]));
    assert.notEqual(await hash([]), await hash(["--external-databases"]));
  });

  for (const [option, value] of [
    ["--namespace", "Edge"],
    ["--database-namespace", "db.example"],
    ["--database-selector", "app"],
    ["--database-selector", "app={{x}}"],
  ] as const)
    test(`${option} ${value} is refused`, async () => {
      const { code, err } = await runText(["render", "kubernetes", option, value, "--server", server.url]);
      assert.equal(code, 2);
      assert.match(err, new RegExp(`error RC001  ${option} must be`));
    });
});

describe("render kubernetes --monitoring", () => {
  test("scrapes the port of the metrics for rolecall's own series, and has the rendered alerts", async () => {
    const { code, out } = await runText(["render", "kubernetes", "--monitoring", "--namespace", "edge"]);
    assert.equal(code, 0);
    const [monitor, rule] = parseAllDocuments(out).map((document) => document.toJS() as Manifest);
    assert.deepEqual([monitor?.kind, rule?.kind], ["ServiceMonitor", "PrometheusRule"]);
    assert.deepEqual([monitor?.metadata.namespace, rule?.metadata.namespace], ["edge", "edge"]);
    assert.equal(monitor?.spec.endpoints[0].port, "metrics");
    const of = await manifests();
    const { labels } = of("Service", "rolecall").metadata as unknown as { readonly labels: object };
    assert.deepEqual(monitor?.spec.selector.matchLabels, labels);
    const { out: rules } = await runText(["render", "alerts"]);
    assert.deepEqual(rule?.spec, parseAllDocuments(rules)[0]?.toJS());
  });
});

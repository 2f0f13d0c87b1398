import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { loadConfig } from "../../src/app/registry/config.ts";
import { renderProblems } from "../../src/core/config/model/problem.ts";
import type { Config } from "../../src/core/config/model/config.ts";
import { chartObjects, objectOf, readObjects, type ReadObject } from "../fake/deployed-objects.ts";
import { type NeededRight, neededRights } from "../../src/features/kubernetes/core/needed-rights.ts";
import { temporaryFolder } from "../fake/temporary-folder.ts";

const folder = temporaryFolder("manifests");
const manifests = readObjects(readFileSync("deploy/kubernetes/rolecall.yaml", "utf8"));

/** The configuration of the objects, as rolecall reads it. */
function configOf(objects: readonly ReadObject[]): Config {
  const file = join(folder, "rolecall.yaml");
  writeFileSync(file, objectOf(objects, "ConfigMap").data?.["rolecall.yaml"] ?? "");
  const result = loadConfig({ file, env: {}, flags: {} });
  assert.ok(result.ok, result.ok ? "" : renderProblems(result.problems));
  return result.config;
}

function kindsOf(objects: readonly ReadObject[]): readonly string[] {
  return objects.map(({ kind }) => kind);
}

function listOf(list: readonly Readonly<Record<string, unknown>>[], key: string): readonly unknown[] {
  return list.map((one) => one[key]);
}

for (const [name, objects] of [
  ["deploy/kubernetes/rolecall.yaml", manifests],
  ["deploy/helm/rolecall", chartObjects()],
] as const)
  describe(name, () => {
    const { spec: pod } = objectOf(objects, "Deployment").spec.template;

    test("has the objects of docs/kubernetes.md", () => {
      const page = readFileSync("docs/kubernetes.md", "utf8");
      const rows = [...page.matchAll(/^\| ([A-Z]\w+)( `[\w-]+`)? \| /gm)].map(([, kind = ""]) => kind);
      assert.deepEqual(kindsOf(objects).toSorted(), rows.toSorted());
    });

    test("discovers the pods by the name of a headless Service that publishes unready ones", () => {
      const [cluster] = configOf(objects).clusters;
      assert.deepEqual([cluster?.discover, cluster?.nodes], [["http://demo-databases:8008"], []]);
      const { spec } = objectOf(objects, "Service", "demo-databases");
      assert.equal(spec.clusterIP, "None");
      assert.equal(spec.publishNotReadyAddresses, true);
      assert.deepEqual(spec.selector, { "cluster-name": "demo" });
      assert.deepEqual(listOf(spec.ports, "port"), [5432, 8008]);
    });

    test("the ports of the configuration, the container, the Service and the policy are the same", () => {
      const { listen } = configOf(objects);
      const ports = listen.map(({ port }) => port);
      assert.deepEqual(listOf(pod.containers[0].ports, "containerPort"), ports);
      const service = objectOf(objects, "Service", "rolecall").spec.ports;
      assert.deepEqual(listOf(service, "port"), ports);
      assert.deepEqual(listOf(service, "targetPort"), listOf(pod.containers[0].ports, "name"));
      const { ingress } = objectOf(objects, "NetworkPolicy").spec;
      assert.deepEqual(
        ingress.flatMap((rule: { readonly ports: readonly { readonly port: number }[] }) => listOf(rule.ports, "port")),
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

    test("may connect to DNS, the API server and the API of the databases, and to nothing else", () => {
      const [dns, apiServer, databases, ...others] = objectOf(objects, "NetworkPolicy").spec.egress;
      assert.deepEqual([dns.to, listOf(dns.ports, "port")], [undefined, [53, 53]]);
      assert.deepEqual([apiServer.to, listOf(apiServer.ports, "port")], [undefined, [443, 6443]]);
      const { selector } = objectOf(objects, "Service", "demo-databases").spec;
      assert.deepEqual(databases.to, [{ podSelector: { matchLabels: selector } }]);
      assert.deepEqual([databases.ports, others], [[{ protocol: "TCP", port: 8008 }], []]);
    });

    test("has the Services of the configuration, without selectors, whose ports lead to the databases", () => {
      const { kubernetes, pools } = configOf(objects);
      assert.deepEqual(
        kubernetes?.services.map(({ pool, service }) => [pool, service.name]),
        pools.map((pool) => [pool.name, pool.name]),
      );
      for (const { service, port } of kubernetes?.services ?? []) {
        const { metadata, spec } = objectOf(objects, "Service", service.name);
        assert.equal(metadata.namespace ?? "databases", service.namespace);
        assert.deepEqual([port, spec], [null, { ports: [{ name: "postgresql", port: 5432 }] }]);
      }
    });

    test("gives the account of the pods exactly the rights that rolecall needs", () => {
      const { rules = [], metadata } = objectOf(objects, "Role");
      const given = rules.flatMap(({ apiGroups, resources, verbs }) =>
        apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => ({ group, resource, verb })))),
      );
      const textOf = ({ group, resource, verb }: NeededRight): string => `${group}/${resource} ${verb}`;
      assert.deepEqual(given.map(textOf).toSorted(), neededRights.map(textOf).toSorted());
      const { roleRef, subjects = [] } = objectOf(objects, "RoleBinding");
      assert.deepEqual([roleRef?.kind, roleRef?.name], ["Role", metadata.name]);
      const account = objectOf(objects, "ServiceAccount").metadata.name;
      assert.deepEqual(
        subjects.map((subject) => [subject.kind, subject.name]),
        [["ServiceAccount", account]],
      );
      assert.deepEqual([pod.serviceAccountName, pod.automountServiceAccountToken], [account, true]);
    });

    test("every selector selects the pods", () => {
      const { labels } = objectOf(objects, "Deployment").spec.template.metadata;
      for (const selector of [
        objectOf(objects, "Deployment").spec.selector.matchLabels,
        objectOf(objects, "Service", "rolecall").spec.selector,
        objectOf(objects, "PodDisruptionBudget").spec.selector.matchLabels,
        objectOf(objects, "NetworkPolicy").spec.podSelector.matchLabels,
        pod.topologySpreadConstraints[0].labelSelector.matchLabels,
      ])
        assert.deepEqual(selector, labels);
    });

    test("runs as a user with a number, writes nothing but its state, and has time to drain", () => {
      assert.deepEqual([pod.securityContext.runAsNonRoot, pod.securityContext.runAsUser], [true, 1000]);
      const { securityContext: own, volumeMounts } = pod.containers[0];
      assert.deepEqual([own.readOnlyRootFilesystem, own.allowPrivilegeEscalation], [true, false]);
      const writable = volumeMounts.filter((mount: { readonly readOnly?: boolean }) => mount.readOnly !== true);
      assert.deepEqual(listOf(writable, "mountPath"), ["/var/lib/rolecall"]);
      const { drainMs, stateFile } = configOf(objects);
      assert.equal(stateFile, "/var/lib/rolecall/state.json");
      assert.ok(pod.terminationGracePeriodSeconds * 1000 > drainMs);
    });

    test("the probes ask the health listener about the process, and an instance stays up while others are replaced", () => {
      const [container] = pod.containers;
      assert.deepEqual(
        ["startupProbe", "readinessProbe", "livenessProbe"].map((probe) => container[probe].httpGet),
        [
          { path: "/livez", port: "health" },
          { path: "/readyz", port: "health" },
          { path: "/livez", port: "health" },
        ],
      );
      const { replicas, strategy } = objectOf(objects, "Deployment").spec;
      assert.deepEqual([replicas, strategy.rollingUpdate.maxUnavailable], [2, 0]);
      assert.equal(objectOf(objects, "PodDisruptionBudget").spec.minAvailable, 1);
    });

    test("the image has the version of the package", () => {
      const { version } = JSON.parse(readFileSync("package.json", "utf8"));
      assert.equal(pod.containers[0].image, `rolecall:${version}`);
    });
  });

describe("deploy/kubernetes/monitoring.yaml", () => {
  test("scrapes the port of the metrics of the Service, as the job that the rules look for", () => {
    const objects = readObjects(readFileSync("deploy/kubernetes/monitoring.yaml", "utf8"));
    assert.deepEqual(kindsOf(objects), ["ServiceMonitor", "PrometheusRule"]);
    const { spec } = objectOf(objects, "ServiceMonitor");
    const { metadata, spec: service } = objectOf(manifests, "Service", "rolecall");
    assert.deepEqual(spec.selector.matchLabels, metadata.labels);
    assert.ok(listOf(service.ports, "name").includes(spec.endpoints[0].port));
    assert.match(JSON.stringify(objectOf(objects, "PrometheusRule").spec), /job=\\"rolecall\\"/);
    assert.equal(metadata.labels?.[spec.jobLabel], "rolecall");
  });

  test("scrapes the series that the rendered scrape configuration has", () => {
    const [kept] = /regex: .*/.exec(readFileSync("deploy/prometheus/prometheus.yml", "utf8")) ?? [];
    assert.ok(kept !== undefined && readFileSync("deploy/kubernetes/monitoring.yaml", "utf8").includes(kept));
  });
});

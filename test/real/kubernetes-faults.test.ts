/**
 * Services of a real API server when something fails: rolecalls that die, stand still or lose the nodes; rights that are
 * missing; a token that ends. A watcher with a truth of its own sees what becomes of the slices.
 */
import assert from "node:assert/strict";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { objectOf as objectOfJson } from "../../src/core/cluster/values/json.ts";
import { neededRights } from "../../src/features/kubernetes/core/needed-rights.ts";
import { runJson } from "../fake/command-line.ts";
import { objectOf, readObjects } from "../fake/deployed-objects.ts";
import { type FakeNode, openFakeCluster } from "../fake/fake-node.ts";
import { kubeconfigText } from "../fake/kubeconfig.ts";
import { temporaryFolder } from "../fake/temporary-folder.ts";
import { until } from "../fake/until.ts";
import { CutProxy, type ProxyState } from "./lab/cut-proxy.ts";
import { freeze } from "./lab/freeze.ts";
import { grantRole, KubeApi, noKubeApi } from "./lab/kube-api.ts";
import {
  createService,
  leadsTo,
  slicesOf,
  startProcess,
  startPublisher,
  versionOf,
  writePublisher,
  writerOf,
} from "./lab/published-service.ts";
import { SliceWatch } from "./lab/slice-watch.ts";

const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/databases";
/** Longer than it takes until another rolecall takes over from one that renews no Lease, in ms. */
const overtakenMs = 12_000;

suite(
  "Services when something fails",
  { skip: noKubeApi === null ? false : `not run: ${noKubeApi}`, timeout: 500_000 },
  () => {
    let kube: KubeApi;
    before(async () => {
      kube = await KubeApi.start();
      await grantRole(kube);
    });
    after(async () => kube.stop());

    /** A Service with two rolecalls, each with its own way to nodes of its own. The first one has written it. */
    async function twoWays(context: TestContext, service: string) {
      await createService(kube, service);
      const way = async (edge: string) => {
        const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
        const proxies = await Promise.all(nodes.map(({ port }) => CutProxy.start(port, () => {})));
        context.after(() => proxies.forEach((proxy) => proxy.close()));
        const reached = nodes.map(({ name }, at) => ({ name, api: `http://127.0.0.1:${proxies[at]?.port}` }));
        await startPublisher(context, kube, { instance: `${service}-${edge}`, service, nodes: reached });
        return { nodes, setAll: (state: ProxyState) => proxies.forEach((proxy) => proxy.set(state)) };
      };
      const first = await way("a");
      await leadsTo(kube, service, "pg1");
      const second = await way("b");
      await until("a judgement of the second", () => (second.nodes[1]?.requests.length ?? 0) > 10);
      const watch = await SliceWatch.start(kube, service);
      context.after(() => watch.stop());
      return { first, second, watch };
    }

    const leadBy = (nodes: readonly FakeNode[], leader: string): void => {
      for (const node of nodes) node.leader = leader;
    };

    test("one of two rolecalls loses the nodes: the other goes on, and nothing is emptied", async (context) => {
      const { first, second, watch } = await twoWays(context, "cut");
      first.setAll("stopped");
      await until(
        { what: "the writer resigns", seconds: 30 },
        async () => writerOf((await slicesOf(kube, "cut"))[0]) !== "cut-a",
      );
      assert.ok(
        watch.seen.every(({ ready }) => ready.join() === "10.0.0.1"),
        JSON.stringify(watch.seen),
      );
      leadBy(second.nodes, "pg2");
      await leadsTo(kube, "cut", "pg2");
      leadBy(first.nodes, "pg2");
      first.setAll("open");
      await until("an answer for the first", () => (first.nodes[1]?.requests.length ?? 0) > 10);
      const writes = watch.seen.length;
      await sleep(5_000);
      assert.equal(watch.seen.length, writes, "nothing is written once both see the same");
      assert.deepEqual(watch.twins, []);
      context.diagnostic(`writes in all: ${watch.seen.length - 1}`);
    });

    test("two rolecalls that see two truths do not fight", async (context) => {
      const { second, watch } = await twoWays(context, "differ");
      leadBy(second.nodes, "pg2");
      await sleep(8_000);
      assert.equal(watch.seen.length, 1, `the slice stays as its writer has it: ${JSON.stringify(watch.seen)}`);
    });

    test("all rolecalls are killed: what is published stays", async (context) => {
      await createService(kube, "killed");
      const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
      const rolecalls = [];
      for (const instance of ["killed-a", "killed-b"])
        rolecalls.push(await startProcess(context, kube, { instance, service: "killed", nodes }));
      await leadsTo(kube, "killed", "pg1");
      for (const one of rolecalls) await one.stop("SIGKILL");
      const version = versionOf((await slicesOf(kube, "killed"))[0]);
      leadBy(nodes, "pg2");
      await sleep(5_000);
      assert.equal(versionOf((await slicesOf(kube, "killed"))[0]), version);
      await startProcess(context, kube, { instance: "killed-a", service: "killed", nodes });
      await leadsTo(kube, "killed", "pg2");
    });

    for (const how of ["killed", "frozen"] as const)
      test(`the writer is ${how}: the other takes over, and what comes back changes nothing`, async (context) => {
        const service = `writer-${how}`;
        await createService(kube, service);
        const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
        const writer = await startProcess(context, kube, { instance: `${service}-a`, service, nodes });
        await leadsTo(kube, service, "pg1");
        await startProcess(context, kube, { instance: `${service}-b`, service, nodes });
        const watch = await SliceWatch.start(kube, service);
        context.after(() => watch.stop());
        // Until the second is known to have a Lease of its own.
        await until({ what: "the second Lease", seconds: 20 }, async () =>
          (await leases(kube)).includes(`rolecall-${service}-b`),
        );
        let thaw = (): void => {};
        if (how === "frozen") thaw = freeze(writer.pid ?? 0);
        else await writer.stop("SIGKILL");
        const sinceMs = performance.now();
        leadBy(nodes, "pg2");
        await leadsTo(kube, service, "pg2", overtakenMs / 1_000);
        context.diagnostic(`taken over after ${Math.round(performance.now() - sinceMs)} ms`);
        // The address that is not ready any more may follow in a second write.
        await sleep(1_000);
        const writes = watch.seen.length;
        thaw();
        if (how === "killed") await startProcess(context, kube, { instance: `${service}-a`, service, nodes });
        await sleep(5_000);
        assert.equal(watch.seen.length, writes, JSON.stringify(watch.seen.slice(writes)));
        assert.deepEqual(watch.twins, []);
      });

    test("what somebody changes in a slice by hand is as before, and the Service created anew has it", async (context) => {
      await createService(kube, "changed");
      const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
      await startPublisher(context, kube, { instance: "changed-a", service: "changed", nodes });
      await leadsTo(kube, "changed", "pg1");
      const path = "/apis/discovery.k8s.io/v1/namespaces/databases/endpointslices/changed-rolecall-ipv4-5432";
      const sound = async (): Promise<string> => {
        const { addressType, ports, endpoints, metadata } = await kube.done("GET", path);
        const { labels } = objectOfJson(metadata);
        return JSON.stringify([addressType, ports, endpoints, labels]);
      };
      const right = await sound();
      const took: number[] = [];
      for (const change of [
        { op: "remove", path: "/metadata/labels/kubernetes.io~1service-name" },
        { op: "replace", path: "/metadata/labels/endpointslice.kubernetes.io~1managed-by", value: "other" },
        { op: "replace", path: "/ports/0/port", value: 5433 },
        { op: "replace", path: "/ports/0/protocol", value: "UDP" },
        { op: "remove", path: "/endpoints/1/conditions" },
        { op: "replace", path: "/endpoints/1/conditions/terminating", value: true },
        { op: "add", path: "/endpoints/0/addresses/-", value: "10.0.0.9" },
        { op: "remove", path: "/endpoints/0" },
      ]) {
        const sinceMs = performance.now();
        await kube.done("PATCH", path, { type: "application/json-patch+json", body: [change] });
        await until(
          { what: change.path, evidence: () => JSON.stringify(change) },
          async () => (await sound()) === right,
        );
        took.push(Math.round(performance.now() - sinceMs));
      }
      await kube.done("DELETE", "/api/v1/namespaces/databases/services/changed");
      await createService(kube, "changed");
      const { metadata: service } = await kube.done("GET", "/api/v1/namespaces/databases/services/changed");
      const { uid } = objectOfJson(service);
      await until("the new owner", async () => {
        const { metadata } = await kube.done("GET", path);
        return JSON.stringify(objectOfJson(metadata)["ownerReferences"]).includes(String(uid));
      });
      leadBy(nodes, "pg2");
      await leadsTo(kube, "changed", "pg2");
      context.diagnostic(`as before after ${took.join(", ")} ms, with pauses as it goes on`);
    });

    test("exactly the rights of the manifest suffice, and doctor names each that is missing", async (context) => {
      const service = "rights";
      await createService(kube, service);
      const nodes = await openFakeCluster(context, ["pg1"]);
      const file = await writePublisher(kube, { instance: "rights-a", service, nodes });
      const role = objectOf(readObjects(readFileSync("deploy/kubernetes/rolecall.yaml", "utf8")), "Role");
      const doctor = async (): Promise<readonly string[]> => {
        const { diagnostics } = await runJson(["doctor", "--config", file, "--haproxy", "/no/such/haproxy"]);
        return diagnostics.flatMap(({ rule_id: id, message }) => (/^RC18[01]/.test(id) ? [`${id} ${message}`] : []));
      };
      try {
        assert.deepEqual(await doctor(), []);
        for (const { group, resource, verb } of neededRights) {
          const rules = (role.rules ?? []).flatMap((rule) => withoutRight(rule, { group, resource, verb }));
          await kube.done("PUT", `${rbac}/roles/rolecall`, { body: { ...role, rules } });
          const expected = [`RC181 rolecall needs in databases: ${verb} on ${resource}`];
          // The API server takes a moment to know the Role.
          await until(
            { what: `${verb} on ${resource}`, evidence: () => "" },
            async () => JSON.stringify(await doctor()) === JSON.stringify(expected),
          );
        }
      } finally {
        await kube.done("PUT", `${rbac}/roles/rolecall`, { body: role });
      }
    });

    test("the token of a service account is read again when it was replaced", async (context) => {
      const service = "token";
      await createService(kube, service);
      const account = "/api/v1/namespaces/databases/serviceaccounts";
      const folder = temporaryFolder("account");
      const token = async (): Promise<string> => {
        const { status } = await kube.done("POST", `${account}/rolecall/token`, {
          body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 600 } },
        });
        return String(objectOfJson(status)["token"]);
      };
      const write = async (): Promise<void> => {
        writeFileSync(join(folder, "token"), `${await token()}\n`);
        chmodSync(join(folder, "token"), 0o600);
      };
      await kube.done("POST", account, { body: { metadata: { name: "rolecall" } } });
      await kube.done("POST", `${rbac}/rolebindings`, {
        body: {
          metadata: { name: "rolecall-account", namespace: "databases" },
          roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "rolecall" },
          subjects: [{ kind: "ServiceAccount", name: "rolecall", namespace: "databases" }],
        },
      });
      await write();
      const kubeconfig = join(folder, "kubeconfig");
      writeFileSync(kubeconfig, kubeconfigText({ server: kube.url, tokenFile: "token", isTrusted: true }), {
        mode: 0o600,
      });
      const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
      await startPublisher(context, kube, { instance: "token-a", service, nodes, kubeconfig });
      await leadsTo(kube, service, "pg1");
      // With the account its tokens end.
      await kube.done("DELETE", `${account}/rolecall`);
      await kube.done("POST", account, { body: { metadata: { name: "rolecall" } } });
      await write();
      leadBy(nodes, "pg2");
      const sinceMs = performance.now();
      await leadsTo(kube, service, "pg2");
      context.diagnostic(`right ${Math.round(performance.now() - sinceMs)} ms after the token was replaced`);
    });
  },
);

async function leases(kube: KubeApi): Promise<readonly string[]> {
  const { items } = await kube.done("GET", "/apis/coordination.k8s.io/v1/namespaces/databases/leases");
  return (items as readonly { readonly metadata: { readonly name: string } }[]).map(({ metadata }) => metadata.name);
}

/** A rule of a Role without one verb on one resource, as rules: the other resources keep all. */
function withoutRight(
  rule: object,
  { group, resource, verb }: { readonly group: string; readonly resource: string; readonly verb: string },
): readonly object[] {
  const {
    apiGroups = [],
    resources = [],
    verbs = [],
  } = rule as Record<"apiGroups" | "resources" | "verbs", string[] | undefined>;
  if (!apiGroups.includes(group) || !resources.includes(resource)) return [rule];
  const others = resources.filter((one) => one !== resource);
  return [
    ...(others.length === 0 ? [] : [{ ...rule, resources: others }]),
    { ...rule, resources: [resource], verbs: verbs.filter((one) => one !== verb) },
  ].filter((one) => !("verbs" in one) || (one as { verbs: unknown[] }).verbs.length > 0);
}

/**
 * What a real API server answers to each kind of call that rolecall sends, and how it refuses. The fake of the tests
 * without one replays it: test/spec/kubernetes/answers.json is this recording. `UPDATE_GOLDEN=1` writes it.
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { after, before, suite, test } from "node:test";
import { type KubeAnswer, KubeApi, kubeTokens, noKubeApi } from "./lab/kube-api.ts";

const file = "test/spec/kubernetes/answers.json";
const folder = "/apis/discovery.k8s.io/v1/namespaces/databases/endpointslices";
const apply = "application/apply-patch+yaml";
const as = "?fieldManager=rolecall&force=true";

function slice(name: string, parts: object = {}, ip = "10.0.0.1"): object {
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name, namespace: "databases", labels: { "kubernetes.io/service-name": "orders" }, ...parts },
    addressType: "IPv4",
    ports: [{ name: "postgres", port: 5432, protocol: "TCP" }],
    endpoints: [{ addresses: [ip], conditions: { ready: true, serving: true, terminating: false } }],
  };
}

suite("the API server", { skip: noKubeApi === null ? false : `not run: ${noKubeApi}`, timeout: 120_000 }, () => {
  let kube: KubeApi;
  before(async () => {
    kube = await KubeApi.start();
  });
  after(async () => kube.stop());

  test("answers as it was recorded", async () => {
    const recorded: Record<string, KubeAnswer> = {};
    const record = async (name: string, ...call: Parameters<KubeApi["call"]>): Promise<void> => {
      recorded[name] = steady(await kube.call(...call));
    };
    await record("created", "POST", `${folder}?fieldManager=rolecall-create`, { body: slice("one") });
    await record("exists", "POST", `${folder}?fieldManager=rolecall-create`, { body: slice("one") });
    await record("applied", "PATCH", `${folder}/one${as}`, { type: apply, body: slice("one") });
    await record("conflict", "PATCH", `${folder}/one${as}`, {
      type: apply,
      body: slice("one", { resourceVersion: "1" }, "10.0.0.2"),
    });
    await record("deleted", "PATCH", `${folder}/gone${as}`, {
      type: apply,
      body: slice("gone", { uid: "1de9f5c1-ebf2-43ca-8dd9-20666414ca67", resourceVersion: "1" }),
    });
    await record("invalid", "PATCH", `${folder}/one${as}`, { type: apply, body: slice("one", {}, "127.0.0.1") });
    await record("noNamespace", "POST", folder.replace("databases", "none"), {
      body: slice("one", { namespace: "none" }),
    });
    await record("notFound", "GET", `${folder}/none`);
    await record("unauthorized", "GET", folder, { token: "none" });
    const { rolecall: token } = kubeTokens;
    await record("forbiddenList", "GET", folder, { token });
    await record("forbiddenWatch", "GET", `${folder}?watch=true`, { token });
    await record("forbiddenPatch", "PATCH", `${folder}/one${as}`, { token, type: apply, body: slice("one") });
    await record("forbiddenCreate", "POST", folder, { token, body: slice("one") });
    await record("listed", "GET", `${folder}?limit=500`);
    await record("added", "GET", `${folder}?watch=true&resourceVersion=1&timeoutSeconds=1`);
    // etcd 3.4 has no progress of watches, so that this watch ends with an error.
    const initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    await record("watchError", "GET", `${folder}?watch=true&${initial}&timeoutSeconds=1&labelSelector=none`);
    if (process.env["UPDATE_GOLDEN"] === "1") writeFileSync(file, `${JSON.stringify(recorded, null, 2)}\n`);
    assert.deepEqual(recorded, JSON.parse(readFileSync(file, "utf8")));
  });
});

/** An answer without what differs from run to run. */
function steady({ status, body }: KubeAnswer): KubeAnswer {
  const text = JSON.stringify(body, (key, value: unknown) =>
    key === "managedFields" || value === null
      ? undefined
      : key === "resourceVersion"
        ? "1"
        : key === "uid"
          ? "00000000-0000-4000-8000-000000000000"
          : key === "creationTimestamp"
            ? "2026-01-01T00:00:00Z"
            : value,
  );
  return { status, body: JSON.parse(text) as KubeAnswer["body"] };
}

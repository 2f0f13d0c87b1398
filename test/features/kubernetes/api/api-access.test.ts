import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { stringify } from "yaml";
import { readApiAccess } from "../../../../src/features/kubernetes/api/api-access.ts";
import { temporaryFolder } from "../../../fake/temporary-folder.ts";

const pod = { kubeconfig: null, context: null };

/** A folder as kubelet mounts it. */
function accountFolder(): string {
  const folder = temporaryFolder("account");
  writeFileSync(join(folder, "token"), "secret\n", { mode: 0o600 });
  writeFileSync(join(folder, "ca.crt"), "an authority");
  writeFileSync(join(folder, "namespace"), "edge\n");
  return folder;
}

interface Kubeconfig {
  readonly cluster?: object;
  readonly user?: object;
  readonly more?: object;
}

/** Writes a kubeconfig, with files beside it. @returns its name */
function kubeconfig({ cluster = {}, user = { token: "secret" }, more = {} }: Kubeconfig = {}): string {
  const folder = temporaryFolder("kubeconfig");
  mkdirSync(join(folder, "keys"));
  for (const name of ["ca", "cert", "key", "token"])
    writeFileSync(join(folder, "keys", name), `the ${name}\n`, { mode: 0o600 });
  const file = join(folder, "config");
  const whole = {
    "current-context": "here",
    contexts: [
      { name: "here", context: { cluster: "c", user: "u", namespace: "databases" } },
      { name: "there", context: { cluster: "c", user: "u" } },
      { name: "lost", context: { cluster: "none", user: "u" } },
    ],
    clusters: [{ name: "c", cluster: { server: "https://kube.example:6443", ...cluster } }],
    users: [{ name: "u", user }],
    ...more,
  };
  writeFileSync(file, stringify(whole), { mode: 0o600 });
  return file;
}

describe("where the API server is", () => {
  test("a pod has a token, an authority and a namespace", () => {
    const env = { KUBERNETES_SERVICE_HOST: "10.96.0.1", KUBERNETES_SERVICE_PORT: "6443" };
    const folder = accountFolder();
    const { origin, basePath, tls, token, namespace, files } = readApiAccess(pod, env, folder);
    assert.deepEqual(
      { origin, basePath, tls, token, namespace },
      {
        origin: "https://10.96.0.1:6443",
        basePath: "",
        tls: { ca: "an authority" },
        token: "secret",
        namespace: "edge",
      },
    );
    assert.deepEqual(files, [join(folder, "token"), join(folder, "ca.crt")]);
  });

  test("the address of a pod's API server may be of IPv6, and its port is 443 by default", () => {
    const { origin } = readApiAccess(pod, { KUBERNETES_SERVICE_HOST: "fd00::1" }, accountFolder());
    assert.equal(origin, "https://[fd00::1]:443");
  });

  test("outside of a pod a kubeconfig is needed", () => {
    assert.throws(() => readApiAccess(pod, {}), /KUBERNETES_SERVICE_HOST is not set.*kubernetes\.kubeconfig/);
  });

  test("a kubeconfig names it, by its current context or by another one", () => {
    const file = kubeconfig({ cluster: { server: "https://kube.example:6443/k8s/c-1/" } });
    const { origin, basePath, token, namespace } = readApiAccess({ kubeconfig: file, context: null }, {});
    assert.deepEqual(
      [origin, basePath, token, namespace],
      ["https://kube.example:6443", "/k8s/c-1", "secret", "databases"],
    );
    assert.equal(readApiAccess({ kubeconfig: file, context: "there" }, {}).namespace, "default");
  });

  test("files that it names are beside it, and what it holds itself is preferred", () => {
    const cluster = { "certificate-authority": "keys/ca", "tls-server-name": "kube" };
    const user = {
      tokenFile: "keys/token",
      token: "old",
      "client-certificate-data": Buffer.from("a certificate").toString("base64"),
      "client-certificate": "keys/cert",
      "client-key": "keys/key",
    };
    const { tls, token, files } = readApiAccess({ kubeconfig: kubeconfig({ cluster, user }), context: null }, {});
    assert.equal(token, "the token");
    assert.deepEqual(tls, { ca: "the ca\n", cert: "a certificate", key: "the key\n", servername: "kube" });
    assert.equal(files.length, 4);
  });

  for (const [what, parts, place, error] of [
    ["an exec plugin", { user: { exec: { command: "aws" } } }, {}, /user u has exec, which rolecall does not support/],
    ["a password", { user: { username: "me", password: "secret" } }, {}, /user u has username, which/],
    ["an address without TLS", { cluster: { server: "http://kube.example" } }, {}, /must be an https URL, got "http:/],
    ["no address", { cluster: { server: "kube" } }, {}, /must be an https URL, got "kube"/],
    ["no current context", { more: { "current-context": "" } }, {}, /has no current-context/],
    ["a context that is not there", {}, { context: "none" }, /contexts must have "none"/],
    ["a cluster that is not there", {}, { context: "lost" }, /clusters must have "none"/],
    ["a file that is not there", { cluster: { "certificate-authority": "keys/none" } }, {}, /keys\/none/],
  ] as const satisfies readonly (readonly [string, Kubeconfig, { context?: string }, RegExp])[])
    test(`${what} is refused`, () => {
      const file = kubeconfig(parts);
      assert.throws(() => readApiAccess({ kubeconfig: file, context: null, ...place }, {}), error);
    });
});

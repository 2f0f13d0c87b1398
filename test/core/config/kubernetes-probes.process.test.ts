import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { parseAllDocuments } from "yaml";
import type { Config } from "../../../src/core/config/model/config.ts";
import { loadConfig } from "../../../src/app/registry/config.ts";
import { renderProblems } from "../../../src/core/config/model/problem.ts";
import { parseRequestTarget } from "../../../src/core/http/message/request-target.ts";
import { parseCheck } from "../../../src/core/health/check.ts";
import { routeOf } from "../../../src/core/health/route.ts";

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: number };
}
interface Container {
  readonly name: string;
  readonly args?: readonly string[];
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
}
interface Manifest {
  readonly kind: string;
  readonly data: Readonly<Record<string, string>>;
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly Container[] } } };
}

const folder = mkdtempSync(join(tmpdir(), "rolecall-probes-"));
after(() => rmSync(folder, { recursive: true }));

const manifests = parseAllDocuments(readFileSync("config/examples/kubernetes-probes.yaml", "utf8")).map(
  (one) => one.toJS() as Manifest,
);
const containers = manifest("StatefulSet").spec.template.spec.containers;
const [rolecall, database] = [container("rolecall"), container("database")];
const config = configOf("main-db-1");
const rolecallPorts = config.listen.map(({ port }) => port);

test("the sidecar's command writes a valid configuration with a listener for the node of its own pod", () => {
  assert.deepEqual(
    config.listen.map(({ dialect, node }) => [dialect, node]),
    [
      ["node", "main-db-1"],
      ["admin", null],
    ],
  );
});

test("the probes of the rolecall container depend on its own health only", () => {
  const { livenessProbe, readinessProbe } = rolecall;
  assert.deepEqual([livenessProbe.httpGet.path, readinessProbe.httpGet.path], ["/livez", "/readyz"]);
  assert.ok(rolecallPorts.includes(livenessProbe.httpGet.port) && rolecallPorts.includes(readinessProbe.httpGet.port));
});

test("the database's liveness probe does not use rolecall, its readiness probe checks its own node", () => {
  assert.ok(!rolecallPorts.includes(database.livenessProbe.httpGet.port));
  const { path, port } = database.readinessProbe.httpGet;
  assert.equal(config.listen.find((listener) => listener.port === port)?.node, "main-db-1");
  const target = parseRequestTarget(path);
  assert.ok(!("problem" in target));
  const route = routeOf(target.path);
  assert.ok(route !== undefined);
  const rules = { ignoreParams: [], ignoresUnknown: false, defaults: "", lagTimeMsMin: 2000 };
  assert.ok(parseCheck(route, target.query, rules).ok);
});

function manifest(kind: string): Manifest {
  const found = manifests.find((candidate) => candidate.kind === kind);
  assert.ok(found !== undefined, `a ${kind}`);
  return found;
}

function container(name: string): Container {
  const found = containers.find((candidate) => candidate.name === name);
  assert.ok(found !== undefined, `a container ${name}`);
  return found;
}

/** Runs the sidecar's command, except for the start of rolecall, with folders of the test. */
function configOf(pod: string): Config {
  writeFileSync(join(folder, "mounted.yaml"), manifest("ConfigMap").data["rolecall.yaml"] ?? "");
  const written = join(folder, "written.yaml");
  const [command = ""] = rolecall.args ?? [];
  const shell = command
    .replace("/etc/rolecall/rolecall.yaml", join(folder, "mounted.yaml"))
    .replaceAll("/run/rolecall/rolecall.yaml", written)
    .replace("exec node /app/dist/main.js serve --config", "test -s");
  execFileSync("sh", ["-c", shell], { env: { PATH: "/usr/bin:/bin", POD_NAME: pod } });
  const loaded = loadConfig({ file: written, env: {}, flags: {} });
  assert.ok(loaded.ok, loaded.ok ? "" : renderProblems(loaded.problems));
  return loaded.config;
}

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";
import { loadConfig } from "../../../src/app/registry/config.ts";
import { renderProblems } from "../../../src/config/model/problem.ts";
import { runText } from "../../fake/command-line.ts";
import { openFakeCluster } from "../../fake/fake-node.ts";
import { temporaryFolder } from "../../fake/temporary-folder.ts";

const companions = [
  { name: "pgbouncer", port: 6432, kind: "pgbouncer" },
  { name: "metrics", port: 9127, kind: "http", path: "/metrics" },
];

for (const options of [[], ["--external-databases"]])
  test(`render kubernetes ${options.join("")} gives rolecall the companions that its pools ask for`, async (context) => {
    const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
    const folder = temporaryFolder("companions");
    const file = join(folder, "rolecall.yaml");
    const written = nodes.map(({ name, api }, at) => ({
      name,
      api,
      database: `10.0.0.${at + 1}:5432`,
      ...(at === 1 ? { companions: { pgbouncer: "10.0.1.2:6433" } } : {}),
    }));
    const pools = [
      { name: "writes", check: "/primary", with: ["pgbouncer"] },
      { name: "reads", check: "/replica?with=pgbouncer" },
    ];
    writeFileSync(file, JSON.stringify({ clusters: [{ name: "demo", nodes: written, companions }], pools }));
    const { code, out, err } = await runText(["render", "kubernetes", "--config", file, "--image", "r:1", ...options]);
    assert.equal(code, 0, err);
    const objects = parseAllDocuments(out).map((document) => document.toJS() as Record<string, unknown>);
    const data = objects.find(({ kind }) => kind === "ConfigMap")?.["data"] as Record<string, string> | undefined;
    const inPod = join(folder, "pod.yaml");
    writeFileSync(inPod, data?.["rolecall.yaml"] ?? "");
    const loaded = loadConfig({ file: inPod, env: {}, flags: {} });
    assert.ok(loaded.ok, loaded.ok ? "" : renderProblems(loaded.problems));
    assert.deepEqual(
      loaded.config.pools.map(({ checkText }) => checkText),
      ["/primary?with=pgbouncer", "/replica?with=pgbouncer"],
    );
    const [cluster] = loaded.config.clusters;
    assert.deepEqual(
      cluster?.companions.map(({ name, port, kind, path }) => [name, port, kind, path]),
      [
        ["pgbouncer", 6432, "pgbouncer", null],
        ["metrics", 9127, "http", "/metrics"],
      ],
    );
    const isExternal = options.length > 0;
    const other = isExternal ? { pgbouncer: { host: "10.0.1.2", port: 6433 } } : undefined;
    assert.deepEqual(cluster?.nodes.find(({ name }) => name === "pg2")?.companions, other);
    const policy = JSON.stringify(objects.find(({ kind }) => kind === "NetworkPolicy"));
    assert.equal(policy.includes('"port":6432'), !isExternal, "its network policy lets it reach them");
  });

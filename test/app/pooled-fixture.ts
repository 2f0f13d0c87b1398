import { type TestContext } from "node:test";
import type { ClusterConfig, Config } from "../../src/core/config/model/config.ts";
import { configOf, listenerOf } from "../fake/config.ts";
import { FakeCompanion } from "../fake/fake-companion.ts";
import { openFakeCluster, type FakeNode } from "../fake/fake-node.ts";
import { fixedCluster, portFor, whole, withQuickProbes } from "./app-fixture.ts";
import type { App } from "../../src/app/app.ts";

type CompanionConfig = ClusterConfig["companions"][number];

/** Two nodes, and a pooler beside each: its port is another one at each node, as all of them are on this machine. */
export async function pooled(context: TestContext): Promise<{
  readonly nodes: readonly FakeNode[];
  readonly poolers: readonly [FakeCompanion, FakeCompanion];
  readonly configWith: (companions: readonly Partial<CompanionConfig>[]) => Config;
}> {
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  const poolers = [
    await FakeCompanion.start(context, "pgbouncer"),
    await FakeCompanion.start(context, "pgbouncer"),
  ] as const;
  const configWith = (companions: readonly Partial<CompanionConfig>[]): Config => {
    const plain = fixedCluster(nodes);
    const placed = plain.nodes.map((node, at) => ({
      ...node,
      companions: Object.fromEntries(
        companions.map(({ name = "pgbouncer" }) => [name, { host: "127.0.0.1", port: poolers[at]?.port ?? 0 }]),
      ),
    }));
    const completed = companions.map((parts) => ({
      name: "pgbouncer",
      port: 6432,
      kind: "pgbouncer" as const,
      path: null,
      ...parts,
    }));
    const clusters = [{ ...plain, nodes: placed, companions: completed }];
    return withQuickProbes(configOf({ clusters, listen: [whole, listenerOf({ dialect: "admin" })] }));
  };
  return { nodes, poolers, configWith };
}

/** The status line of an answer. */
export async function answerOf(app: App, path: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${portFor(app, whole)}${path}`);
  await response.arrayBuffer();
  return `${response.status} ${response.statusText}`;
}

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { App } from "../../src/app/app.ts";
import { configOf, clusterOf, guardsOff, listenerOf, nodeOf } from "../fake/config.ts";
import { serveRecordedNode, type RecordedNode } from "../fake/recorded-node.ts";
import { silentLogger } from "../fake/silent-logger.ts";
import { expected, hasOneStatus } from "./exceptions.ts";

/** By node, its status for each check. */
interface Answers {
  readonly [name: string]: { readonly [check: string]: number | null };
}

/** One recording: the documents of each node of a real cluster, and its answer to each check. */
export interface Vector {
  readonly scenario: string;
  readonly patroni: string;
  readonly nodes: { readonly [name: string]: RecordedNode };
  readonly answers: Answers;
  /** The statuses of HEAD and OPTIONS; recorded since 4.1.5. */
  readonly methods?: { readonly [method: string]: Answers };
}

const room = join("test", "vectors", "node-api");
for (const version of readdirSync(room)) {
  for (const file of readdirSync(join(room, version))) {
    const vector: Vector = JSON.parse(readFileSync(join(room, version, file), "utf8"));
    test(`patroni ${version}, ${vector.scenario}: with guards off rolecall answers as each node did`, async () => {
      assert.deepEqual(await disagreements(vector), []);
    });
    for (const [method, answers] of Object.entries(vector.methods ?? {})) {
      test(`patroni ${version}, ${vector.scenario}: nodes answer ${method} as docs/checks.md says`, () => {
        for (const [name, statuses] of Object.entries(answers)) {
          for (const [route, status] of Object.entries(statuses))
            assert.equal(status, hasOneStatus(route) ? vector.answers[name]?.[route] : 503, `${name} ${route}`);
        }
      });
    }
  }
}

/** Serves the recorded documents from fake nodes, probes them, and lists the checks whose answers differ. */
async function disagreements(vector: Vector): Promise<readonly string[]> {
  const fakes = await Promise.all(
    Object.entries(vector.nodes).map(async ([name, node]) => ({
      name,
      scope: scopeOf(node),
      ...(await serveRecordedNode(node)),
    })),
  );
  const scopes = [...new Set(fakes.map(({ scope }) => scope))];
  const clusters = scopes.map((scope) =>
    clusterOf({
      name: scope,
      scope,
      guards: guardsOff,
      nodes: fakes.filter((fake) => fake.scope === scope).map(({ name, api }) => nodeOf({ name, api })),
    }),
  );
  const app = new App(configOf({ clusters, listen: [listenerOf({})] }), silentLogger);
  const found: string[] = [];
  let compared = 0;
  try {
    await app.start();
    const port = app.listeners[0]?.port;
    for (const { name, scope } of fakes) {
      for (const [check, own] of Object.entries(vector.answers[name] ?? {})) {
        const allowed = expected(vector, { name, check, own });
        const { status } = await fetch(`http://127.0.0.1:${port}/clusters/${scope}/nodes/${name}${check}`);
        compared += 1;
        if (!allowed.includes(status)) found.push(`${name} ${check}: ${status}, expected ${allowed.join(" or ")}`);
      }
    }
  } finally {
    await app.stop({ drains: false });
    await Promise.all(fakes.map((fake) => fake.close()));
  }
  assert.ok(compared > 100, `only ${compared} answers were compared`);
  return found;
}

function scopeOf(node: RecordedNode): string {
  const text = JSON.stringify(node["leader"]?.doc ?? node["cluster"]?.doc ?? {});
  return /"scope":"(\w+)"/.exec(text)?.[1] ?? "demo";
}

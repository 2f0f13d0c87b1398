import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { createContext, runInContext } from "node:vm";
import { gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { parse } from "yaml";
import { nodeNamed } from "../../../../src/core/cluster/lookup.ts";
import { viewAt, type ClusterView } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { explain } from "../../../../src/core/health/rules/explain.ts";
import { explanationJson, remarksOn } from "../../../../src/core/health/documents/explanation-document.ts";
import { nodeOverview } from "../../../../src/core/health/documents/node-overview.ts";
import { parseCheckTarget } from "../../../../src/core/http/diagnostics/explain-reply.ts";
import { openIncident } from "../../../../src/features/replay/core/page-core.ts";
import { replayed, stateAtBeginning } from "../../../../src/features/replay/core/replay.ts";
import { runText } from "../../../fake/command-line.ts";
import { readIncident } from "../../../incidents/play.ts";

const web = new URL("../../../../src/features/page/web/", import.meta.url);
const core = readFileSync(new URL("core.js", web), "utf8");
const yaml = readFileSync(new URL("vendor/yaml.js", web), "utf8");
const folder = join("test", "spec", "incidents");
const files = readdirSync(folder).filter((file) => file.endsWith(".yaml"));

/** What the bundles offer to the worker of the page. Values come from another realm: they are compared as JSON. */
interface PageScripts {
  readonly open: (text: string, file: string) => ReturnType<typeof openIncident>;
}

/** Runs the bundles of the page without anything that Node adds to the language. */
function pageScripts(): PageScripts {
  // Every worker of a browser has URLSearchParams; the language itself does not.
  const context = createContext(Object.assign(Object.create(null), { URLSearchParams }), {
    codeGeneration: { strings: false, wasm: false },
  });
  runInContext(yaml, context, { filename: "yaml.js" });
  runInContext(core, context, { filename: "core.js" });
  const open = runInContext(
    "(text, file) => rolecallCore.openIncident(rolecallYaml.parseIncidentText(text), file)",
    context,
  ) as PageScripts["open"];
  return { open };
}

const page = pageScripts();

/** What the test reads of the document of `rolecall incident replay`. */
interface ReplayDocument {
  readonly from_ms: number;
  readonly to_ms: number;
  readonly changes: unknown;
  readonly events: unknown;
}

/** Compares values of two realms. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

test("the bundle of the page has less than 72 kB compressed, and names no module of Node", () => {
  assert.ok(gzipSync(core, { level: 9 }).length < 72_000, `${gzipSync(core, { level: 9 }).length} bytes`);
  assert.doesNotMatch(core, /["'`]node:|\brequire\(|\bimport\(|\bprocess\.|\bDate\.now|Math\.random|performance\./);
});

describe("the page and the program replay each incident alike", () => {
  for (const file of files) {
    test(file, async () => {
      const path = join(folder, file);
      const text = readFileSync(path, "utf8");
      const shown = page.open(text, file);
      const { code, out } = await runText(["incident", "replay", path, "--format", "json"]);
      assert.equal(code, 0, out);
      const { data } = JSON.parse(out) as { readonly data: ReplayDocument };
      const { changes, events, fromMs, toMs } = shown.timeline;
      assert.deepEqual([fromMs, toMs], [data.from_ms, data.to_ms]);
      assert.deepEqual(plain(changes.map(({ atMs, ...change }) => ({ at_ms: atMs, ...change }))), data.changes);
      assert.deepEqual(
        plain(events.map(({ at, ...event }) => ({ ...event, at: new Date(at).toISOString() }))),
        data.events,
      );
      const views = viewsOf(text, file, sixInstants(fromMs, toMs));
      for (const [atMs, view] of views) {
        assert.deepEqual(plain(shown.at(atMs).cluster.nodes.map(({ verdicts }) => verdicts)), verdictsOf(view));
        for (const { node } of view.cluster.nodes) {
          const explained = shown.explain(atMs, node.name, checkText);
          const own = explainedBy(view, node.name);
          assert.deepEqual(plain(explained), { node: node.name, cluster: view.cluster.name, check: checkText, ...own });
        }
      }
    });
  }
});

const checkText = "/replica?lag=1MB";

function sixInstants(fromMs: number, toMs: number): readonly number[] {
  return Array.from({ length: 6 }, (_, step) => fromMs + ((toMs - fromMs) * step) / 5);
}

/** The cluster at each instant, replayed from the beginning to the end at once. */
function viewsOf(text: string, file: string, instants: readonly number[]): ReadonlyMap<number, ClusterView> {
  const incident = readIncident(text, file);
  const { policy } = incident;
  const views = new Map(instants.map((atMs) => [atMs, viewAt(stateAtBeginning(incident), policy, atMs)]));
  let state = stateAtBeginning(incident);
  for (const [at, moment] of incident.moments.entries()) {
    for (const outcome of moment.outcomes) state = replayed(incident, state, { outcome, atMs: moment.atMs });
    const nextMs = incident.moments[at + 1]?.atMs ?? Infinity;
    for (const atMs of instants) if (atMs >= moment.atMs && atMs < nextMs) views.set(atMs, viewAt(state, policy, atMs));
  }
  return views;
}

function verdictsOf(view: ClusterView): unknown {
  return plain(view.cluster.nodes.map((observation) => nodeOverview(view, observation).verdicts));
}

function explainedBy(view: ClusterView, node: string): object {
  const observation = nodeNamed(view.cluster, node) ?? assert.fail(node);
  const check = parseCheckTarget(checkText);
  if ("subject" in check) assert.fail(check.subject);
  return plain(explanationJson(explain(view, observation, check), check, remarksOn(view, observation))) as object;
}

test("the same instant is shown in the same way, in whatever order instants are shown", () => {
  const players = files.slice(0, 6).map((file) => openIncident(parse(readFileSync(join(folder, file), "utf8")), file));
  fc.assert(
    fc.property(
      fc.constantFrom(...players),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 6 }),
      (player, shares) => {
        const { fromMs, toMs } = player.timeline;
        const instants = shares.map((share) => fromMs + share * (toMs - fromMs));
        const forward = instants.map((atMs) => JSON.stringify(player.at(atMs)));
        const backward = instants.toReversed().map((atMs) => JSON.stringify(player.at(atMs)));
        assert.deepEqual(backward.toReversed(), forward);
      },
    ),
    { numRuns: 40 },
  );
});

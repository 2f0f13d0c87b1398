import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { isReason } from "../../../../src/core/health/reason.ts";
import { fit, unfit } from "../../../../src/core/health/verdict.ts";
import {
  type AssignmentMemory,
  type EndpointMember,
  nextAssignment,
  nothingListed,
} from "../../../../src/features/xds/assignment/assignment.ts";

interface Step {
  readonly at: number;
  readonly members: Readonly<Record<string, string>>;
  readonly lists: readonly string[];
  readonly until?: number;
  readonly overprovisioning?: number;
}

interface Row {
  readonly title: string;
  readonly primary?: boolean;
  readonly zones?: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

const rows: readonly Row[] = parse(readFileSync("test/spec/xds/assignments.yaml", "utf8"));

function memberOf(node: string, text: string, zone: string | null): EndpointMember {
  const [word = "", ...rest] = text.split(" ");
  const how = rest.join(" ");
  const address = how === "without address" ? null : { host: "10.0.0.1", port: 5432 };
  const verdict = word === "yes" ? fit : unfit(isReason(word) ? word : assert.fail(`no reason: ${word}`));
  return { node, address, isElsewhere: how === "elsewhere", zone, verdict, isSilent: how === "silent", weight: null };
}

describe("nextAssignment", () => {
  for (const { title, primary = false, zones = {}, steps } of rows)
    it(title, () => {
      const rules = { isOfPrimary: primary, cutMs: 2_000, staleAfterMs: null, checksAt: null };
      let memory: AssignmentMemory = nothingListed;
      for (const { at, members, lists, until = Infinity, overprovisioning } of steps) {
        const parsed = Object.entries(members).map(([node, text]) => memberOf(node, text, zones[node] ?? null));
        const next = nextAssignment(parsed, memory, { rules, nowMs: at });
        memory = next.memory;
        const { endpoints, overprovisioning: percent } = next.assignment;
        assert.deepEqual(
          endpoints.map(({ node, isHealthy }) => `${isHealthy ? "+" : "-"}${node}`),
          lists,
          `at ${at}`,
        );
        assert.equal(next.validUntilMs, until, `at ${at}`);
        if (overprovisioning !== undefined) assert.equal(percent, overprovisioning);
      }
    });

  it("names the zones of all members, listed or not, and none for a primary", () => {
    const members = [memberOf("pg1", "yes", "b"), memberOf("pg2", "lagging", "a"), memberOf("pg3", "down", null)];
    const zonesFor = (isOfPrimary: boolean): readonly string[] =>
      nextAssignment(members, nothingListed, {
        rules: { isOfPrimary, cutMs: 2_000, staleAfterMs: null, checksAt: null },
        nowMs: 0,
      }).assignment.zones;
    assert.deepEqual([zonesFor(false), zonesFor(true)], [["a", "b"], []]);
  });
});

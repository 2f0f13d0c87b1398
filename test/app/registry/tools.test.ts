/** What features bring to the tools has its place in the orders that the registries state. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { featureChecks, featureServerChecks, serverCheckOrder } from "../../../src/app/registry/doctor.ts";
import { featureAgentChecks, featureTargets, renderOrder } from "../../../src/app/registry/render.ts";
import { diagnosisCommand, renderCommand } from "../../../src/tools/commands.ts";

describe("rolecall render", () => {
  test("every target has a place in the order of the help, and no other is in it", () => {
    assert.deepEqual(renderCommand.positionals?.choices, renderOrder.kinds);
  });

  test("so has every option for load balancers", () => {
    const shown = new Set<string>();
    for (const kind of ["haproxy", "envoy"]) {
      const verb = renderCommand.verbs?.find(({ name }) => name === `render ${kind}`);
      const names = (verb?.options ?? []).map(({ name }) => name);
      assert.equal(new Set(names).size, names.length);
      const own = names.slice(0, names.indexOf("cluster"));
      assert.deepEqual(
        own,
        renderOrder.options.filter((name) => own.includes(name)),
      );
      for (const name of own) shown.add(name);
    }
    assert.deepEqual(
      renderOrder.options.filter((name) => !shown.has(name)),
      [],
    );
  });

  test("a name and an option ask for one target, and one feature at most is asked by agent checks", () => {
    const asked = featureTargets.map(({ kind, byOption }) => `${kind} ${byOption}`);
    assert.equal(new Set(asked).size, asked.length);
    assert.ok(featureAgentChecks.length <= 1);
    for (const { byOption, options } of featureTargets)
      assert.ok(byOption === null || options.some(({ name }) => name === byOption), String(byOption));
  });

  test("what a target writes can be loaded", async () => {
    for (const { load, kind } of featureTargets) assert.equal(typeof (await load()), "function", kind);
    for (const { load } of featureAgentChecks) assert.equal(typeof (await load()), "function");
  });
});

describe("rolecall doctor", () => {
  test("every check with the members that are known has its place in the order, beside the core's", () => {
    // Two are of the core.
    const ids = [...featureServerChecks.map(({ id }) => id), "asked", "state"];
    assert.deepEqual(ids.toSorted(), serverCheckOrder.toSorted());
  });

  test("the rows of all checks differ, and the description has those that are always there", () => {
    const ids = [...featureChecks, ...featureServerChecks].map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    const listed = diagnosisCommand.checks.map(({ id }) => id);
    assert.equal(new Set(listed).size, listed.length);
    for (const { id, isListed } of featureServerChecks) assert.equal(listed.includes(id), isListed, id);
  });
});

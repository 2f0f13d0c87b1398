import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { checkExpectations } from "../../src/features/replay/core/expectations.ts";
import { readIncident } from "./play.ts";

const room = join("test", "spec", "incidents");
/** Of two nodes that are equal in every criterion, the first in the list is chosen. The order here is deliberate. */
const decidedByOrder: ReadonlySet<string> = new Set(["keep-without-a-leader.yaml"]);
const files = readdirSync(room).filter((file) => file.endsWith(".yaml"));

for (const file of files) {
  test(`${file}: its answers are those that had to be given`, () => {
    const incident = readIncident(readFileSync(join(room, file), "utf8"), file);
    const expectations = incident.moments.reduce((sum, { expected }) => sum + expected.length, 0);
    assert.ok(expectations + incident.flips.length > 0, `${file} expects nothing`);
    const { differing: found } = checkExpectations(incident);
    assert.equal(found.length, 0, found.slice(0, 3).join("\n"));
  });

  if (decidedByOrder.has(file)) continue;
  test(`${file}: its answers are the same whatever the order of the nodes in the list`, () => {
    const incident = readIncident(readFileSync(join(room, file), "utf8"), file);
    const { differing: found } = checkExpectations({ ...incident, nodes: incident.nodes.toReversed() });
    assert.equal(found.length, 0, found.slice(0, 3).join("\n"));
  });
}

test("at least 25 incidents are kept", () => {
  assert.ok(files.length >= 25, `only ${files.length} files`);
});

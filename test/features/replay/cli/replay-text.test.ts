import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { runText } from "../../../fake/command-line.ts";

const incident = `name: a primary is killed, and comes back
why: It was killed.
cluster: { nodes: [pg1, pg2] }
steps:
  - at: 0s
    until: 4s
    every: 1s
    nodes:
      pg1: { lock: true, position: 0/5000000 }
      pg2: { position: 0/5000000 }
  - at: 5s
    until: 9s
    every: 1s
    nodes: { pg1: { failure: refused }, pg2: { position: 0/5000000 } }
  - at: 10s
    until: 20s
    every: 1s
    nodes:
      pg1: { lock: true, position: 0/5000000 }
      pg2: { position: 0/5000000 }
`;

test("replay says that a node does not answer, and when it answers again", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-replay-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "night.yaml");
  writeFileSync(file, incident);
  const { code, out, err } = await runText(["incident", "replay", file]);
  assert.deepEqual([code, err], [0, ""]);
  const contact = out.split("\n").filter((line) => /^ *[\d.]+ s +pg1: /.test(line));
  assert.ok(
    contact.some((line) => /5\.000 s +pg1: does not answer.* \(/.test(line)),
    out,
  );
  const again = contact.filter((line) => line.includes("answers again"));
  assert.equal(again.length, 1, out);
  assert.doesNotMatch(again[0] ?? "", /refused/);
});

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { replayTimeline } from "../../src/replay/timeline.ts";
import { readIncident } from "./play.ts";

const file = join("test", "spec", "incidents", "patroni-3717-lost-conninfo.yaml");
const incident = readIncident(readFileSync(file, "utf8"), file);

test("a timeline keeps a bounded number of changes and events, and says if it left some out", () => {
  const { changes, events, isCut } = replayTimeline(incident);
  assert.equal(isCut, false);
  assert.ok(changes.length > 1 && events.length > 1, `${changes.length} changes, ${events.length} events`);
  const most = Math.max(changes.length, events.length);
  assert.equal(replayTimeline(incident, most).isCut, false, "exactly as many as there are");
  const short = replayTimeline(incident, 1);
  assert.deepEqual([short.changes, short.events], [changes.slice(0, 1), events.slice(0, 1)]);
  assert.equal(short.isCut, true);
});

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { eventKinds } from "../../src/app/registry/conditions.ts";
import { eventSeverities } from "../../src/events/cluster-event.ts";
import { eventLimitMax } from "../../src/http/diagnostics/event-query.ts";

const text = readFileSync("docs/events.md", "utf8");

test("the table of docs/events.md has every kind of event once, in order, with its severities", () => {
  const rows = [...text.matchAll(/^\| `(\w+)` \| ([a-z, ]+) \| \S.* \|$/gm)].filter(([, , severities = ""]) =>
    severities.split(", ").every((severity) => eventSeverities.some((known) => known === severity)),
  );
  assert.deepEqual(
    rows.map(([, kind]) => kind),
    [...eventKinds],
  );
  assert.ok(text.includes(`1 to ${eventLimitMax}`));
});

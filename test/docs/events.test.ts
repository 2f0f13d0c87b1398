import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { allConditions } from "../../src/app/registry/conditions.ts";
import { eventKinds } from "../../src/app/registry/event-kinds.ts";
import { eventSeverities } from "../../src/core/events/cluster-event.ts";
import { rankOf } from "../../src/core/health/conditions/condition.ts";
import { eventLimitMax } from "../../src/core/http/diagnostics/event-query.ts";

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

/** The rows of the table of conditions, in the order of precedence. */
function conditionRows(): readonly string[] {
  const ordered = allConditions.toSorted((one, other) => rankOf(one.harm) - rankOf(other.harm));
  return ordered.map(({ id, title, harm, events, status, rule, alerts }) => {
    const place =
      "condition" in status
        ? `\`${status.condition}\``
        : "field" in status
          ? `field \`${status.field}\``
          : "tellCase" in status
            ? "findings"
            : `in \`${status.within}\``;
    if (events !== undefined) assert.equal(events.begins, id, "the table names the event by the condition");
    const isSilent = events === undefined ? " *" : "";
    const finding = rule ?? "";
    const links = alerts.map((name) => `[${name.replace("Rolecall", "")}](alerts.md#${name.toLowerCase()})`).join(", ");
    return `| \`${id}\`${isSilent} | ${title} | \`${harm}\` | ${place} | ${finding} | ${links} |`;
  });
}

test("the table of conditions in docs/events.md is that of the list", () => {
  const block = /(<!-- conditions: generated, UPDATE_DOCS=1 -->\n)([^]*?)(\n<!-- \/conditions -->)/;
  const head = ["| condition | what holds | precedence | `/status` | finding | alerts |", "|---|---|---|---|---|---|"];
  const wanted = [...head, ...conditionRows()].join("\n");
  if (process.env["UPDATE_DOCS"] === "1")
    writeFileSync(
      "docs/events.md",
      text.replace(block, (_, begins: string, __, ends: string) => `${begins}${wanted}${ends}`),
    );
  else assert.equal(block.exec(text)?.[2], wanted, "UPDATE_DOCS=1 writes it");
});

/** A condition is declared once: whatever else names it follows from its object, or is compared with it here. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { parse } from "yaml";
import { allConditions, eventConditions } from "../../../src/app/registry/conditions.ts";
import { clusterEventKinds } from "../../../src/app/registry/event-kinds.ts";
import { commands } from "../../../src/cli/specs/commands.ts";
import { isRuleId } from "../../../src/core/command/result/rules.ts";
import { clusterConditions, clusterConditionWords } from "../../../src/core/health/conditions/cluster-condition.ts";
import { harms, isOfWrites, rankOf } from "../../../src/core/health/conditions/condition.ts";
import { conditions } from "../../../src/core/health/conditions/conditions.ts";
import { isReason } from "../../../src/core/health/reason.ts";

const spec: {
  /** Files that name a kind of event, a word of the status or a rule of a condition, and why. */
  readonly namedElsewhere: Readonly<Record<string, string>>;
  /** Kinds of events that begin and end no condition. */
  readonly changes: readonly string[];
  /** Alerts that fire for no condition of one cluster at one instant, and why. */
  readonly alertsOfNone: Readonly<Record<string, string>>;
  /** Conditions with events of warnings or errors that the situation does not tell, and why. */
  readonly besideSituation: Readonly<Record<string, string>>;
  /** Conditions that make a cluster degraded or warned without an event, and why. */
  readonly withoutEvent: Readonly<Record<string, string>>;
} = parse(readFileSync("test/spec/declared-conditions.yaml", "utf8"));

const kinds = allConditions.flatMap(({ events }) => (events === undefined ? [] : [events.begins, events.ends]));

describe("a condition is declared once", () => {
  test("no other file names its events, its word of the status or its rule", () => {
    const words = clusterConditions.filter((word) => word.includes(" "));
    const named = new RegExp(
      [
        // A pooler is resumed, too.
        `\\b(?:kind|begins|ends)(?::| ===) "(?:${kinds.filter((kind) => kind !== "resumed").join("|")})"`,
        `"(?:${[...kinds.filter((kind) => kind.includes("_") && !isReason(kind)), ...words].join("|")})"`,
        `"(?:${[...new Set(conditions.flatMap(({ rule = [] }) => rule))].join("|")})"`,
      ].join("|"),
    );
    const found = readdirSync("src", { recursive: true, encoding: "utf8" })
      .filter((file) => /\.(?:ts|js)$/.test(file))
      .filter(
        (file) =>
          !file.startsWith("core/health/conditions/") && !/^features\/\w+\/(?:conditions|event-kinds)\.ts$/.test(file),
      )
      .filter((file) => named.test(readFileSync(`src/${file}`, "utf8").replace(/\/\*[^]*?\*\/|\/\/.*/g, "")));
    assert.deepEqual(found.sort(), Object.keys(spec.namedElsewhere).sort());
  });

  test("its id is that of no other one, and the kind of event that begins it", () => {
    const ids = allConditions.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    for (const { id, events } of allConditions) assert.equal(events?.begins ?? id, id);
  });

  test("what a folder of a feature declares has its row in the registry", () => {
    const declared: string[] = [];
    for (const feature of readdirSync("src/features")) {
      const file = `src/features/${feature}/conditions.ts`;
      if (!existsSync(file)) continue;
      const ids = readFileSync(file, "utf8").matchAll(/^  id: "(\w+)",$/gm);
      declared.push(...[...ids].map(([, id = ""]) => id));
    }
    const registered = allConditions.filter((condition) => !conditions.some((core) => core.id === condition.id));
    assert.deepEqual(
      registered.map(({ id }) => id),
      declared,
    );
  });

  test("every kind of event of clusters is of a condition, or a change that does not last", () => {
    assert.deepEqual(
      clusterEventKinds.filter((kind) => !kinds.includes(kind)),
      spec.changes,
    );
  });

  test("its end has a text if it is found, and only then", () => {
    const found = new Set(eventConditions.map(({ id }) => id));
    for (const { id, events } of allConditions)
      if (events !== undefined) assert.equal(events.endText !== null, found.has(id), id);
  });

  test("the status has a place for it: a situation, a field, or the situation of another one", () => {
    const told = new Set(allConditions.filter(({ status }) => "tell" in status).map(({ id }) => id));
    for (const { id, status } of allConditions) if ("within" in status) assert.ok(told.has(status.within), id);
    const used = new Set(allConditions.flatMap(({ status }) => ("condition" in status ? [status.condition] : [])));
    assert.deepEqual(
      clusterConditions.filter((word) => !used.has(word)),
      ["ok"],
    );
  });

  test("one that is an event of the log, and no situation, has a reason for it; and the reverse", () => {
    const silent = allConditions.filter(({ status, events }) => "field" in status && events !== undefined);
    assert.deepEqual(silent.map(({ id }) => id).sort(), Object.keys(spec.besideSituation).sort());
    const quiet = allConditions.filter(({ events }) => events === undefined);
    assert.deepEqual(quiet.map(({ id }) => id).sort(), Object.keys(spec.withoutEvent).sort());
  });

  test("rolecall status reports the rules of all, and no others", () => {
    const status = commands.find(({ name }) => name === "status");
    const rules = new Set(allConditions.flatMap(({ rule = [] }) => rule));
    assert.deepEqual(status?.ownFindings, [...rules].sort());
  });

  test("its rule exists, and a reason for a no is that of one condition", () => {
    for (const { id, rule } of allConditions) assert.ok(rule === undefined || isRuleId(rule), id);
    const reasons = allConditions.flatMap(({ remedies = {} }) => Object.keys(remedies));
    assert.equal(new Set(reasons).size, reasons.length);
    assert.ok(reasons.every(isReason));
  });

  test("the table of docs/events.md has the severities of its beginning, and an end is info", () => {
    const rows = readFileSync("docs/events.md", "utf8").matchAll(
      /^\| `(\w+)` \| ((?:info|warning|error)(?:, \w+)*) \| \S.* \|$/gm,
    );
    const stated = new Map([...rows].map(([, kind = "", severities = ""]) => [kind, severities.split(", ")]));
    for (const { events } of allConditions) {
      if (events === undefined) continue;
      assert.deepEqual(new Set(stated.get(events.begins)), new Set(events.severities), events.begins);
      assert.deepEqual(stated.get(events.ends), ["info"], events.ends);
    }
  });

  test("every alert is that of a condition, or of something that is none", () => {
    const rules = readFileSync("deploy/prometheus/rolecall-rules.yml", "utf8");
    const alerts = [...rules.matchAll(/^ +- alert: (\w+)$/gm)].map(([, name = ""]) => name);
    const ofConditions = new Set(allConditions.flatMap(({ alerts: names }) => names));
    assert.deepEqual(alerts.filter((name) => !ofConditions.has(name)).sort(), Object.keys(spec.alertsOfNone).sort());
    assert.deepEqual(
      [...ofConditions].filter((name) => !alerts.includes(name)),
      [],
    );
  });

  test("the live page has the words and tones of the status", async () => {
    const page: { readonly conditions: readonly object[] } = await import(
      pathToFileURL("src/features/page/web/parts/condition.js").href
    );
    assert.deepEqual(
      page.conditions,
      clusterConditionWords.map(({ name, word, tone }) => ({ name, word, tone })),
    );
  });
});

describe("the order of precedence", () => {
  test("what could lose data or writes comes before what is merely missing", () => {
    assert.deepEqual(harms, ["split", "leaderless", "stuck", "unseen", "diverged", "missing", "doubtful", "intended"]);
    assert.deepEqual(harms.filter(isOfWrites), ["split", "leaderless", "stuck"]);
    const of = (id: string): number => rankOf(allConditions.find((each) => each.id === id)?.harm ?? assert.fail(id));
    const order = [
      "claims_conflict",
      "primary_lost",
      "wedged",
      "blind",
      "diverged",
      "node_down",
      "node_silent",
      "drained",
    ];
    const ranks = order.map(of);
    assert.deepEqual(
      ranks,
      ranks.toSorted((one, other) => one - other),
    );
    assert.equal(new Set(ranks).size, ranks.length);
  });

  test("a word of the status that is severe is of conditions that are worse than a missing node", () => {
    const severe = new Set(clusterConditionWords.filter(({ isSevere }) => isSevere).map(({ name }) => name));
    for (const { id, status, harm } of allConditions)
      if ("condition" in status && severe.has(status.condition)) assert.ok(rankOf(harm) < rankOf("diverged"), id);
  });
});

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parse } from "yaml";
import * as z from "zod";
import { checkDefaults } from "../../../../src/core/config/schema/listener-schema.ts";
import * as schemas from "../../../../src/core/config/schema/value-schemas.ts";

interface Row {
  readonly schema: string;
  readonly accepts: Readonly<Record<string, unknown>>;
  readonly refuses: readonly unknown[];
}

const rows: readonly Row[] = parse(readFileSync("test/spec/config/value-schemas.yaml", "utf8"));
const built: Readonly<Record<string, z.ZodType>> = {
  duration: schemas.duration("10ms", "1h"),
  integer: schemas.integer(1, 10),
  flag: schemas.flag(),
  name: schemas.name(),
  apiAddress: schemas.apiAddress(),
  exporterAddress: schemas.exporterAddress(),
  databaseAddress: schemas.databaseAddress(),
  listenAddress: schemas.listenAddress(),
  hostSuffix: schemas.hostSuffix(),
  zoneName: schemas.zoneName(),
  plainText: schemas.plainText("a text", 6),
};

for (const { schema: name, accepts, refuses } of rows) {
  const schema = built[name];
  assert.ok(schema !== undefined, name);
  for (const [text, value] of Object.entries(accepts)) {
    test(`${name} accepts ${text}`, () =>
      assert.deepEqual(schema.parse(name === "integer" ? Number(text) : text), value));
  }
  for (const value of refuses) {
    test(`${name} refuses ${JSON.stringify(value)} and says what is allowed`, () => {
      const { success, error } = schema.safeParse(value);
      assert.equal(success, false);
      for (const { message } of error?.issues ?? []) assert.match(message, /^(?:an? |host:port|the end|true or false)/);
    });
  }
}

test("a list and a section without a value have their defaults", () => {
  const list = schemas.list(schemas.integer(1, 9), 2);
  assert.deepEqual([list.parse(undefined), list.parse(null), list.parse([1, 2])], [[], [], [1, 2]]);
  assert.equal(list.safeParse([1, 2, 3]).success, false);
  const section = schemas.section(z.strictObject({ a: z.int().default(1) }));
  assert.deepEqual(
    [section.parse(undefined), section.parse(null), section.parse({ a: 2 })],
    [{ a: 1 }, { a: 1 }, { a: 2 }],
  );
  assert.equal(section.safeParse({ b: 1 }).success, false);
});

test("default parameters of checks become the query that means the same", () => {
  assert.equal(
    checkDefaults().parse({ lag: "1MB", lag_time: "5s", tag_zone: "a b" }),
    "lag=1MB&lag_time=5s&tag_zone=a+b",
  );
  assert.equal(checkDefaults().parse({ keep: 2 }), "keep=2");
});

test("a wrong default parameter is reported at its own key, with what is allowed", () => {
  const { error } = checkDefaults().safeParse({ lag: "1XB", lagg: "1MB", keep: 1 });
  assert.deepEqual(
    error?.issues.map(({ path }) => path),
    [["lag"], ["lagg"]],
  );
});

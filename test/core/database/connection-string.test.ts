import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { connectionKeywords, parseConnectionString } from "../../../src/core/database/connection-string.ts";

const readable: readonly (readonly [text: string, parameters: Readonly<Record<string, string>>])[] = [
  ["postgresql://app@10.0.0.5:5000/shop", { host: "10.0.0.5", port: "5000", user: "app", dbname: "shop" }],
  ["postgres://h", { host: "h" }],
  ["postgresql:///shop?host=/run/postgresql&user=app", { dbname: "shop", host: "/run/postgresql", user: "app" }],
  [
    "postgresql://[2001:db8::1]:5432/x?sslmode=require",
    { host: "2001:db8::1", port: "5432", dbname: "x", sslmode: "require" },
  ],
  ["postgresql://a%40b@h/my%20db", { user: "a@b", host: "h", dbname: "my db" }],
  ["host=10.0.0.5 port=5000", { host: "10.0.0.5", port: "5000" }],
  ["  host = h   dbname = 'my db' user='o\\'hara'", { host: "h", dbname: "my db", user: "o'hara" }],
  ["host=a\\ b", { host: "a b" }],
  ["", {}],
];

for (const [text, parameters] of readable)
  test(`reads ${JSON.stringify(text)}`, () => {
    assert.deepEqual(Object.fromEntries(parseConnectionString("--dsn", text)), parameters);
  });

const rejected: readonly (readonly [text: string, message: RegExp])[] = [
  ["postgresql://app:hunter2@h/x", /must not hold a password/],
  ["postgresql://h/x?password=hunter2", /must not hold a password/],
  ["host=h password=hunter2", /must not hold a password/],
  ["host=h options=-csearch_path=x", /must have the keywords host, .* only, got "options"/],
  ["postgresql://a:1,b:2/x", /must be a URL such as/],
  ["postgresql://h:99999/x", /must be a URL such as/],
  ["postgresql://%zz/x", /must be a URL such as/],
  ["hunter2", /must be a URL .* or keyword=value pairs .* after 0 pairs/],
  ["host=h hunter2", /after 1 pairs/],
  ["host='h hunter2", /after 0 pairs/],
  ["host='h'hunter2", /after 0 pairs/],
];

for (const [text, message] of rejected)
  test(`rejects ${JSON.stringify(text)} without repeating it`, () => {
    assert.throws(
      () => parseConnectionString("--dsn", text),
      (error: Error) => error instanceof Error && message.test(error.message) && !error.message.includes("hunter2"),
    );
  });

test("reads back any values that are quoted as libpq demands", () => {
  const parameters = fc.dictionary(fc.constantFrom(...connectionKeywords), fc.string());
  fc.assert(
    fc.property(parameters, (given) => {
      const text = Object.entries(given)
        .map(([keyword, value]) => `${keyword}='${value.replaceAll(/['\\]/g, String.raw`\$&`)}'`)
        .join(" ");
      assert.deepEqual(Object.fromEntries(parseConnectionString("--dsn", text)), { ...given });
    }),
  );
});

test("any text gives parameters or an Error, quickly", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[a-z='\\ ]{0,60}$/)), (text) => {
      try {
        parseConnectionString("--dsn", text);
      } catch (error) {
        assert.ok(error instanceof Error);
      }
    }),
  );
});

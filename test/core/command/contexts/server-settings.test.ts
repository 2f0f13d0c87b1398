import assert from "node:assert/strict";
import { test } from "node:test";
import { parseServerAddress } from "../../../../src/core/command/contexts/server-address.ts";
import {
  combineSettings,
  type SettingLayer,
  type SettingName,
} from "../../../../src/core/command/contexts/server-settings.ts";

function layer(from: string, values: Partial<Record<SettingName, string>>): SettingLayer {
  return { from: () => from, values: new Map(Object.entries(values) as [SettingName, string][]) };
}

function combined(...layers: readonly SettingLayer[]): Record<string, string> {
  const settings = combineSettings(layers);
  assert.ok("values" in settings);
  return Object.fromEntries([...settings.values].map(([name, { value, from }]) => [name, `${value} (${from})`]));
}

for (const [text, tls, url, hasPort] of [
  ["127.0.0.1:8008", false, "http://127.0.0.1:8008/", true],
  ["rolecall.example", false, "http://rolecall.example/", false],
  ["rolecall.example", true, "https://rolecall.example/", false],
  ["[::1]:9108", false, "http://[::1]:9108/", true],
  ["::1", false, "http://[::1]/", false],
  ["https://rolecall.example", false, "https://rolecall.example/", true],
  ["http://10.0.0.1:8008/", true, "http://10.0.0.1:8008/", true],
] as const) {
  test(`${text} is ${url}`, () => {
    const address = parseServerAddress(text, tls);
    assert.deepEqual([address?.url.href, address?.hasPort], [url, hasPort]);
  });
}

for (const text of ["", "http://", "ftp://x", "http://x/y", "http://a:b@x", "a:b@x", "x:99999", "x y", "http://x?a=1"])
  test(`${JSON.stringify(text)} is no address`, () => assert.equal(parseServerAddress(text, false), null));

test("the first source that has a value wins", () => {
  const values = combined(
    layer("flag", { timeout: "1s" }),
    layer("variable", { server: "a", timeout: "2s" }),
    layer("context", { server: "a", "token-file": "t" }),
  );
  assert.deepEqual(values, { server: "a (variable)", timeout: "1s (flag)", "token-file": "t (context)" });
});

test("credentials are those of one source", () => {
  const values = combined(layer("flag", { "token-file": "t" }), layer("context", { server: "a", "user-file": "u" }));
  assert.deepEqual(values, { server: "a (context)", "token-file": "t (flag)" });
});

test("credentials of a source are not used for the server of another one", () => {
  const context = layer("context", {
    server: "https://a",
    "token-file": "t",
    ca: "c",
    insecure: "true",
    cert: "x",
    key: "y",
  });
  for (const server of ["b", "https://b:8008", "http://a"]) {
    assert.deepEqual(combined(layer("flag", { server }), context), { server: `${server} (flag)` });
    const settings = combineSettings([layer("flag", { server }), context]);
    assert.ok("unused" in settings);
    assert.deepEqual(settings.unused.map(([name]) => name).toSorted(), ["ca", "cert", "insecure", "key", "token-file"]);
  }
  assert.equal(combined(layer("flag", { server: "https://a:9108" }), context)["token-file"], "t (context)");
});

test("a server that is not valid is reported with its source", () => {
  assert.deepEqual(combineSettings([layer("variable", { server: "http://x/y" })]), {
    invalid: { value: "http://x/y", from: "variable" },
  });
});

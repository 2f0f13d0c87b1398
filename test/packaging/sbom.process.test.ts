import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../fake/temporary-folder.ts";

interface BillOfMaterials {
  readonly serialNumber: string;
  readonly metadata: { readonly timestamp: string; readonly component: { readonly name: string } };
  readonly components: readonly { readonly name: string; readonly hashes?: readonly object[] }[];
}

const folder = temporaryFolder("sbom");
const { dependencies }: { dependencies: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync("package.json", "utf8"),
);

test("the bill of materials lists what runs, names no host, and is the same each time", () => {
  const [one = "", two = ""] = ["one.json", "two.json"].map((name) => {
    const file = join(folder, name);
    execFileSync(process.execPath, ["packaging/sbom.mjs", file], {
      env: { ...process.env, SOURCE_DATE_EPOCH: "1700000000" },
      stdio: "ignore",
    });
    return readFileSync(file, "utf8");
  });
  assert.equal(one, two);
  const { metadata, components, serialNumber }: BillOfMaterials = JSON.parse(one);
  assert.equal(metadata.component.name, "rolecall");
  assert.equal(metadata.timestamp, "2023-11-14T22:13:20.000Z");
  assert.match(serialNumber, /^urn:uuid:[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  const names = new Set(components.map(({ name }) => name));
  // http-proxy is an alias in package.json.
  for (const name of Object.keys(dependencies).filter((candidate) => candidate !== "http-proxy"))
    assert.ok(names.has(name), name);
  assert.ok(!names.has("typescript"));
  assert.deepEqual(
    components.filter(({ hashes }) => hashes === undefined || hashes.length === 0),
    [],
  );
  assert.deepEqual(
    [...one.matchAll(/"url": "(.*?)"/g)].map(([, url]) => url),
    [],
  );
});

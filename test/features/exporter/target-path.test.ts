import assert from "node:assert/strict";
import { test } from "node:test";
import { rolePaths } from "../../../src/core/cluster/exporter/role-paths.ts";
import { pathOf } from "../../../src/features/exporter/target-path.ts";

test("the exporter API has five paths for each role", () => {
  const counts = new Map<string, number>();
  for (const role of rolePaths.values()) counts.set(role, (counts.get(role) ?? 0) + 1);
  assert.deepEqual(Object.fromEntries(counts), { up: 5, primary: 5, replica: 5 });
});

const paths: readonly (readonly [target: string, path: string | null])[] = [
  ["/up", "/up"],
  ["/up?x=/reload", "/up"],
  ["/up#x", "/up"],
  ["/up/", "/up/"],
  ["", "/"],
  ["?x", "/"],
  ["http://any:9630/metrics", "/metrics"],
  ["http://any:9630", "/"],
  ["/%6Detrics", "/metrics"],
  ["/%zz", null],
];
for (const [target, path] of paths) {
  test(`the path of the target "${target}" is ${path}`, () => assert.equal(pathOf(target), path));
}

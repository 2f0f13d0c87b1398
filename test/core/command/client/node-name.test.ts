import assert from "node:assert/strict";
import { test } from "node:test";
import { unknownNameError } from "../../../../src/core/command/client/node-name.ts";

test("an unknown name gets the known ones, and the one that was likely meant", () => {
  const { message } = unknownNameError("--cluster", ["orders", "shop"], "ordesr");
  assert.equal(message, '--cluster must be one of orders, shop, got "ordesr": did you mean orders?');
  assert.equal(unknownNameError("--cluster", ["orders"], "x").message, '--cluster must be one of orders, got "x"');
});

test("a node is recognized with its cluster and without", () => {
  const known = ["demo/primary-a", "demo/primary-b"];
  assert.match(unknownNameError("The node", known, "pirmary-b").message, /: did you mean primary-b\?$/);
  assert.match(unknownNameError("The node", known, "demo/pirmary-b").message, /: did you mean demo\/primary-b\?$/);
});

test("at most twenty names are listed", () => {
  const known = Array.from({ length: 40 }, (_, at) => `demo${at + 1}`);
  const { message } = unknownNameError("--cluster", known, "demo99");
  assert.match(
    message,
    /^--cluster must be one of demo1, .*, demo20 and 20 more, got "demo99": did you mean demo\d+\?$/,
  );
  assert.doesNotMatch(unknownNameError("--cluster", known.slice(0, 20), "demo99").message, /more/);
});

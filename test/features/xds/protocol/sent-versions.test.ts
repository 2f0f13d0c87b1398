import assert from "node:assert/strict";
import { test } from "node:test";
import { array, assert as check, constant, nat, oneof, property, record } from "fast-check";
import { SentVersions } from "../../../../src/features/xds/protocol/sent-versions.ts";

const names = Array.from({ length: 80 }, (_, at) => `p${at}`);
const versionsAt = (version: number): ReadonlyMap<string, string> =>
  new Map(names.map((name) => [name, `v${version}`]));

const step = oneof(
  record({ act: constant("set" as const), at: nat(names.length - 1), version: nat(3) }),
  record({ act: constant("delete" as const), at: nat(names.length - 1), version: nat(3) }),
  record({ act: constant("set all" as const), at: constant(0), version: nat(3) }),
  record({ act: constant("share" as const), at: constant(0), version: nat(3) }),
);

test("whatever is shared, it has the versions that were sent", () => {
  let shared = 0;
  check(
    property(array(step, { maxLength: 60 }), (steps) => {
      const [sent, model] = [new SentVersions(), new Map<string, string>()];
      for (const { act, at, version } of steps) {
        const name = names[at] ?? "";
        const changed = act === "set all" ? names : act === "set" ? [name] : [];
        for (const each of changed) {
          sent.set(each, `v${version}`);
          model.set(each, `v${version}`);
        }
        if (act === "delete") {
          sent.delete(name);
          model.delete(name);
        }
        if (act === "share") {
          const published = versionsAt(version);
          sent.share(published);
          if (names.every((each) => model.get(each) === published.get(each))) shared += 1;
        }
        for (const each of names) assert.equal(sent.get(each), model.get(each));
        assert.deepEqual([...sent.names()].toSorted(), [...model.keys()].toSorted());
      }
    }),
  );
  assert.ok(shared > 0, "nothing was ever shared");
});

test("shares what is published once all of it was sent, and nothing that was not published", () => {
  const published = versionsAt(1);
  const sent = new SentVersions();
  for (const name of names.slice(1)) sent.set(name, "v1");
  sent.share(published);
  assert.equal(sent.get("p0"), undefined);
  sent.set("p0", "v1");
  sent.set("gone", "v1");
  sent.share(published);
  assert.equal(sent.get("gone"), "v1");
});

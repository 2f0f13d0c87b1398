import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { questionOf, type Said } from "../rolecall/asker.ts";
import { DcsPromise } from "./dcs-promise.ts";

type Denials = ConstructorParameters<typeof DcsPromise>[0]["evidence"];

const never: Denials = { mayHaveDenied: () => false };

function primary(node: string, status: number, askedMs: number): Said {
  const rest = { phrase: "", headers: new Map<string, string>(), body: "", word: null };
  return { ...questionOf("c1", node, "/primary"), askedMs, answeredMs: askedMs, status, ...rest };
}

/** The leader key names pg1, which is fit, and then pg2. */
function replaced(evidence: Denials = never): DcsPromise {
  const promise = new DcsPromise({ armed: new Map(), replacedMs: new Map(), evidence });
  promise.read("pg1", 1_000);
  assert.deepEqual(promise.judge([primary("pg1", 200, 1_500)]), []);
  promise.read("pg2", 2_000);
  return promise;
}

suite("the promise of the DCS watch", () => {
  test("is broken by a yes of the member that the key no longer names", () => {
    const [broken, ...others] = replaced().judge([primary("pg1", 200, 2_100), primary("pg2", 200, 2_100)]);
    assert.equal(broken?.node, "pg1");
    assert.deepEqual(others, []);
  });

  test("ends when the key names the member again", () => {
    const promise = replaced();
    promise.read("pg1", 3_000);
    assert.deepEqual(promise.judge([primary("pg1", 200, 3_100)]), []);
  });

  test("ends when the member reports that it holds no lock: a later claim is a new one", () => {
    const asked: [string, number][] = [];
    const denied = { mayHaveDenied: (node: string, sinceMs: number) => asked.push([node, sinceMs]) > 0 };
    const promise = replaced(denied);
    assert.deepEqual(promise.judge([primary("pg1", 200, 9_000)]), []);
    assert.deepEqual(asked, [["pg1", 2_000]]);
    assert.deepEqual(promise.judge([primary("pg1", 200, 9_500)]), []);
  });
});

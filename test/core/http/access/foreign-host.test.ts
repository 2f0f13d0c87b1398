import assert from "node:assert/strict";
import { test } from "node:test";
import { refuseCrossOrigin } from "../../../../src/core/http/access/cross-origin.ts";

/** A Host that is not ours without auth and TLS, and whether it is with one of them. */
const foreign: readonly (readonly [host: string, isOwnIfProtected: boolean])[] = [
  ["evil.example:9108", true],
  ["127.0.0.1.evil.example", true],
  ["localhost.evil.example", true],
  ["notlocalhost", true],
  ["", false],
];
const own: readonly string[] = ["127.0.0.1:9108", "[::1]:9108", "[2001:db8::7]", "localhost:9108", "edge.localhost"];

for (const [name, isOwnIfProtected] of foreign)
  test(`a GET that changes state, for the foreign Host ${JSON.stringify(name)}, whatever it says of itself`, () => {
    for (const headers of [
      {},
      { "user-agent": "curl/8.14.1" },
      { "user-agent": "x", "sec-fetch-site": "same-origin" },
    ]) {
      const isTaken = (parts: { isProtected?: boolean; isSafeMethod?: boolean; trusted?: string[] }): boolean =>
        refuseCrossOrigin(
          { host: name, ...headers },
          { trusted: [], isProtected: false, isSafeMethod: true, ...parts },
        ) === null;
      assert.equal(isTaken({}), false);
      assert.equal(isTaken({ isSafeMethod: false }), true, "a POST: a browser would name the origin");
      if (!isOwnIfProtected) continue;
      assert.equal(isTaken({ isProtected: true }), true);
      assert.deepEqual(
        [isTaken({ trusted: [`http://${name}`] }), isTaken({ trusted: [`http://${name}1`] })],
        [true, false],
      );
    }
  });

test("a GET that changes state, without a Host or for our own, from a program", () => {
  for (const host of [undefined, ...own])
    assert.equal(
      refuseCrossOrigin(host === undefined ? {} : { host }, {
        trusted: [],
        isProtected: false,
        isSafeMethod: true,
      }),
      null,
      host,
    );
});

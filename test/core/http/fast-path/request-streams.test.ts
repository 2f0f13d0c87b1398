import { after, before, test } from "node:test";
import * as fc from "fast-check";
import { assertAlike, openTwoPaths, type TwoPaths } from "../../../fake/two-paths.ts";

let paths: TwoPaths;
before(async () => {
  paths = await openTwoPaths();
});
after(() => paths.close());

test("the fast path writes the same bytes as node:http, and leaves the same connection, whatever is sent in whatever pieces", async () => {
  await fc.assert(
    fc.asyncProperty(stream(), async (pieces) => assertAlike(paths, pieces)),
    { numRuns: 400, endOnFailure: true },
  );
});

const lines = [
  "GET /nodes/pg1/primary HTTP/1.1",
  "HEAD /nodes/pg2/replica?lag=1MB HTTP/1.1",
  "OPTIONS /primary HTTP/1.0",
  "GET /clusters/demo/health HTTP/1.1",
  "POST /nodes/pg1/reload HTTP/1.1",
  "GET /readyz HTTP/1.1",
  "GET /livez HTTP/1.1",
  "GET /nodes/pg1/primary?x=[1] HTTP/1.1",
];
const headers = [
  "Host: a",
  "host:\tpg1.demo.db.internal ",
  "X-Rolecall-Node: pg1",
  "x-rolecall-node:pg2",
  "Connection: close",
  "Connection: keep-alive",
  "CONNECTION: Close",
  "Connection: foo",
  "Proxy-Connection: close",
  "Content-Length: 3",
  "Content-Length: 0",
  "content-length: +3",
  "Transfer-Encoding: chunked",
  "Transfer-Encoding: xchunked",
  "TE: trailers",
  "Expect: 100-continue",
  "Upgrade: h2c",
  "Accept: */*",
  "X y: 1",
  "X:\x01",
  ": a",
  " folded",
  "X-Haproxy-Server-State: UP; address=::1; port=1",
];
const ends = ["\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\n", "\r", "\r\r\n"];

/** Mostly valid requests with invalid ones among them, cut into pieces anywhere. */
function stream(): fc.Arbitrary<string[]> {
  const line = fc.tuple(
    fc.constantFrom(...lines),
    fc.array(fc.constantFrom(...headers), { maxLength: 4 }),
    fc.constantFrom("", "", "", "abc", "0\r\n\r\n"),
  );
  const request = fc
    .tuple(line, fc.constantFrom(...ends), fc.boolean())
    .map(([[first, rest, body], end, isPlain]) => [first, ...rest, "", ""].join(isPlain ? "\r\n" : end) + body);
  const damage = fc.option(fc.tuple(fc.nat(200), fc.constantFrom("\0", "\n", "\r", " ", "\xff", ":", "")), { freq: 4 });
  return fc
    .tuple(
      fc.array(request, { minLength: 1, maxLength: 3 }),
      damage,
      fc.array(fc.nat(300), { maxLength: 3 }),
      fc.boolean(),
    )
    .map(([requests, wound, cuts, isWhole]) => {
      if (isWhole && wound === null) return requests;
      const text = requests.join("");
      const hurt = wound === null ? text : text.slice(0, wound[0]) + wound[1] + text.slice(wound[0] + 1);
      const at = [0, ...cuts.map((cut) => Math.min(cut, hurt.length)).sort((one, other) => one - other), hurt.length];
      return at
        .slice(1)
        .map((to, index) => hurt.slice(at[index], to))
        .filter((piece) => piece !== "");
    });
}

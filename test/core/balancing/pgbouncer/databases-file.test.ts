import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { routeDatabases } from "../../../../src/core/balancing/pgbouncer/databases-file.ts";

const server = { host: "10.0.0.2", port: 5433 };
const orders = new Map([["orders", server]]);

const rows: readonly (readonly [title: string, before: string | null, after: string | RegExp])[] = [
  ["no file", null, /^; .*\n; .*\n\[databases\]\norders = host=10.0.0.2 port=5433\n$/],
  ["an empty file", "", "orders = host=10.0.0.2 port=5433\n"],
  ["host and port", "orders = host=10.0.0.1 port=5432\n", "orders = host=10.0.0.2 port=5433\n"],
  [
    "other parameters, with their order, quotes and blanks",
    "orders=dbname='it''s = mine'  host = 'a b'   pool_size=20 port='1' auth_user=pgb  \n",
    "orders=dbname='it''s = mine'  host = 10.0.0.2   pool_size=20 port=5433 auth_user=pgb  \n",
  ],
  ["no host", "orders = port=1 dbname=o\n", "orders = host=10.0.0.2 port=5433 dbname=o\n"],
  ["no port", "orders = dbname=o host=a\n", "orders = port=5433 dbname=o host=10.0.0.2\n"],
  ["no value", "orders =\n", "orders =host=10.0.0.2 port=5433\n"],
  ["no value and no line end", "orders =", "orders =host=10.0.0.2 port=5433"],
  [
    "a text that only looks like a host",
    "orders = connect_query='host=a port=1' host=b\n",
    "orders = port=5433 connect_query='host=a port=1' host=10.0.0.2\n",
  ],
  ["hosts with commas", "orders = host=a,b,c port=1\n", "orders = host=10.0.0.2 port=5433\n"],
  [
    "host twice, of which PgBouncer takes the last",
    "orders = host=a port=1 host=b\n",
    "orders = host=10.0.0.2 port=5433 host=10.0.0.2\n",
  ],
  [
    "hostaddr at the start",
    "orders = hostaddr=::1 dbname=o host=a port=1\n",
    "orders = dbname=o host=10.0.0.2 port=5433\n",
  ],
  ["hostaddr between", "orders = host=a hostaddr=::1 port=1 dbname=o\n", "orders = host=10.0.0.2 port=5433 dbname=o\n"],
  ["hostaddr alone", "orders = hostaddr=::1\n", "orders = host=10.0.0.2 port=5433\n"],
  [
    "other lines",
    "; orders = host=a\n# x\n\n%include /etc/more.ini\nbilling = host=a\n* = host=b\norders = host=a port=1\n",
    "; orders = host=a\n# x\n\n%include /etc/more.ini\nbilling = host=a\n* = host=b\norders = host=10.0.0.2 port=5433\n",
  ],
  [
    "names that begin alike",
    "orders2 = host=a\norders-x = host=a\n",
    "orders2 = host=a\norders-x = host=a\norders = host=10.0.0.2 port=5433\n",
  ],
  [
    "line ends of Windows",
    "orders = host=a port=1\r\nb = host=c\r\n",
    "orders = host=10.0.0.2 port=5433\r\nb = host=c\r\n",
  ],
  ["no line end", "billing = host=a", "billing = host=a\norders = host=10.0.0.2 port=5433\n"],
  [
    "another section after the databases",
    "[databases]\nb = host=a\n[users]\norders = pool_mode=session\n",
    "[databases]\nb = host=a\norders = host=10.0.0.2 port=5433\n[users]\norders = pool_mode=session\n",
  ],
  [
    "another section alone",
    "[users]\norders = pool_mode=session\n",
    "[databases]\norders = host=10.0.0.2 port=5433\n[users]\norders = pool_mode=session\n",
  ],
  [
    "another section before",
    "[users]\na = x=y\n[databases]\norders = host=a port=1\n",
    "[users]\na = x=y\n[databases]\norders = host=10.0.0.2 port=5433\n",
  ],
  [
    "bytes that are no UTF-8",
    "b = password=\xff\xfe\norders = password=\xff host=a port=1\n",
    "b = password=\xff\xfe\norders = password=\xff host=10.0.0.2 port=5433\n",
  ],
  ["a last byte that is a blank elsewhere", "orders = host=a\xa0", "orders = port=5433 host=10.0.0.2"],
  [
    "such a byte in a password",
    "orders = port=1 host=a password=\xc3\xa0\n",
    "orders = port=5433 host=10.0.0.2 password=\xc3\xa0\n",
  ],
  [
    "a database twice",
    "orders = host=a port=1\norders = host=b port=2\n",
    "orders = host=10.0.0.2 port=5433\norders = host=10.0.0.2 port=5433\n",
  ],
];

for (const [title, before, after] of rows)
  test(`writes the line of a database: ${title}`, () => {
    const written = routeDatabases(before, orders);
    assert.ok("text" in written, JSON.stringify(written));
    if (typeof after === "string") assert.equal(written.text, after);
    else assert.match(written.text, after);
    assert.deepEqual(routeDatabases(written.text, orders), written);
    const elsewhere = routeDatabases(written.text, new Map([["orders", { host: "::1", port: 1 }]]));
    assert.deepEqual("text" in elsewhere && routeDatabases(elsewhere.text, orders), written);
  });

for (const [title, value] of [
  ["a quote without its end", "host='a port=1"],
  ["a word without a value", "host=a port"],
  ["text after a quote", "host='a'b port=1"],
  ["a value without a key", "=a"],
] as const)
  test(`leaves a line alone that PgBouncer does not understand: ${title}`, () => {
    const written = routeDatabases(`; x\norders = ${value}\n`, orders);
    assert.match("problem" in written ? written.problem : "", /^line 2 must be a list of key=value/);
  });

for (const host of ["a b", "a'", "a\nb = host=c", "", "/tmp", "a;b", "a,b"])
  test(`writes no host ${JSON.stringify(host)}`, () => {
    assert.ok("problem" in routeDatabases("orders = host=a port=1\n", new Map([["orders", { host, port: 1 }]])));
  });

const names = fc.constantFrom("orders", "billing", "a.b-c", "*", "x");
const values = fc.oneof(
  fc.stringMatching(/^[^\s'][^\s]{0,8}$/),
  fc.string().map((text) => `'${text.replaceAll(/[\n\r]/g, " ").replaceAll("'", "''")}'`),
);
const pairs = fc
  .array(fc.tuple(fc.constantFrom("host", "port", "dbname", "hostaddr", "pool_size"), values))
  .map((list) => list.map(([key, value]) => `${key}=${value}`).join("  "));
const lines = fc.oneof(
  fc.tuple(names, fc.constantFrom("=", " = ", "\t="), pairs).map((parts) => parts.join("")),
  fc.constantFrom("", "; comment", "# orders = host=x", "%include a.ini", "[databases]", "[users]", "[peers", "  "),
  fc.string().map((text) => text.replaceAll("\n", "")),
);
const files = fc
  .tuple(fc.array(lines, { maxLength: 12 }), fc.constantFrom("\n", "\r\n"), fc.boolean())
  .map(([list, end, isEnded]) => list.join(end) + (isEnded ? end : ""));

test("whatever a file holds: all other lines stay, in their order, and the route can be read back", () => {
  fc.assert(
    fc.property(files, (before) => {
      const written = routeDatabases(before, orders);
      if ("problem" in written) return;
      const others = (text: string): readonly string[] =>
        text.split("\n").filter((line) => line !== "" && line !== "[databases]" && !/^\s*orders[ \t]*=/.test(line));
      assert.deepEqual(others(written.text), others(before));
      assert.match(written.text, /orders[ \t]*=[^\n]*host *= *10\.0\.0\.2/);
      assert.deepEqual(routeDatabases(written.text, orders), written);
    }),
  );
});

test("keeps every parameter but host, port and hostaddr", () => {
  const kept = /(?<=^| )(?:dbname|pool_size)=(?:'(?:[^']|'')*'|[^ \n]+)/g;
  fc.assert(
    fc.property(pairs, (value) => {
      const written = routeDatabases(`orders = ${value}\n`, orders);
      assert.ok("text" in written);
      // A value may look like a parameter: only whole strings without quotes are compared.
      if (!value.includes("'")) assert.deepEqual(written.text.match(kept), value.match(kept));
    }),
  );
});

test("never throws, and takes no time that grows with the square of a file", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => void routeDatabases(text, orders)));
  for (const part of ["a=", "'", "' ", " ", "orders = host=", "\n", "[", "orders=a='"])
    routeDatabases(`orders = ${part.repeat(20_000)}`, orders);
});

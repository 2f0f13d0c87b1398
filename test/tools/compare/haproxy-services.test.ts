import assert from "node:assert/strict";
import { test } from "node:test";
import { otherServices } from "../../../src/tools/compare/haproxy-services.ts";

const nodes = [
  { name: "pg1", api: "http://10.0.0.1:8008" },
  { name: "pg2", api: "https://[fd00::2]:8008" },
];

/** What the file has besides `backend writes` with the nodes, and the checks that are of other services. */
const rows: readonly (readonly [title: string, text: string, others: readonly string[]])[] = [
  ["another service", "backend web\noption httpchk GET /healthz\nserver w1 10.0.9.1:80 check", ["/healthz"]],
  ["a path that nodes have", "backend web\noption httpchk GET /health\nserver w1 10.0.9.1:80 check", ["/health"]],
  ["the root of a web server", "backend web\noption httpchk GET /\nserver w1 10.0.9.1:80 check", ["/"]],
  [
    "two checks of one service",
    "listen web\nhttp-check send uri /up\nhttp-check send uri /ready\nserver w1 10.0.9.1:80 check",
    ["/up", "/ready"],
  ],
  [
    "another service on the machine of a node",
    "backend web\noption httpchk GET /up\nserver a 10.0.0.1:80 check",
    ["/up"],
  ],
  ["a route of databases elsewhere", "backend dr\noption httpchk GET /replica\nserver x 10.9.9.9:5432 check", []],
  ["a route that nodes find within", "backend dr\noption httpchk GET /replicas\nserver x 10.9.9.9:5432 check", []],
  ["a wrong parameter", "backend dr\noption httpchk GET /replica?lag=1XB\nserver x 10.9.9.9:5432 check", []],
  ["a wrong path at a node's API", "backend r\noption httpchk GET /nosuch\nserver a 10.0.0.1:5432 check port 8008", []],
  ["a wrong path at a node by name", "backend r\noption httpchk GET /nosuch\nserver pg1 db:5432 check port 8008", []],
  ["/health of a node", "backend r\noption httpchk GET /health\nserver a ipv6@[fd00::2]:5432 check", []],
  ["servers of a template", "backend r\noption httpchk GET /nosuch\nserver-template pg 3 db.lab:5432 check", []],
  ["no server", "backend r\noption httpchk GET /nosuch", []],
  ["a default of all sections", "defaults\noption httpchk GET /nosuch", []],
];

for (const [title, text, others] of rows)
  test(`finds the checks of other services: ${title}`, () => {
    const writes = "backend writes\noption httpchk GET /primary\nserver pg1 10.0.0.1:5432 check port 8008\n";
    assert.deepEqual(
      otherServices(`${writes}${text}\n`, nodes).map(({ check }) => check),
      others,
    );
  });

test("where no server is a node, only paths that no node has are of other services", () => {
  const text = ["/", "/health", "/replica", "/up"]
    .map((path, at) => `backend b${at}\noption httpchk GET ${path}\nserver s 10.7.0.${at}:80 check\n`)
    .join("");
  assert.deepEqual(
    otherServices(text, nodes).map(({ check, section, line }) => [check, section, line]),
    [["/up", "backend b3", 11]],
  );
});

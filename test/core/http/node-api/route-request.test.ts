import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { parseRequestTarget } from "../../../../src/core/http/message/request-target.ts";
import { routeRequest, type RoutedRequest } from "../../../../src/core/http/node-api/route-request.ts";
import { routePaths } from "../../../../src/core/health/route.ts";
import { routingContextOf, requestOf } from "../../../fake/node-api-listener.ts";

const whole = routingContextOf({ wholeCluster: true });

function ask(target: string, method = "GET"): RoutedRequest {
  return routeRequest(requestOf(target, { method }), whole);
}

/** A routed request in short. */
function short(question: RoutedRequest): string {
  switch (question.kind) {
    case "check":
      return `check ${question.check.route}`;
    case "document":
      return `document ${question.name}`;
    case "self":
      return question.path;
    case "not_allowed":
      return `allowed ${question.allow}`;
    case "bad_request":
      return `bad ${question.problem.subject}`;
    case "management":
      return `call ${question.call.method} ${question.call.name}`;
    case "node_request":
      return `of the node ${question.request.path}`;
    case "operator":
    case "operator_off":
    case "status":
    case "forbidden":
      return question.kind;
  }
}

describe("a path of the node API", () => {
  for (const path of routePaths()) {
    test(`${path} is a check, with a trailing slash and for a node too`, () => {
      for (const target of [
        path,
        `${path === "/" ? "" : path}/`,
        `/nodes/pg1${path}`,
        `/clusters/demo/nodes/pg1${path}`,
      ]) {
        assert.equal(ask(target).kind, "check", target);
      }
    });
  }

  for (const [target, expected] of [
    ["*", "check primary"],
    ["http://anything:80/replica?lag=1", "check replica"],
    ["https://anything", "check primary"],
    ["/read%2Donly", "check read-only"],
    ["/patroni", "status"],
    ["/nodes/pg1/ha", "status"],
    ["/cluster", "document cluster"],
    ["/nodes/pg1/history", "document history"],
    ["/config", "document config"],
    ["/failsafe", "document failsafe"],
    ["/explain?node=pg1", "operator"],
    ["/livez", "livez"],
    ["/readyz/", "readyz"],
    ["/nodes/pg1/livez", "bad route"],
    ["/replica/extra", "bad route"],
    ["/leader-foo", "bad route"],
    ["/Replica", "bad route"],
    ["//primary", "bad route"],
    ["/primary//", "bad route"],
    ["/primary#x", "bad route"],
    ["/nodes", "bad route"],
    ["/clusters/demo/nodes", "bad route"],
    ["/clusters/nowhere/primary", "bad cluster"],
    ["/metrics", "forbidden"],
    ["/%zz", "bad path"],
    ["/%00", "bad route"],
    ["/replica?lagg=1MB", "bad parameter lagg"],
    ["/replica?lag=banana", "bad parameter lag"],
    ["/replica?lag=", "bad parameter lag"],
    ["/replica?lag=1MB&lag=banana", "bad parameter lag"],
    ["/replica?lag=1GB&lag=1MB", "bad parameter lag"],
    ["/replica?lag=1MB&lag=1MB", "bad parameter lag"],
    ["/replica?be=7", "check replica"],
    ["/replica?lag_time=1s", "bad parameter lag_time"],
    ["/replica?min_lsn=zero", "bad parameter min_lsn"],
    ["/replica?min_lsn=", "bad parameter min_lsn"],
    ["/replica?min_lsn=4@", "bad parameter min_lsn"],
    ["/replica?min_lsn=@0/3000148", "bad parameter min_lsn"],
    ["/replica?min_lsn=0@0/3000148", "bad parameter min_lsn"],
    ["/replica?min_lsn=4294967296@0/3000148", "bad parameter min_lsn"],
    ["/replica?min_lsn=-4@0/3000148", "bad parameter min_lsn"],
    ["/replica?min_lsn=A@0/3000148", "bad parameter min_lsn"],
    ["/replica?min_lsn=4@4@0/3000148", "bad parameter min_lsn"],
    ["/replica?min_lsn=4@0/3000148@", "bad parameter min_lsn"],
    ["/replica?min_lsn=4%400/3000148", "check replica"],
    ["/replica?min_lsn=4294967295@FFFFF/3000148", "check replica"],
    ["/replica?min_lsn=4@0/3000148&min_lsn=zero", "bad parameter min_lsn"],
    ["/replica?mode=banana", "bad parameter mode"],
    ["/replica?keep=0", "bad parameter keep"],
    ["/replica?keep=1001", "bad parameter keep"],
    ["/replica?fallback=standby", "bad parameter fallback"],
    ["/replica?miss=200", "bad parameter miss"],
    ["/replica?unknown=600", "bad parameter unknown"],
    ["/replica?zone=", "bad parameter zone"],
    ["/replica?zone=a/b", "bad parameter zone"],
    ["/replica?zone=a&zone=b", "bad parameter zone"],
    ["/replica?zone=a,b&lag=1MB", "check replica"],
    ["/replica?db=nowhere", "bad parameter db"],
    ["/replica?db=h:0", "bad parameter db"],
    ["/replica?replication_state=&tag_zone=&mode=", "check replica"],
    [
      "/nodes/pg1/replica?lag=1MB&lag_time=5s&keep=1&fallback=primary&miss=404&unknown=500&for=sessions&zone=a",
      "check replica",
    ],
    ["/nodes/pg1/replica?for=session", "bad parameter for"],
    ["/nodes/pg1/replica?for=", "bad parameter for"],
    ["/nodes/pg1/replica?for=sessions&for=sessions", "bad parameter for"],
    ["/primary?for=sessions", "bad parameter for"],
    ["/clusters/demo/primary?for=sessions", "bad parameter for"],
    ["/replica?%=", "bad parameter %"],
  ] as const) {
    test(`${target} is routed as ${expected}`, () => {
      assert.equal(short(ask(target)), expected);
    });
  }

  test("a listener bound to one node ignores unknown parameters, as nodes do", () => {
    const listening = routingContextOf({ cluster: "demo", node: "pg1" }, { ignoresUnknown: true });
    assert.equal(routeRequest(requestOf("/replica?lagg=1MB"), listening).kind, "check");
    assert.equal(routeRequest(requestOf("/replica?lag=banana"), listening).kind, "bad_request");
  });
});

describe("a method", () => {
  for (const [method, target, expected] of [
    ["HEAD", "/primary", "check primary"],
    ["OPTIONS", "/primary", "check primary"],
    ["POST", "/primary", "allowed GET, HEAD, OPTIONS"],
    ["DELETE", "/livez", "allowed GET, HEAD, OPTIONS"],
    ["PUT", "/cluster", "allowed GET, HEAD, OPTIONS"],
    ["POST", "/patroni", "allowed GET, HEAD, OPTIONS"],
    ["POST", "/config", "allowed GET, HEAD, OPTIONS"],
    ["PATCH", "/config", "forbidden"],
    ["PUT", "/nodes/pg1/config", "forbidden"],
    ["POST", "/switchover", "forbidden"],
    ["DELETE", "/switchover", "forbidden"],
    ["GET", "/switchover", "allowed POST, DELETE"],
    ["GET", "/failover", "allowed POST"],
    ["POST", "/reinitialize", "forbidden"],
    ["DELETE", "/restart", "forbidden"],
    ["POST", "/reload", "forbidden"],
    ["BREW", "/primary", "allowed GET, HEAD, OPTIONS"],
  ] as const) {
    test(`${method} ${target} is routed as ${expected}`, () => {
      assert.equal(short(ask(target, method)), expected);
    });
  }
});

describe("any request", () => {
  const target = fc.oneof(
    fc.string(),
    fc.webUrl({ withQueryParameters: true, withFragments: true }),
    fc
      .array(
        fc.constantFrom(
          "/",
          "nodes",
          "clusters",
          "demo",
          "pg1",
          "replica",
          "%",
          "%2F",
          "?",
          "&",
          "=",
          "lag",
          "tag_",
          "*",
          "..",
        ),
      )
      .map((parts) => parts.join("")),
  );

  test("is parsed without an exception, and its names are unchanged", () => {
    fc.assert(fc.property(target, (text) => void parseRequestTarget(text)));
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), (cluster, node) => {
        const parsed = parseRequestTarget(
          `/clusters/${encodeURIComponent(cluster)}/nodes/${encodeURIComponent(node)}/primary`,
        );
        assert.deepEqual(parsed, { cluster, node, path: "primary", query: "" });
      }),
    );
  });

  test("is routed, or refused with the parameter, its value and what is allowed", () => {
    fc.assert(
      fc.property(target, fc.string(), fc.string(), (text, nodeHeader, host) => {
        const question = routeRequest(
          requestOf(text, { nodeHeader, host }),
          routingContextOf({ hostSuffixes: [".x"] }),
        );
        if (question.kind !== "bad_request") return;
        const { subject, allowed } = question.problem;
        assert.ok(subject.length > 0 && allowed.length > 0);
      }),
    );
  });
});

describe("what clients of one node send and nodes answer", () => {
  const bound = routingContextOf({ cluster: "demo", node: "pg1" }, { ignoresUnknown: true });
  const askBound = (target: string): RoutedRequest => routeRequest(requestOf(target), bound);

  for (const [target, onBound, elsewhere] of [
    ["//leader", "check leader", "bad route"],
    ["///replica?lag=1MB", "check replica", "bad route"],
    ["//", "check primary", "check primary"],
    ["/replica//", "bad route", "bad route"],
    ["/replica?lag=1_000_000", "check replica", "bad lag"],
    ["/replica?lag=1__0", "bad lag", "bad lag"],
    ["/replica?lag=_1", "bad lag", "bad lag"],
  ] as const)
    test(`${target} is ${onBound} on a listener that is bound to a node`, () => {
      const said = [askBound(target), ask(target)].map((routed) => short(routed).replace("parameter lag", "lag"));
      assert.deepEqual(said, [onBound, elsewhere]);
    });

  test("a limit with _ between its digits is that number", () => {
    const routed = askBound("/replica?lag=1_000_000");
    assert.ok(routed.kind === "check");
    assert.equal(routed.check.lagBytesMax, 1_000_000);
  });
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { BodySink, NodeConnection, StreamedReply } from "../../../src/core/probe/client/client.ts";
import { fetchPage, outcomeOf, readUp } from "../../../src/features/exporter/parse-exporter-response.ts";
import { failedReply } from "../../fake/fake-transport.ts";

/** Returns the role that the body states, or the failure. */
function upOf(body: string, status = 200): unknown {
  const result = readUp({ status, body: Buffer.from(body, "latin1") });
  assert.equal(result.endpoint, "up");
  return "role" in result ? result.role : "failure" in result ? result.failure : result;
}

function notARole(status: number, what: string): object {
  const roles = "primary, replica, down, starting, unknown";
  return { kind: "body", detail: `status ${status} with ${what} where one of ${roles} was expected` };
}

/** A connection that answers every streamed request so, with the body in pieces. */
function pageConnection(reply: StreamedReply, pieces: readonly string[] = []) {
  const requests: { readonly path: string; readonly bodyMax: number }[] = [];
  const connection: NodeConnection = {
    get: () => Promise.reject(new Error("not streamed")),
    getStreamed: async (path: string, { bodyMax, onData }: BodySink) => {
      requests.push({ path, bodyMax });
      for (const piece of pieces) onData(Buffer.from(piece));
      return reply;
    },
    close: () => {},
  };
  return { connection, requests };
}

test("the body of /up is the role, whatever the status and the blanks around it", () => {
  for (const role of ["primary", "replica", "down", "starting", "unknown"])
    for (const status of [200, 404, 503]) assert.equal(upOf(` ${role}\n`, status), role);
});

test("a status other than 200, 404 and 503 tells no role", () => {
  for (const status of [201, 301, 401, 429, 500]) {
    assert.deepEqual(upOf("primary", status), {
      kind: "status",
      detail: `status ${status} where 200 or 503 was expected`,
    });
  }
});

test("an answer of /up that is no role is quoted: an HTML page by its kind, a text by its beginning", () => {
  assert.deepEqual(
    upOf("<html><head><title>Exporter</title></head></html>"),
    notARole(200, "an HTML page, so there is no such path"),
  );
  assert.deepEqual(upOf("404 page not found\n", 404), notARole(404, '"404 page not found"'));
  assert.deepEqual(upOf("Primary"), notARole(200, '"Primary"'));
  assert.deepEqual(upOf("0123456789".repeat(5)), notARole(200, JSON.stringify("0123456789".repeat(4))));
});

test("a role must be the whole of a body shorter than 64 bytes", () => {
  assert.equal(upOf("primary".padEnd(63)), "primary");
  assert.deepEqual(upOf("primary".padEnd(64)), notARole(200, '"primary"'));
  assert.deepEqual(upOf("primary".padEnd(70, " x")), notARole(200, `"${"primary".padEnd(40, " x")}"`));
  assert.deepEqual(upOf("0123456789".padStart(70)), notARole(200, '"0123"'));
});

test("a request for /up or a page that failed is that failure", async () => {
  const { failure } = failedReply("timeout") as { failure: object };
  assert.deepEqual(readUp(failedReply("timeout")), { endpoint: "up", failure });
  const { connection } = pageConnection({ failure: { kind: "reset", detail: "a scripted reset" } });
  assert.deepEqual(await fetchPage(connection), {
    endpoint: "metrics",
    failure: { kind: "reset", detail: "a scripted reset" },
  });
});

test("a page is read in pieces, up to 32 MiB", async () => {
  const { connection, requests } = pageConnection({ status: 200 }, ["pg_up 1\npg_in_rec", "overy 0\n"]);
  const result = await fetchPage(connection);
  assert.deepEqual(requests, [{ path: "/metrics", bodyMax: 2 ** 25 }]);
  assert.ok("page" in result && result.endpoint === "metrics");
  assert.equal(result.page.isUp, true);
  assert.equal(result.page.isInRecovery, false);
  assert.equal(outcomeOf(result), "answered");
});

test("a page with another status than 200, or without a metric of PostgreSQL, is a failure", async () => {
  const refused = await fetchPage(pageConnection({ status: 503 }, ["pg_up 1\n"]).connection);
  assert.deepEqual(refused, {
    endpoint: "metrics",
    failure: { kind: "status", detail: "status 503 where 200 was expected" },
  });
  assert.equal(outcomeOf(refused), "status");
  const other = await fetchPage(pageConnection({ status: 200 }, ["go_goroutines 7\n"]).connection);
  assert.deepEqual(other, {
    endpoint: "metrics",
    failure: { kind: "body", detail: "no metrics of a PostgreSQL exporter" },
  });
});

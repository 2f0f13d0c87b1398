import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { PublishedSlices } from "../../../../src/features/kubernetes/core/slice-objects.ts";
import {
  knownService,
  otherClaim,
  type PublishedServiceKey,
  slimService,
} from "../../../../src/features/kubernetes/slices/service-object.ts";

const key: PublishedServiceKey = { namespace: "databases", name: "orders", port: null, isOfPrimary: true };
const none: PublishedSlices = { own: [], foreign: [] };

function service(spec: object): ReturnType<typeof slimService> {
  return slimService({
    metadata: { name: "orders", uid: "u1", labels: {} },
    spec: { clusterIP: "10.96.0.1", ...spec },
  });
}

/** What is known of a Service, as text. */
function textOf(spec: object | null, port: string | null = null): string {
  const known = knownService({ ...key, port }, spec === null ? null : service(spec));
  return known.kind === "usable" ? `port ${known.portName}` : known.kind === "unusable" ? known.problem : known.kind;
}

describe("a Service", () => {
  const two = {
    ports: [
      { name: "postgres", port: 5432 },
      { name: "metrics", port: 9187 },
    ],
  };
  for (const [what, spec, port, expected] of [
    ["its only port", { ports: [{ name: "postgres", port: 5432 }] }, null, "port postgres"],
    ["its only port without a name", { ports: [{ port: 5432 }] }, null, "port "],
    ["the port that is named", two, "metrics", "port metrics"],
    ["is not there", null, null, "there is no Service orders in databases"],
    [
      "has two ports",
      two,
      null,
      "Service orders in databases must have one port, or kubernetes.services[].port must name one, got 2 ports",
    ],
    [
      "has no ports",
      {},
      null,
      "Service orders in databases must have one port, or kubernetes.services[].port must name one, got 0 ports",
    ],
    ["lacks the port", two, "pg", "Service orders in databases must have the port pg, got postgres, metrics"],
    [
      "has ports without names",
      { ports: [{ port: 1 }] },
      "pg",
      "Service orders in databases must have the port pg, got none with a name",
    ],
    [
      "is another name",
      { ...two, type: "ExternalName" },
      "postgres",
      "Service orders in databases must not have the type ExternalName",
    ],
  ] as const)
    test(`${what}: ${expected}`, () => assert.equal(textOf(spec, port), expected));

  test("with a selector is claimed by Kubernetes", () => {
    const known = knownService(key, service({ ports: [{ port: 1 }], selector: { app: "x" } }));
    assert.match(otherClaim(known, none) ?? "", /^Service orders in databases must not have a selector/);
    assert.equal(otherClaim(knownService(key, service({ ports: [{ port: 1 }], selector: {} })), none), null);
  });

  test("with slices of others is claimed by them, and mirrored Endpoints are named", () => {
    const known = knownService(key, service({ ports: [{ port: 1 }] }));
    for (const [manager, expected] of [
      ["endpointslicemirroring-controller.k8s.io", /mirrors the Endpoints orders$/],
      ["someone", /orders-abc of Service orders in databases is not rolecall's: someone keeps it$/],
      [null, /somebody keeps it$/],
    ] as const)
      assert.match(otherClaim(known, { own: [], foreign: [{ name: "orders-abc", manager }] }) ?? "", expected);
    assert.equal(otherClaim(known, none), null);
  });

  test("that is not known is claimed by nobody", () => {
    assert.equal(otherClaim({ kind: "unread" }, { own: [], foreign: [{ name: "x", manager: null }] }), null);
  });
});

/** What becomes of a Service while somebody else changes its objects by hand, as with kubectl. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type JsonObject, listOf, objectOf } from "../../../../src/core/cluster/values/json.ts";
import type { ApiCall, ApiReply } from "../../../../src/features/kubernetes/api/api-client.ts";
import { ServicePublisher } from "../../../../src/features/kubernetes/slices/service-publisher.ts";
import { membersOf, serviceObject, servicesFixture } from "../../../fake/services-fixture.ts";
import { until } from "../../../fake/until.ts";

const name = "orders-rolecall-ipv4-5432";

/** Changes of a slice, and what the slice says then, if it is not right. */
const changes: readonly (readonly [string, (slice: JsonObject) => JsonObject])[] = [
  ["the label of another manager", (slice) => labelled(slice, { "endpointslice.kubernetes.io/managed-by": "other" })],
  ["the label of another Service", (slice) => labelled(slice, { "kubernetes.io/service-name": "other" })],
  ["no label of the Service", (slice) => labelled(slice, { "kubernetes.io/service-name": null })],
  ["no labels", (slice) => ({ ...slice, metadata: { ...objectOf(slice["metadata"]), labels: null } })],
  ["another port", (slice) => ({ ...slice, ports: [{ name: "postgres", port: 5433, protocol: "TCP" }] })],
  ["another protocol", (slice) => ({ ...slice, ports: [{ name: "postgres", port: 5432, protocol: "UDP" }] })],
  [
    "a further port",
    (slice) => ({ ...slice, ports: [...listOf(slice["ports"]), { name: "x", port: 1, protocol: "TCP" }] }),
  ],
  ["the other address ready", (slice) => conditioned(slice, { ready: true, serving: true, terminating: false })],
  ["no conditions of the other address", (slice) => conditioned(slice, null)],
  ["another address that ends", (slice) => conditioned(slice, { ready: false, serving: true, terminating: true })],
  ["no endpoints", (slice) => ({ ...slice, endpoints: [] })],
  ["no endpoints at all", (slice) => ({ ...slice, endpoints: null })],
];

describe("a second operator", () => {
  for (const [what, change] of changes)
    test(`${what}: it is as before, whoever of two rolecalls has written it`, async (context) => {
      const { server, rolecall, published, renewals } = await servicesFixture(context);
      const [a, b] = [rolecall("a"), rolecall("b")];
      a.say(membersOf("10.0.0.1"));
      await published("10.0.0.1 by a");
      b.say(membersOf("10.0.0.1"));
      await renewals("b", 4);
      const right = server.objects("endpointslices")[0] ?? {};
      server.put("endpointslices", change(right));
      await until({ what, evidence: () => JSON.stringify(server.objects("endpointslices")) }, () =>
        isSaid(server.objects("endpointslices"), right),
      );
      await renewals("b", 4);
      assert.ok(isSaid(server.objects("endpointslices"), right));
      assert.equal(a.services.publishers[0]?.standing.kind, "agreed");
      // Clients follow the primary again.
      a.say(membersOf("10.0.0.2"));
      await published("10.0.0.2 by a");
    });

  test("the Service is deleted and created anew: the slice belongs to the new one", async (context) => {
    const { server, rolecall, published } = await servicesFixture(context);
    const a = rolecall("a");
    a.say(membersOf("10.0.0.1"));
    await published("10.0.0.1 by a");
    server.delete("services", "orders");
    const { metadata } = server.put("services", serviceObject("orders"));
    const { uid } = objectOf(metadata);
    const owners = (): string =>
      JSON.stringify(objectOf(server.objects("endpointslices")[0]?.["metadata"])["ownerReferences"]);
    await until({ what: "the new owner", evidence: owners }, () => owners().includes(String(uid)));
    await published("10.0.0.1 by a");
  });

  test("the Leases are deleted: each is there again, nobody takes over, and a Lease goes with the pod of its rolecall", async (context) => {
    const { server, rolecall, published, renewals, writes } = await servicesFixture(context);
    const pod = { metadata: { name: "a", namespace: "databases" }, status: { podIP: "10.0.1.1" } };
    const { uid } = objectOf(server.put("pods", pod)["metadata"]);
    const [a, b] = [rolecall("a"), rolecall("b")];
    a.say(membersOf("10.0.0.1"));
    await published("10.0.0.1 by a");
    b.say(membersOf("10.0.0.1"));
    await renewals("b", 3);
    const count = writes();
    for (const lease of ["rolecall-a", "rolecall-b"]) server.delete("leases", lease);
    await renewals("a", 2);
    await renewals("b", 2);
    const owners = server.objects("leases").map(({ metadata }) => {
      const { name: lease, ownerReferences } = objectOf(metadata);
      return [String(lease), listOf(ownerReferences).map((owner) => objectOf(owner)["uid"])];
    });
    assert.deepEqual(Object.fromEntries(owners), {
      "rolecall-a": [uid],
      "rolecall-b": [],
    });
    assert.equal(writes(), count);
  });

  test("a slice that has the label of rolecall and another name is a claim, and rolecall's own go on", async (context) => {
    const { server, rolecall, published } = await servicesFixture(context);
    const a = rolecall("a");
    a.say(membersOf("10.0.0.1"));
    await published("10.0.0.1 by a");
    const labels = { "kubernetes.io/service-name": "orders", "endpointslice.kubernetes.io/managed-by": "rolecall" };
    for (const other of ["a-slice", "z-slice"])
      server.put("endpointslices", {
        metadata: { name: other, labels },
        addressType: "IPv4",
        endpoints: [],
        ports: [],
      });
    const text = (): string => a.services.publishers[0]?.problem?.text ?? "";
    await until("the claim", () =>
      /^EndpointSlice a-slice .* not rolecall's: it has the label of rolecall/.test(text()),
    );
    a.say(membersOf("10.0.0.2"));
    await until("the write", () => JSON.stringify(conditionsIn(server.objects("endpointslices"))) === "[false,true]");
    for (const other of ["a-slice", "z-slice"]) server.delete("endpointslices", other);
    await until("the end of the claim", () => text() === "");
  });

  test("one that changes a slice back again and again is answered with pauses, and is said", async (context) => {
    const { server, rolecall, published } = await servicesFixture(context);
    const a = rolecall("a");
    a.say(membersOf("10.0.0.1"));
    await published("10.0.0.1 by a");
    const right = server.objects("endpointslices")[0] ?? {};
    const emptied = { ...right, endpoints: [] };
    let isFighting = true;
    const fight = setInterval(() => {
      if (isFighting && isSaid(server.objects("endpointslices"), right)) server.put("endpointslices", emptied);
    }, 5);
    context.after(() => clearInterval(fight));
    const sinceMs = performance.now();
    await until("the claim", () =>
      /changed by somebody else again/.test(a.services.publishers[0]?.problem?.text ?? ""),
    );
    await until("some repairs", () => a.ends.length >= 6);
    // The pauses are 75, 150, 300, 600 and 750 ms at least.
    const pausesMs = 75 + 150 + 300 + 600;
    assert.ok(performance.now() - sinceMs >= pausesMs, `${Math.round(performance.now() - sinceMs)} ms`);
    isFighting = false;
    await published("10.0.0.1 by a");
    // Another primary is no repair.
    a.say(membersOf("10.0.0.2"));
    await published("10.0.0.2 by a");
  });

  test("a Service that a reload takes away from its writer is written by another one, although the writer lives", async (context) => {
    const { rolecall, published, renewals } = await servicesFixture(context);
    const [a, b] = [rolecall("a", [{}, { name: "other" }]), rolecall("b")];
    a.say(membersOf("10.0.0.1"));
    await published("10.0.0.1 by a");
    b.say(membersOf("10.0.0.1"));
    a.services.configure([{ namespace: "databases", name: "other", port: null, isOfPrimary: true }]);
    await published("10.0.0.1 by nobody");
    b.say(membersOf("10.0.0.2"));
    await published("10.0.0.2 by b");
    await renewals("a", 3);
    await published("10.0.0.2 by b");
  });

  test("a Service that is taken away is left to others, although the server is away for a moment", async (context) => {
    const { server, rolecall, published } = await servicesFixture(context);
    const a = rolecall("a", [{}, { name: "other" }]);
    a.say(membersOf("10.0.0.1"));
    await published("10.0.0.1 by a");
    let refused = 0;
    server.misbehave = ({ verb, resource }) =>
      verb === "patch" && resource === "endpointslices" && (refused += 1) <= 2
        ? { kind: "answer", status: 503, body: "{}" }
        : null;
    a.services.configure([{ namespace: "databases", name: "other", port: null, isOfPrimary: true }]);
    await published("10.0.0.1 by nobody");
  });

  test("a Service that is taken away while it is being written is left to others", async (context) => {
    const { server, rolecall, published } = await servicesFixture(context);
    const a = rolecall("a", [{}, { name: "other" }]);
    let isTaken = false;
    server.misbehave = ({ verb, resource }) => {
      if (verb === "patch" && resource === "endpointslices" && !isTaken) {
        isTaken = true;
        a.services.configure([{ namespace: "databases", name: "other", port: null, isOfPrimary: true }]);
      }
      return null;
    };
    a.say(membersOf("10.0.0.1"));
    await published("10.0.0.1 by nobody");
  });

  test("a Service that another one has written is not touched when it is taken away", async (context) => {
    const { rolecall, published, renewals, writes } = await servicesFixture(context);
    const [a, b] = [rolecall("a"), rolecall("b", [{}, { name: "other" }])];
    a.say(membersOf("10.0.0.1"));
    await published("10.0.0.1 by a");
    await renewals("b", 3);
    const count = writes();
    b.services.configure([{ namespace: "databases", name: "other", port: null, isOfPrimary: true }]);
    await renewals("b", 3);
    assert.equal(writes(), count);
    await published("10.0.0.1 by a");
  });
});

describe("a slice that is deleted right after a write, before the watch has brought the write", () => {
  test("is written again as soon as the watch should have brought it", async () => {
    const { publisher, calls, run } = publisherOnVirtualTime();
    publisher.setMembers(membersOf("10.0.0.1"));
    await run(0);
    assert.deepEqual(calls(), ["POST", "PATCH"]);
    // The watch never says that it was there.
    publisher.setSlices(new Map());
    await run(1_900);
    assert.deepEqual(calls(), ["POST", "PATCH"]);
    await run(2_100);
    assert.deepEqual(calls(), ["POST", "PATCH", "POST", "PATCH"]);
    publisher.stop();
  });

  test("repairs are forgotten after a minute", async () => {
    const { publisher, slices, run } = publisherOnVirtualTime();
    publisher.setMembers(membersOf("10.0.0.1"));
    await run(0);
    for (let at = 1; at <= 3; at += 1) {
      const [[key, slice] = ["", {}]] = slices();
      publisher.setSlices(new Map([[key, { ...slice, endpoints: [] }]]));
      await run(at * 3_000 - 1_500);
      publisher.setSlices(new Map(slices()));
      await run(at * 3_000);
    }
    assert.match(publisher.problem?.text ?? "", /changed by somebody else again and again/);
    // The third one was after 6 s.
    await run(65_900);
    assert.notEqual(publisher.problem, null);
    await run(66_100);
    assert.equal(publisher.problem, null);
    publisher.stop();
  });
});

/** A publisher whose clock and timers a test moves, at a server that takes all. */
function publisherOnVirtualTime() {
  let nowMs = 0;
  let version = 100;
  const sent: string[] = [];
  const stored = new Map<string, JsonObject>();
  const timers = new Set<{ readonly atMs: number; readonly callback: () => void }>();
  const call = async ({ method, body }: ApiCall): Promise<ApiReply> => {
    const object = objectOf(body);
    if (object["kind"] === "EndpointSlice") {
      sent.push(method);
      const metadata = { ...objectOf(object["metadata"]), uid: "s1", resourceVersion: String((version += 1)) };
      stored.set(name, { ...object, metadata });
      return { kind: "answered", status: 200, body: { ...object, metadata } };
    }
    return { kind: "answered", status: 201, body: object };
  };
  const publisher = new ServicePublisher(
    { namespace: "databases", name: "orders", port: null, isOfPrimary: true },
    {
      client: { call, pauseMs: 0 },
      me: "a",
      lives: () => true,
      podAt: () => null,
      isWithdrawn: () => false,
      now: () => nowMs,
      random: () => 0,
      setTimer: (callback, delayMs) => {
        const timer = { atMs: nowMs + delayMs, callback };
        timers.add(timer);
        return () => void timers.delete(timer);
      },
      place: () => Promise.resolve(() => {}),
      eventPlace: () => Promise.resolve(() => {}),
      wall: () => nowMs,
      onEvent: () => {},
      onWrite: () => {},
      onPublished: () => {},
      onChange: () => {},
    },
  );
  publisher.setService({
    metadata: { name: "orders", uid: "u1" },
    spec: { ports: [{ name: "postgres", port: 5432 }] },
  });
  publisher.setSlices(new Map());
  /** Moves the clock to this instant, timer by timer. */
  const run = async (untilMs: number): Promise<void> => {
    for (;;) {
      await new Promise((resolve) => void setImmediate(resolve));
      const [next] = [...timers].filter(({ atMs }) => atMs <= untilMs).toSorted((one, other) => one.atMs - other.atMs);
      if (next === undefined) break;
      timers.delete(next);
      nowMs = next.atMs;
      next.callback();
    }
    nowMs = untilMs;
  };
  return { publisher, run, calls: () => sent, slices: () => [...stored] };
}

function labelled(slice: JsonObject, change: Readonly<Record<string, string | null>>): JsonObject {
  const metadata = objectOf(slice["metadata"]);
  const labels = Object.entries({ ...objectOf(metadata["labels"]), ...change }).filter(([, value]) => value !== null);
  return { ...slice, metadata: { ...metadata, labels: Object.fromEntries(labels) } };
}

/** Gives the address that is not ready other conditions. */
function conditioned(slice: JsonObject, conditions: object | null): JsonObject {
  const [first, second] = listOf(slice["endpoints"]).map(objectOf);
  return { ...slice, endpoints: [first, { ...second, conditions }] };
}

function conditionsIn(slices: readonly JsonObject[]): readonly unknown[] {
  const [slice] = slices.filter(({ metadata }) => objectOf(metadata)["name"] === name);
  return listOf(slice?.["endpoints"]).map((endpoint) => objectOf(objectOf(endpoint)["conditions"])["ready"]);
}

/** Whether the server has a slice of this content, with the labels of this one. */
function isSaid(slices: readonly JsonObject[], right: JsonObject): boolean {
  const [slice, ...others] = slices;
  const said = (one: JsonObject | undefined): string => {
    const labels = Object.entries(objectOf(objectOf(one?.["metadata"])["labels"]))
      .map(([key, value]) => `${key}=${String(value)}`)
      .toSorted();
    return JSON.stringify([one?.["endpoints"], one?.["ports"], labels]);
  };
  return others.length === 0 && said(slice) === said(right);
}

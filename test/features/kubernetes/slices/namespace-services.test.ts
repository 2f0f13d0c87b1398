import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { listOf, objectOf } from "../../../../src/core/cluster/values/json.ts";
import { membersOf, serviceObject, servicesFixture } from "../../../fake/services-fixture.ts";
import { until } from "../../../fake/until.ts";

describe("Services that are published", () => {
  test("are written once, and at rest not again, by nobody", async (context) => {
    const { rolecall, published, renewals, writes } = await servicesFixture(context);
    const [a, b] = [rolecall("a"), rolecall("b")];
    a.say(membersOf("10.0.0.1"));
    await published("10.0.0.1 by a");
    b.say(membersOf("10.0.0.1"));
    await renewals("b", 6);
    // It is created, and then applied.
    assert.equal(writes(), 2);
    await until("the answer to the write", () => a.ends.length === 1);
    assert.deepEqual([a.ends, b.ends], [["written"], []]);
  });

  test("are written by one that lives: what another one says differently is not", async (context) => {
    const { rolecall, published, renewals } = await servicesFixture(context);
    const [a, b] = [rolecall("a"), rolecall("b")];
    a.say(membersOf("10.0.0.1"));
    await published("10.0.0.1 by a");
    b.say(membersOf("10.0.0.2"));
    await renewals("b", 6);
    assert.deepEqual(b.ends, []);
    a.say(membersOf("10.0.0.2"));
    await published("10.0.0.2 by a");
  });

  test("stand as each rolecall sees them: agreed, left to another one, silent; lateness is that of the one that writes", async (context) => {
    const { rolecall, published, renewals } = await servicesFixture(context);
    const [a, b] = [rolecall("a"), rolecall("b")];
    const standings = (): readonly unknown[] =>
      [a, b].map(({ services: { publishers } }) => publishers[0]?.standing.kind);
    await until("the watches", () => standings().every((one) => one === "silent"));
    a.say(membersOf("10.0.0.1"));
    await published("10.0.0.1 by a");
    b.say(membersOf("10.0.0.2"));
    await renewals("b", 2);
    await until(
      { what: "the answers", evidence: () => standings().join() },
      () => standings().join() === "agreed,left",
    );
    assert.equal(b.services.publishers[0]?.isMisleading, true);
    b.say(membersOf("10.0.0.1"));
    assert.deepEqual(standings(), ["agreed", "agreed"]);
    a.say("blind");
    await published("10.0.0.1 by nobody");
    await until("its silence", () => standings()[0] === "silent");
    assert.deepEqual([a.late.length, b.late.length], [1, 0]);
    assert.ok(a.late.every((ms) => ms >= 0 && ms < 5_000));
  });

  test("are taken over from one that has died, once there is something to write", async (context) => {
    const { rolecall, published, renewals, said } = await servicesFixture(context);
    const [a, b] = [rolecall("a"), rolecall("b")];
    a.say(membersOf("10.0.0.1"));
    b.say(membersOf("10.0.0.1"));
    await published("10.0.0.1 by a");
    a.freeze();
    await renewals("b", 8);
    assert.equal(said(), "10.0.0.1 by a");
    b.say(membersOf("10.0.0.2"));
    await published("10.0.0.2 by b");
    // It thaws with its old view: b lives, so that it is silent.
    a.thaw();
    await renewals("a", 3);
    a.say(membersOf("10.0.0.1"));
    await renewals("a", 6);
    assert.equal(said(), "10.0.0.2 by b");
    await until("the answers to the writes", () => a.ends.length === 1 && b.ends.length === 1);
    assert.deepEqual([a.ends, b.ends], [["written"], ["written"]]);
  });

  test("are taken over at once from one that stops", async (context) => {
    const { rolecall, published, renewals } = await servicesFixture(context);
    const [a, b] = [rolecall("a"), rolecall("b")];
    a.say(membersOf("10.0.0.1"));
    await published("10.0.0.1 by a");
    b.say(membersOf("10.0.0.2"));
    await renewals("b", 2);
    a.services.stop();
    await a.services.release();
    await published("10.0.0.2 by b");
  });

  test("are taken over from one that cannot reach a member, by one that has a yes, and never emptied", async (context) => {
    const { rolecall, published, renewals, said } = await servicesFixture(context);
    const [a, b] = [rolecall("a"), rolecall("b")];
    a.say(membersOf("10.0.0.1"));
    await published("10.0.0.1 by a");
    a.say(membersOf(null, { isUnreached: true }));
    b.say(membersOf("10.0.0.1"));
    await published("10.0.0.1 by b");
    await renewals("a", 6);
    assert.equal(said(), "10.0.0.1 by b");
  });

  test("are left to others by one that has lost its evidence: what is published stays", async (context) => {
    const { rolecall, published, renewals } = await servicesFixture(context);
    const [a, b] = [rolecall("a"), rolecall("b")];
    a.say(membersOf("10.0.0.1"));
    await published("10.0.0.1 by a");
    a.say("blind");
    await published("10.0.0.1 by nobody");
    b.say(membersOf("10.0.0.1"));
    await renewals("b", 6);
    assert.deepEqual(b.ends, []);
    b.say(membersOf("10.0.0.2"));
    await published("10.0.0.2 by b");
  });

  test("a write that was computed from an older state is refused, and decided anew", async (context) => {
    const { server, rolecall, published, renewals, said } = await servicesFixture(context);
    const a = rolecall("a");
    a.say(membersOf("10.0.0.1"));
    await published("10.0.0.1 by a");
    const [slice = {}] = server.objects("endpointslices");
    const metadata = { ...objectOf(slice["metadata"]), annotations: { "rolecall/writer": "b" } };
    let isFirst = true;
    server.misbehave = ({ verb, resource }) => {
      if (verb !== "patch" || resource !== "endpointslices" || !isFirst) return null;
      // Just before its write comes another one, as that of one that has taken over.
      isFirst = false;
      server.put("endpointslices", { ...slice, metadata });
      return null;
    };
    a.say(membersOf("10.0.0.2"));
    await until("the conflict", () => a.ends.includes("conflict"));
    await renewals("a", 2);
    assert.equal(said(), "10.0.0.1 by b");
    assert.deepEqual(a.ends, ["written", "conflict"]);
    assert.equal(a.services.publishers[0]?.problem, null);
  });

  test("two that start at the same time write one slice: the second one finds what the first one has created", async (context) => {
    const { server, rolecall, published, renewals, writes } = await servicesFixture(context);
    const [a, b] = [rolecall("a"), rolecall("b")];
    await until("the watches", () => server.watches === 8);
    a.say(membersOf("10.0.0.1"));
    b.say(membersOf("10.0.0.1"));
    await until("a slice", () => a.ends.includes("written") || b.ends.includes("written"));
    await renewals("a", 6);
    assert.ok(writes() <= 4, `${writes()} writes`);
    await published(`10.0.0.1 by ${a.ends.includes("written") ? "a" : "b"}`);
    assert.equal(server.objects("endpointslices").length, 1);
  });

  test("what somebody deletes or changes is written again", async (context) => {
    const { server, rolecall, published } = await servicesFixture(context);
    const a = rolecall("a");
    a.say(membersOf("10.0.0.1"));
    await published("10.0.0.1 by a");
    server.delete("endpointslices", "orders-rolecall-ipv4-5432");
    await published("10.0.0.1 by a");
    const [slice] = server.objects("endpointslices");
    server.put("endpointslices", { ...slice, endpoints: [] });
    await published("10.0.0.1 by a");
  });

  test("name the pods of their addresses, as soon as these are known", async (context) => {
    const { server, rolecall, published } = await servicesFixture(context);
    const a = rolecall("a");
    a.say(membersOf("10.0.0.1"));
    await published("10.0.0.1 by a");
    server.put("pods", {
      metadata: { name: "pg-0", namespace: "databases", uid: "p1" },
      spec: { nodeName: "k1" },
      status: { podIP: "10.0.0.1" },
    });
    await until("the pod", () => {
      const [endpoint] = listOf(server.objects("endpointslices")[0]?.["endpoints"]).map(objectOf);
      return endpoint?.["nodeName"] === "k1" && objectOf(endpoint["targetRef"])["name"] === "pg-0";
    });
    await until("the answer to the write", () => a.ends.length === 2);
    assert.deepEqual(a.ends, ["written", "written"]);
  });

  test("are reported on the Service by the one that writes them: a change, nobody, and that nothing is known", async (context) => {
    const { server, rolecall, published, renewals } = await servicesFixture(context);
    const [a, b] = [rolecall("a"), rolecall("b")];
    const reported = (): readonly string[] =>
      server.objects("events").map(({ reason, type, message }) => [type, reason, message].join(" "));
    a.say(membersOf("10.0.0.1"));
    b.say(membersOf("10.0.0.1"));
    await published("10.0.0.1 by a");
    a.say(membersOf(null));
    await published("refused by a");
    a.say("blind");
    // b takes over.
    await published("10.0.0.1 by b");
    const changed = "Normal PrimaryChanged the primary is 10.0.0.1 (10.0.0.1:5432)";
    const expected = [
      changed,
      changed,
      "Warning NoPrimary no primary: 10.0.0.1 is wrong_role, 10.0.0.2 is wrong_role",
      "Warning NotKnown rolecall does not see the nodes any more; the Service leads on to where it led",
    ];
    await until({ what: "the Events", evidence: () => reported().join("\n") }, () => reported().length >= 4);
    await renewals("b", 3);
    // What b sends may come before what a does.
    assert.deepEqual(reported().toSorted(), expected.toSorted());
    const [event] = server.objects("events");
    const { involvedObject, source, count } = event ?? {};
    const uid = objectOf(server.objects("services")[0]?.["metadata"])["uid"];
    const orders = { apiVersion: "v1", kind: "Service", namespace: "databases", name: "orders", uid };
    assert.deepEqual([involvedObject, source, count], [orders, { component: "rolecall" }, 1]);
  });

  test("without the right to report Events they are published all the same, and what is missing is said", async (context) => {
    const { server, rolecall, published } = await servicesFixture(context);
    server.denied.add("create events");
    const a = rolecall("a");
    a.say(membersOf("10.0.0.1"));
    await published("10.0.0.1 by a");
    await until("the problem", () =>
      a.services.problems.some(({ text }) =>
        /^events of databases: status 403: .*cannot create resource "events"/.test(text),
      ),
    );
    a.say(membersOf("10.0.0.2"));
    await published("10.0.0.2 by a");
  });

  test("of several, each has slices of its own", async (context) => {
    const { rolecall, published } = await servicesFixture(context);
    const a = rolecall("a", [{}, { name: "other", isOfPrimary: false }]);
    a.say(membersOf("10.0.0.1"));
    a.say(membersOf("10.0.0.2"), "other");
    await published("10.0.0.1 by a");
    await published("10.0.0.2 by a", "other");
  });

  test("a Service that a reload adds is published, and one that it takes away is left as it is, to others", async (context) => {
    const { rolecall, published, renewals, said } = await servicesFixture(context);
    const a = rolecall("a");
    a.say(membersOf("10.0.0.1"));
    await published("10.0.0.1 by a");
    const key = { namespace: "databases", name: "other", port: null, isOfPrimary: true };
    a.services.configure([key]);
    a.say(membersOf("10.0.0.2"), "other");
    await published("10.0.0.2 by a", "other");
    await renewals("a", 3);
    assert.equal(said(), "10.0.0.1 by nobody");
  });
});

describe("Services that cannot be published", () => {
  test("without the Service nothing is written, and it is once it is there", async (context) => {
    const { server, rolecall, published, writes } = await servicesFixture(context);
    server.delete("services", "orders");
    const a = rolecall("a");
    a.say(membersOf("10.0.0.1"));
    await until(
      "the problem",
      () => a.services.publishers[0]?.problem?.text === "there is no Service orders in databases",
    );
    assert.equal(writes(), 0);
    server.put("services", serviceObject("orders"));
    await published("10.0.0.1 by a");
    assert.equal(a.services.publishers[0]?.problem, null);
  });

  test("with a selector it is not begun, but one that is published already goes on", async (context) => {
    const { server, rolecall, published, renewals, said } = await servicesFixture(context);
    server.put("services", serviceObject("other", { selector: { app: "x" } }));
    const a = rolecall("a", [{}, { name: "other" }]);
    a.say(membersOf("10.0.0.1"));
    a.say(membersOf("10.0.0.1"), "other");
    await published("10.0.0.1 by a");
    await renewals("a", 3);
    assert.equal(said("other"), "nothing");
    assert.match(a.services.publishers[1]?.problem?.text ?? "", /must not have a selector/);
    server.put("services", serviceObject("orders", { selector: { app: "x" } }));
    await until("the problem", () => /must not have a selector/.test(a.services.publishers[0]?.problem?.text ?? ""));
    a.say(membersOf("10.0.0.2"));
    await published("10.0.0.2 by a");
  });

  for (const [right, problem] of [
    ["list services", /^services of databases: status 403: .*cannot list resource "services"/],
    ["watch endpointslices", /^endpointslices of databases: status 403: .*cannot watch resource "endpointslices"/],
    ["patch leases", /^lease of databases: status 403: .*cannot patch resource "leases"/],
    ["patch endpointslices", /^status 403: .*cannot patch resource "endpointslices"/],
    ["create endpointslices", /^status 403: .*cannot create resource "endpointslices"/],
    ["list pods", /^pods of databases: status 403: .*cannot list resource "pods"/],
  ] as const)
    test(`without the right to ${right} this is said, and with it all goes on`, async (context) => {
      const { server, rolecall, published } = await servicesFixture(context);
      server.denied.add(right);
      const a = rolecall("a");
      a.say(membersOf("10.0.0.1"));
      const problems = (): readonly string[] => [
        ...a.services.problems.map(({ text }) => text),
        ...a.services.publishers.flatMap((one) => one.problem?.text ?? []),
      ];
      await until({ what: "the problem", evidence: () => problems().join("; ") }, () =>
        problems().some((text) => problem.test(text)),
      );
      server.denied.clear();
      await published("10.0.0.1 by a");
      await until({ what: "no problem", evidence: () => problems().join("; ") }, () => problems().length === 0);
    });

  test("a server that asks for a pause gets it, and what is true after that is written", async (context) => {
    const { server, rolecall, published, writes } = await servicesFixture(context);
    const a = rolecall("a");
    await until("the watches", () => server.watches === 4);
    const busy = { kind: "answer", status: 429, body: "{}", headers: { "retry-after": "1" } } as const;
    server.misbehave = ({ resource, verb }) => (resource === "endpointslices" && verb === "create" ? busy : null);
    a.say(membersOf("10.0.0.1"));
    await until("the refusal", () => a.ends.length === 1);
    server.misbehave = () => null;
    a.say(membersOf("10.0.0.2"));
    assert.equal(writes(), 1);
    await published("10.0.0.2 by a");
    await until("the answer to the write", () => a.ends.length === 2);
    assert.deepEqual(a.ends, ["failed", "written"]);
  });

  test("what happens while the server is away is written within a second of its return", async (context) => {
    const { server, rolecall, published } = await servicesFixture(context);
    const a = rolecall("a");
    a.say(membersOf("10.0.0.1"));
    await published("10.0.0.1 by a");
    server.misbehave = () => ({ kind: "reset" });
    server.cutWatches();
    a.say(membersOf(null));
    await until("some tries", () => a.ends.filter((end) => end === "failed").length >= 4);
    a.say(membersOf("10.0.0.2"));
    server.misbehave = () => null;
    const sinceMs = performance.now();
    await published("10.0.0.2 by a");
    // Only said: it depends on the load of the machine. A real server is measured in test/real.
    context.diagnostic(`${Math.round(performance.now() - sinceMs)} ms after its return`);
  });
});

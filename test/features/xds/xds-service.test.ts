import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ClusterState } from "../../../src/core/cluster/snapshot.ts";
import { plainCheck } from "../../../src/core/health/check.ts";
import { withNodes } from "../../../src/core/health/observe/membership.ts";
import { until } from "../../fake/until.ts";
import {
  assignmentsIn,
  assignmentType,
  listedIn,
  type WireResponse,
  type XdsClientStream,
} from "../../fake/xds-client.ts";
import { poolOf, xdsFixture } from "./xds-fixture.ts";

const subscribed = ["write", "read"];
const unnamed = { name: "xds", checksAt: null, cutMs: 2_000, roundMs: 0, staleAfterMs: null, counted: "all" as const };

/** Sends the first request of a stream. */
function subscribe(stream: XdsClientStream, form: "sotw" | "delta", names: readonly string[], zone = ""): void {
  const node = { id: "envoy-1", cluster: "edge", user_agent_name: "envoy", locality: { zone } };
  const wanted = form === "sotw" ? { resource_names: names } : { resource_names_subscribe: names };
  stream.send({ node, type_url: assignmentType, ...wanted });
}

/** Takes a response. */
function accept(stream: XdsClientStream, form: "sotw" | "delta", { nonce, version_info: version }: WireResponse): void {
  const taken = form === "sotw" ? { resource_names: subscribed, version_info: version } : {};
  stream.send({ type_url: assignmentType, response_nonce: nonce, ...taken });
}

function listed(response: WireResponse): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(assignmentsIn(response).map((one) => [one.cluster_name, listedIn(one)]));
}

describe("XdsService", () => {
  for (const [service, form] of [
    ["ads", "sotw"],
    ["ads", "delta"],
    ["eds", "sotw"],
    ["eds", "delta"],
  ] as const)
    it(`serves pools and their changes by ${service}, ${form}, as Envoy's definitions read them`, async (context) => {
      const { cluster, connect } = await xdsFixture(context);
      const stream = connect(`${service} ${form}`);
      subscribe(stream, form, subscribed);
      const first = await stream.next();
      assert.deepEqual(listed(first), { write: ["+pg1", "-pg2", "-pg3"], read: ["+pg2"] });
      assert.deepEqual([first.type_url, first.control_plane?.identifier, first.nonce], [assignmentType, "i1", "1"]);
      const [write] = assignmentsIn(first);
      assert.equal(write?.policy?.overprovisioning_factor?.value, 300);
      const endpoint = write?.endpoints[0]?.lb_endpoints[0]?.endpoint;
      assert.deepEqual(endpoint?.address.socket_address.address, "10.0.0.1");
      assert.equal(endpoint?.address.socket_address.port_value, 5432);
      assert.equal(endpoint?.health_check_config?.hostname, "pg1");
      accept(stream, form, first);
      cluster.nowMs += 500;
      cluster.recordReport("pg1", 2_000, false);
      const second = await stream.next();
      assert.deepEqual(listed(second)["write"], ["-pg1", "-pg2", "-pg3"]);
      cluster.recordReport("pg2", 2_000, true, { timeline: 2 });
      let last = second;
      await until({ what: "the new primary" }, async () => {
        last = await stream.next();
        return listed(last)["write"]?.join() === "-pg1,+pg2,-pg3" || undefined;
      });
      assert.match(JSON.stringify(last), /"i1-\d+"/);
    });

  it("keeps what it sent while the cluster is blind, and then waits for all nodes, for one round", async (context) => {
    const { cluster, service, connect } = await xdsFixture(context, { settings: { roundMs: 3_000 } });
    const stream = connect("ads sotw");
    subscribe(stream, "sotw", subscribed);
    cluster.recordReport("pg3", 1_000, false);
    const before = { write: ["+pg1", "-pg2", "-pg3"], read: ["+pg2", "+pg3"] };
    assert.deepEqual(listed(await stream.next()), before);
    cluster.nowMs += 60_000;
    service.clusterChanged("demo");
    const during = connect("ads sotw");
    subscribe(during, "sotw", subscribed);
    assert.deepEqual(listed(await during.next()), before);
    cluster.recordReport("pg1", 9_000);
    cluster.nowMs += 1_000;
    cluster.recordReport("pg2", 9_000);
    const early = connect("ads sotw");
    subscribe(early, "sotw", subscribed);
    assert.deepEqual(listed(await early.next()), before);
    // pg3 has missed no answer: it stays until it does.
    cluster.nowMs += 2_000;
    service.clusterChanged("demo");
    cluster.recordFailure("pg3");
    service.clusterChanged("demo");
    const after = await stream.next();
    assert.deepEqual(listed(after), { read: ["+pg2", "-pg3"] });
  });

  it("sends nothing before the members of a cluster are listed, for one round", async (context) => {
    let isListed = false;
    // pg2 is in the configuration; the others are discovered.
    const seen = (state: ClusterState): ClusterState =>
      isListed ? state : withNodes({ ...state, isMembershipKnown: false }, [state.nodes[1] ?? assert.fail()]);
    const { cluster, service, connect } = await xdsFixture(context, { settings: { roundMs: 3_000 }, seen });
    const stream = connect("ads sotw");
    subscribe(stream, "sotw", subscribed);
    await until({ what: "the stream" }, () => service.statuses(null)[0]?.balancer);
    cluster.recordReport("pg2", 1_000);
    assert.deepEqual(stream.responses, []);
    isListed = true;
    cluster.recordReport("pg1", 1_000);
    assert.deepEqual(stream.responses, []);
    cluster.recordReport("pg3", 1_000);
    assert.deepEqual(listed(await stream.next()), { write: ["+pg1", "-pg2", "-pg3"], read: ["+pg2", "+pg3"] });
  });

  it("sends nothing before the lag of all replicas is known, for one round", async (context) => {
    const { cluster, service, connect } = await xdsFixture(context);
    // When the leader was where pg3 is now is not known: rolecall was not there.
    cluster.recordReport("pg3", 500, false);
    const check = { ...plainCheck("replica"), lagTimeMsMax: 10_000 };
    service.configure({ ...unnamed, roundMs: 3_000, pools: [{ ...poolOf("late", "replica"), check }] });
    const stream = connect("ads sotw");
    subscribe(stream, "sotw", ["late"]);
    await until({ what: "the stream" }, () => service.statuses(null)[0]?.balancer);
    assert.deepEqual(stream.responses, []);
    cluster.nowMs += 1_000;
    cluster.recordReport("pg3", 1_000, false);
    assert.deepEqual(listed(await stream.next()), { late: ["+pg2", "+pg3"] });
  });

  it("sends nothing before the lag in time is known again after a thaw, for one round", async (context) => {
    const { cluster, service, connect } = await xdsFixture(context);
    cluster.recordReport("pg3", 1_000, false);
    // Where the leader was in the 20 s between is not known: pg3 counts as 20 s late until its next report.
    cluster.nowMs += 20_000;
    cluster.recordReport("pg1", 2_000);
    for (const name of ["pg2", "pg3"]) cluster.recordReport(name, 1_500, false);
    const check = { ...plainCheck("replica"), lagTimeMsMax: 10_000 };
    service.configure({ ...unnamed, roundMs: 3_000, pools: [{ ...poolOf("late", "replica"), check }] });
    const stream = connect("ads sotw");
    subscribe(stream, "sotw", ["late"]);
    await until({ what: "the stream" }, () => service.statuses(null)[0]?.balancer);
    assert.deepEqual(stream.responses, []);
    cluster.nowMs += 1_000;
    for (const name of ["pg2", "pg3"]) cluster.recordReport(name, 2_000, false);
    assert.deepEqual(listed(await stream.next()), { late: ["+pg2", "+pg3"] });
  });

  it("serves the nodes of the configuration if no member is listed within a round", async (context) => {
    const seen = (state: ClusterState): ClusterState => ({ ...state, isMembershipKnown: false });
    const { cluster, service, connect } = await xdsFixture(context, { settings: { roundMs: 3_000 }, seen });
    const stream = connect("ads sotw");
    subscribe(stream, "sotw", ["write"]);
    await until({ what: "the stream" }, () => service.statuses(null)[0]?.balancer);
    assert.deepEqual(stream.responses, []);
    cluster.nowMs += 3_000;
    service.clusterChanged("demo");
    assert.deepEqual(listed(await stream.next()), { write: ["+pg1", "-pg2", "-pg3"] });
  });

  it("sends nothing of a pool before a node of its cluster was judged", async (context) => {
    const { cluster, connect, service } = await xdsFixture(context);
    cluster.nowMs += 60_000;
    service.configure({ ...unnamed, pools: [poolOf("late", "replica")] });
    const stream = connect("ads sotw");
    subscribe(stream, "sotw", ["late"]);
    await until({ what: "the stream" }, () => service.statuses(null)[0]?.balancer);
    assert.deepEqual(stream.responses, []);
    cluster.recordReport("pg2", 9_000);
    assert.deepEqual(listed(await stream.next()), { late: ["+pg2"] });
  });

  it("prefers the endpoints of each Envoy's zone, and encodes each zone once", async (context) => {
    const { cluster, connect } = await xdsFixture(context);
    cluster.recordReport("pg3", 1_000, false);
    const zones = ["a", "b", "elsewhere", ""];
    const read = await Promise.all(
      zones.map(async (zone) => {
        const stream = connect("eds delta");
        subscribe(stream, "delta", ["read"], zone);
        return listed(await stream.next())["read"];
      }),
    );
    assert.deepEqual(read, [
      ["+pg2", "+pg3 (1)"],
      ["+pg3", "+pg2 (1)"],
      ["+pg2", "+pg3"],
      ["+pg2", "+pg3"],
    ]);
  });

  it("names subscriptions that nothing answers, and refusals, in the log and in the status", async (context) => {
    const { service, connect, lines, counts } = await xdsFixture(context);
    const stream = connect("ads delta");
    subscribe(stream, "delta", ["wrtie", "write"]);
    const { nonce } = await stream.next();
    assert.match(lines.join(""), /"pools":\["wrtie"\]/);
    stream.send({ type_url: assignmentType, response_nonce: nonce, error_detail: { message: "malformed IP" } });
    await until({ what: "the refusal" }, () => counts.get("xdsRefusals"));
    assert.deepEqual(Object.fromEntries(counts), { xdsStreams: 1, xdsResponses: 1, xdsRefusals: 1 });
    assert.match(lines.join(""), /"problem":"malformed IP"/);
    const [status] = service.statuses(null);
    assert.deepEqual(
      [status?.balancer, status?.kind, status?.up, status?.problems],
      [
        "envoy-1",
        "envoy",
        true,
        [
          { subject: "assignment", problem: "Envoy refuses it: malformed IP" },
          { subject: "pool wrtie", problem: "no pool of this listener has this name" },
        ],
      ],
    );
    assert.deepEqual(service.statuses("another")[0]?.servers, []);
  });

  it("leads once every Envoy has taken an assignment in which the node alone is healthy", async (context) => {
    const { cluster, service, connect } = await xdsFixture(context);
    const [one, other] = [connect("ads sotw"), connect("ads sotw")];
    for (const stream of [one, other]) subscribe(stream, "sotw", ["write"]);
    const [first, second] = [await one.next(), await other.next()];
    assert.equal(service.leadsToPrimary("demo"), true);
    assert.equal(service.leadsToPrimary("another"), false);
    accept(one, "sotw", first);
    assert.equal(await service.lead("demo", "pg1", 50), "Envoy envoy-1 has not checked pg1 again");
    cluster.nowMs += 100;
    assert.equal(await service.lead("demo", "pg1", 50), "Envoy envoy-1 has not taken write");
    const led = service.lead("demo", "pg1", 20_000);
    accept(other, "sotw", second);
    assert.equal(await led, null);
    assert.equal(await service.lead("demo", "pg2", 10), "write leads to pg1");
    one.close();
    other.close();
    await until({ what: "the end of both" }, () => !service.leadsToPrimary("demo") || undefined);
    assert.equal(await service.lead("demo", "pg2", 10), null);
  });

  it("serves a stranger on an open listener and never waits for it; who is listed counts", async (context) => {
    const { cluster, service, connect } = await xdsFixture(context, { settings: { counted: new Set(["envoy-1"]) } });
    const stranger = connect("ads sotw");
    stranger.send({ node: { id: "stranger" }, type_url: assignmentType, resource_names: ["write"] });
    // It is served, and takes nothing.
    assert.equal((await stranger.next()).resources.length, 1);
    cluster.nowMs += 100;
    assert.equal(service.leadsToPrimary("demo"), false);
    assert.equal(service.uncounted("demo"), 1);
    assert.equal(await service.lead("demo", "pg1", 50), null);
    assert.deepEqual([...service.lackingAcknowledgements()], []);
    const lacks = (): boolean => [...service.lackingAcknowledgements()].flat().some(({ pool }) => pool === "write");
    const own = connect("ads sotw");
    subscribe(own, "sotw", ["write"]);
    const first = await own.next();
    assert.equal(service.leadsToPrimary("demo"), true);
    assert.equal(await service.lead("demo", "pg1", 50), "Envoy envoy-1 has not taken write");
    accept(own, "sotw", first);
    await until({ what: "its answer" }, () => !lacks() || undefined);
    assert.equal(await service.lead("demo", "pg1", 50), null);
  });

  it("ends a stream whose unknown names it has forgotten when the pools change", async (context) => {
    const { service, connect, settings } = await xdsFixture(context);
    const [stream, other] = [connect("ads delta"), connect("ads delta")];
    const names = Array.from({ length: 200 }, (_, at) => `p${at}`);
    subscribe(stream, "delta", ["write", ...names]);
    subscribe(other, "delta", ["write"]);
    await Promise.all([stream.next(), other.next()]);
    service.configure(settings({ pools: [poolOf("write", "primary"), poolOf("p150", "replica")] }));
    await until({ what: "the end of the stream" }, () => stream.ended ?? undefined);
    assert.match(stream.ended ?? "", /UNAVAILABLE: the pools have changed/);
    assert.equal(other.ended, null);
  });

  it("sends each assignment again before it is stale, under a new version", async (context) => {
    const { connect } = await xdsFixture(context, { settings: { staleAfterMs: 300 } });
    const stream = connect("eds sotw");
    subscribe(stream, "sotw", ["write"]);
    const versions = [(await stream.next()).version_info, (await stream.next()).version_info];
    assert.notEqual(versions[0], versions[1]);
  });

  it("sends nothing before the names of the endpoints are resolved", async (context) => {
    let answer: (ips: readonly string[]) => void = () => {};
    const lookUp = (): Promise<readonly string[]> => new Promise((resolve) => (answer = resolve));
    const { connect } = await xdsFixture(context, {
      hostOf: (name) => (name === "pg2" ? "pg2.db" : "10.0.0.1"),
      lookUp,
    });
    const stream = connect("ads sotw");
    subscribe(stream, "sotw", subscribed);
    const second = connect("ads sotw");
    subscribe(second, "sotw", []);
    assert.deepEqual(stream.responses, []);
    answer(["2001:db8::2"]);
    const [write] = assignmentsIn(await stream.next());
    assert.equal(write?.endpoints[0]?.lb_endpoints[1]?.endpoint.address.socket_address.address, "2001:db8::2");
  });

  it("refuses a node whose name leads elsewhere until it was probed there, and has it probed there", async (context) => {
    const probed = { host: "pg2.db", ip: "10.0.0.2", sinceMs: 0 };
    let at = probed;
    const { cluster, service, connect, elsewhere } = await xdsFixture(context, {
      hostOf: (name) => (name === "pg2" ? "pg2.db" : "10.0.0.1"),
      lookUp: () => Promise.resolve(["10.0.0.9"]),
      probedAt: (name) => (name === "pg2" ? at : null),
    });
    const stream = connect("ads sotw");
    subscribe(stream, "sotw", ["read"]);
    await until({ what: "the first lookup" }, () => elsewhere[0]);
    const addressIn = (response: WireResponse): readonly unknown[] =>
      assignmentsIn(response).flatMap(({ endpoints }) =>
        endpoints.flatMap(({ lb_endpoints: of }) =>
          of.map((one) => [one.health_status, one.endpoint.address.socket_address.address]),
        ),
      );
    let last: readonly unknown[] = [];
    await until({ what: "no fit node" }, async () => {
      last = addressIn(await stream.next());
      return JSON.stringify(last) === JSON.stringify([["UNHEALTHY", "10.0.0.2"]]) || last.length === 0 || undefined;
    });
    assert.deepEqual(elsewhere, ["pg2"]);
    at = { ...probed, ip: "10.0.0.9", sinceMs: cluster.nowMs };
    cluster.nowMs += 500;
    cluster.recordReport("pg2", 1_500, false);
    service.clusterChanged("demo");
    assert.deepEqual(addressIn(await stream.next()), [["HEALTHY", "10.0.0.9"]]);
  });

  it("ends every stream with its scope, so that Envoys connect elsewhere", async (context) => {
    const { scope, connect } = await xdsFixture(context);
    const stream = connect("ads sotw");
    subscribe(stream, "sotw", subscribed);
    await stream.next();
    await scope.end();
    await until({ what: "the end of the stream" }, () => stream.ended ?? undefined);
  });

  it("ends a wait for Envoys with its scope, and says why", async (context) => {
    const { service, scope, connect } = await xdsFixture(context);
    const stream = connect("ads sotw");
    subscribe(stream, "sotw", subscribed);
    await stream.next();
    const led = service.lead("demo", "pg2", 60_000);
    await scope.end();
    assert.equal(await led, "rolecall does not serve these Envoys any more");
  });

  it("bytes that are no request end their stream, and nothing else", async (context) => {
    const { connect, errors } = await xdsFixture(context);
    const [broken, healthy] = [connect("ads sotw"), connect("ads sotw")];
    broken.sendBytes(Buffer.from([0xa7, 0x06]));
    subscribe(healthy, "sotw", ["write"]);
    await healthy.next();
    await until({ what: "the end of the stream" }, () => broken.ended ?? undefined);
    assert.deepEqual(errors, []);
  });
});

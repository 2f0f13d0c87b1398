import assert from "node:assert/strict";
import { suite, test, type TestContext } from "node:test";
import { pino } from "pino";
import type { ClusterMember } from "../../../src/core/balancing/cluster-members.ts";
import { HaproxyBalancer } from "../../../src/features/haproxy/haproxy-balancer.ts";
import { addedIds } from "../../../src/features/haproxy/server-state.ts";
import type { ServerChange } from "../../../src/core/balancing/server-change.ts";
import { haproxyBackendOf } from "../../fake/config.ts";
import { FakeHaproxy } from "../../fake/fake-haproxy.ts";
import { until } from "../../fake/until.ts";

interface Fixture {
  readonly haproxy: FakeHaproxy;
  /** The messages of the log in order; those of a problem are `subject: problem`. */
  readonly log: string[];
  members: readonly ClusterMember[];
  current: readonly ServerChange[];
  readonly problems: () => readonly string[];
  /** Waits until HAProxy was looked at twice more. */
  readonly polls: () => Promise<void>;
  readonly balancer: () => HaproxyBalancer;
}

const id = addedIds.first;
const started = (server: string): readonly string[] => [
  `set server w/${server} state drain`,
  `set server w/${server} health down`,
  `set server w/${server} state ready`,
  `enable health w/${server}`,
];
const added = (server: string, host: string, number = id): readonly string[] => [
  `add server w/${server} ${host}:5432 id ${number} check inter 1s`,
  ...started(server),
];

function member(node: string, host = "10.0.0.3", isProved = true): ClusterMember {
  return { node, database: { host, port: 5432 }, isProved };
}

function up(server: string): ServerChange {
  return { backend: "w", server, target: "up", weight: null, cutsSessions: false, atMs: 0 };
}

/** A balancer whose backend `w` has pg1 and pg2 from its file. */
async function fixtureOf(context: TestContext, followMembers: string | null = "check inter 1s"): Promise<Fixture> {
  const haproxy = new FakeHaproxy(["w/pg1", "w/pg2"]);
  await haproxy.listen(context);
  const log: string[] = [];
  const write = (text: string): void => {
    const line: unknown = JSON.parse(text);
    if (typeof line !== "object" || line === null) return;
    const { msg, subject, problem, server } = { msg: "", subject: "", problem: "", server: "", ...line };
    log.push(problem === "" ? [msg, server || subject].join(" ").trim() : `${subject}: ${problem}`);
  };
  const backend = haproxyBackendOf({ followMembers });
  const create = (): HaproxyBalancer => {
    const socket = { host: "127.0.0.1", port: haproxy.port };
    const balancer = new HaproxyBalancer(
      { name: "edge", haproxy: { socket, zone: null, cutSessions: false, backends: [backend] } },
      {
        log: pino({ level: "info" }, { write }),
        now: () => performance.now(),
        timing: { deadlineMs: 5_000, pollMs: 20, retryMs: [20, 40] },
        current: () => fixture.current,
        members: () => ({ isComplete: true, members: fixture.members }),
        metrics: { set: () => {}, count: () => {}, observe: () => {} },
        lookUp: async (host) => (host === "pg3.internal" ? ["10.0.0.33"] : Promise.reject(new Error("ENOTFOUND"))),
      },
    );
    context.after(() => balancer.stop());
    balancer.start();
    return balancer;
  };
  let balancer: HaproxyBalancer | null = null;
  const fixture: Fixture = {
    haproxy,
    log,
    members: [member("pg1"), member("pg2")],
    current: [],
    problems: () =>
      (balancer ?? assert.fail()).status().problems.map(({ subject, problem }) => `${subject}: ${problem}`),
    polls: async () => {
      const { connections } = haproxy;
      await until("two looks at HAProxy", () => haproxy.connections >= connections + 3);
    },
    balancer: () => {
      balancer?.stop();
      return (balancer = create());
    },
  };
  fixture.balancer();
  await fixture.polls();
  return fixture;
}

suite("an HAProxy whose backend follows the members", () => {
  test("gets a server for a node that joins: down and checked, and then its verdict", async (context) => {
    const fixture = await fixtureOf(context);
    const { haproxy } = fixture;
    fixture.current = [up("pg1"), up("pg3")];
    fixture.members = [...fixture.members, member("pg3")];
    await until("the server", () => haproxy.servers.get("w/pg3")?.operational === 2);
    assert.deepEqual(haproxy.commands, [...added("pg3", "10.0.0.3"), "set server w/pg3 health up"]);
    await fixture.polls();
    assert.equal(haproxy.commands.length, 6, "nothing is repeated");
    assert.deepEqual(fixture.problems(), []);
  });

  test("gets it again after a reload, and not twice from a rolecall that was restarted", async (context) => {
    const fixture = await fixtureOf(context);
    const { haproxy } = fixture;
    fixture.members = [...fixture.members, member("pg3")];
    await until("the server", () => haproxy.servers.has("w/pg3"));
    await fixture.polls();
    fixture.balancer();
    await fixture.polls();
    assert.deepEqual(haproxy.commands, added("pg3", "10.0.0.3"));
    haproxy.servers.delete("w/pg3");
    haproxy.pid += 1;
    const twice = [...added("pg3", "10.0.0.3"), ...added("pg3", "10.0.0.3")];
    await until("the server again", () => haproxy.commands.length >= twice.length);
    assert.deepEqual(haproxy.commands, twice);
  });

  test("loses it once the node has left and the last session has ended, and no other server", async (context) => {
    const fixture = await fixtureOf(context);
    const { haproxy } = fixture;
    fixture.members = [member("pg3")];
    await until("the server", () => haproxy.servers.get("w/pg3")?.checkState === 6);
    haproxy.at("w/pg3").sessions = 1;
    haproxy.commands.length = 0;
    fixture.members = [];
    fixture.current = [{ ...up("pg3"), target: "down" }];
    await until("no new sessions", () => haproxy.at("w/pg3").weight === 0);
    await fixture.polls();
    assert.deepEqual(haproxy.commands, ["set server w/pg3 weight 0"]);
    haproxy.at("w/pg3").sessions = 0;
    await until("the removal", () => !haproxy.servers.has("w/pg3"));
    await fixture.polls();
    assert.deepEqual(haproxy.commands.slice(1), ["set server w/pg3 state maint", "del server w/pg3"]);
    assert.deepEqual([...haproxy.servers.keys()], ["w/pg1", "w/pg2"]);
    haproxy.pid += 1;
    await fixture.polls();
    assert.deepEqual(fixture.problems(), [], "a node that has left lacks no server");
    assert.deepEqual(
      fixture.log.filter((line) => line.startsWith("balancer's server")),
      ["added", "leaves", "removed"].map((word) => `balancer's server ${word} pg3`),
    );
  });

  test("starts a server that a rolecall has added and not started", async (context) => {
    const fixture = await fixtureOf(context);
    const { haproxy } = fixture;
    haproxy.servers.set("w/pg3", {
      ...haproxy.at("w/pg1"),
      id,
      isIdForced: true,
      admin: 1,
      checkState: 2,
      host: "10.0.0.3",
    });
    fixture.members = [...fixture.members, member("pg3")];
    await until("the start", () => haproxy.at("w/pg3").checkState === 6);
    assert.deepEqual(haproxy.commands, started("pg3"));
  });

  test("gets the other address of a node for its added server, and the verdict again", async (context) => {
    const fixture = await fixtureOf(context);
    const { haproxy } = fixture;
    fixture.members = [member("pg1"), member("pg2"), member("pg3")];
    await until("the server", () => haproxy.servers.get("w/pg3")?.checkState === 6);
    await fixture.polls();
    haproxy.commands.length = 0;
    fixture.current = [up("pg3")];
    fixture.members = [member("pg1", "10.0.0.9"), member("pg2"), member("pg3", "10.0.0.4")];
    await until("the verdict", () => haproxy.at("w/pg3").operational === 2);
    assert.deepEqual(haproxy.commands, [
      "set server w/pg3 health down",
      "set server w/pg3 addr 10.0.0.4 port 5432",
      "set server w/pg3 health up",
    ]);
  });

  test("gets the address of a host name, which it does not resolve itself", async (context) => {
    const fixture = await fixtureOf(context);
    fixture.members = [...fixture.members, member("pg3", "pg3.internal")];
    await until("the server", () => fixture.haproxy.servers.has("w/pg3"));
    assert.equal(fixture.haproxy.at("w/pg3").host, "10.0.0.33");
    assert.deepEqual(fixture.problems(), []);
  });

  test("gets none for a member that never answered", async (context) => {
    const fixture = await fixtureOf(context);
    fixture.members = [...fixture.members, member("pg3", "10.0.0.3", false)];
    await fixture.polls();
    assert.deepEqual([fixture.haproxy.commands, fixture.problems()], [[], []]);
  });
});

suite("an HAProxy that gets no server for a member", () => {
  const missing = "server w/pg3: HAProxy has no server of this name";
  const rows: readonly [string, (fixture: Fixture) => void, string][] = [
    [
      "of an older version",
      ({ haproxy }) => void (haproxy.version = "2.4.22-f8e3218"),
      `${missing}: HAProxy 2.4.22-f8e3218 cannot add it, 2.6 can`,
    ],
    [
      "whose backend does not allow it",
      ({ haproxy }) =>
        void (haproxy.addRefusal = "Backend must use a dynamic load balancing to support dynamic servers."),
      `${missing}: HAProxy refused to add it: "Backend must use a dynamic load balancing to support dynamic servers."`,
    ],
    [
      "whose name cannot be resolved",
      (fixture) => void (fixture.members = [member("pg3", "pg3.nowhere")]),
      `${missing}: pg3.nowhere cannot be resolved`,
    ],
    [
      "whose address is unknown",
      (fixture) => void (fixture.members = [{ ...member("pg3"), database: null }]),
      `${missing}: the address of its database is unknown`,
    ],
  ];
  for (const [title, arrange, problem] of rows)
    test(`${title}: the problem names the node, once, until it is over`, async (context) => {
      const fixture = await fixtureOf(context);
      const { haproxy } = fixture;
      const before = fixture.members;
      arrange(fixture);
      // An exchange that runs already has read the version.
      await fixture.polls();
      if (fixture.members === before) fixture.members = [member("pg3")];
      await until("the problem", () => fixture.problems().length > 0);
      await fixture.polls();
      assert.deepEqual(fixture.problems(), [problem]);
      assert.equal(fixture.log.filter((line) => line === problem).length, 1);
      assert.equal(haproxy.servers.has("w/pg3"), false);
      haproxy.addRefusal = null;
      haproxy.version = "2.6.0";
      fixture.members = [member("pg3")];
      await until("the server", () => haproxy.servers.has("w/pg3"));
      await until("no problem", () => fixture.problems().length === 0);
    });

  test("because it does not follow: the problem of the push names the node", async (context) => {
    const fixture = await fixtureOf(context, null);
    fixture.members = [...fixture.members, member("pg3")];
    fixture.current = [up("pg3")];
    fixture.haproxy.pid += 1;
    await until("the problem", () => fixture.problems().length > 0);
    assert.deepEqual(fixture.problems(), [missing]);
    assert.deepEqual(fixture.haproxy.commands, []);
  });
});

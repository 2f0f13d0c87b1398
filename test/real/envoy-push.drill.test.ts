/**
 * Real Envoys that get their endpoints from rolecall by push, in front of a real cluster: the newest over delta ADS, as
 * rendered, and the oldest over the other forms of the protocol.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../fake/until.ts";
import { envoyProgram } from "./lab/balancer-programs.ts";
import { beside, type Command } from "./lab/beside.ts";
import { DatabaseClients } from "./lab/database-clients.ts";
import type { PatroniNode } from "./lab/patroni.ts";
import { type BalancerSpec, PushedLab, readStatement, writeStatement } from "./lab/pushed-lab.ts";

const [newest, oldest] = [envoyProgram("newest"), envoyProgram("oldest")];
if ("notRun" in newest) test("Envoy by push", { skip: `not run: ${newest.notRun}` }, () => {});
else if ("notRun" in oldest) test("Envoy by push", { skip: `not run: ${oldest.notRun}` }, () => {});
else
  beside("3.0.2", "Envoy by push", (command) =>
    scenarios(command, [
      { title: "newest Envoy, delta ADS", path: newest.path, way: "delta" },
      { title: "oldest Envoy, ADS, state of the world", path: oldest.path, way: "sotw" },
      { title: "oldest Envoy, plain EDS", path: oldest.path, way: "eds" },
    ]),
  );

/** Longer than `max_age` (5.5 s): all evidence of a rolecall that was frozen is stale when it goes on. */
const frozenMs = 6_500;

function scenarios(patroni: Command, balancers: readonly BalancerSpec[]): void {
  let lab: PushedLab;

  before(async () => {
    lab = await PushedLab.start({ patroni, balancers, instances: 1 });
  });
  after(async () => {
    await lab?.stop();
  });

  // The lab is only started once every Envoy has the endpoints that follow from the cluster.
  test("all Envoys have the same endpoints", async () => {
    const leader = await lab.cluster.leader();
    for (const { title, envoy } of lab.balancers)
      assert.deepEqual(await lab.endpoints(envoy), lab.endpointsOf(leader), title);
  });

  describe("a rolecall", () => {
    const faults: readonly (readonly [string, () => Promise<void>])[] = [
      [
        "that is killed and away for 10 s",
        async () => {
          await lab.rolecall().kill();
          await sleep(10_000);
          await lab.startRolecall();
        },
      ],
      ["that is frozen until its evidence is stale", () => sleep(frozenMs).finally(lab.rolecall().freeze())],
      [
        "that is restarted",
        async () => {
          await lab.rolecall().stop();
          await lab.startRolecall();
        },
      ],
      ["that loads its configuration again", () => lab.reload()],
    ];
    for (const [title, fault] of faults)
      test(`${title} refuses no connection and ends no session`, async () => {
        const clients = start(3);
        await held(clients, 3);
        await fault();
        await lab.settled();
        await stop(clients);
        for (const { title: balancer, writes, reads } of clients)
          for (const one of [writes, reads]) {
            assert.deepEqual(one.refused, [], `${balancer}: refused\n${tail(balancer)}`);
            assert.deepEqual(one.cut, [], `${balancer}: cut\n${tail(balancer)}`);
          }
      });
  });

  test("a planned switchover: writes go to the new primary, and no session of the old one is left", async () => {
    const leader = await lab.cluster.leader();
    const [candidate] = await lab.cluster.replicas();
    assert.ok(candidate !== undefined);
    await moves(leader, candidate, () => lab.cluster.switchOver(candidate));
    await lab.settled();
  });

  test("a leader that is killed: writes go to the next one, and no session of the old one is left", async () => {
    const leader = await lab.cluster.leader();
    await moves(leader, null, () => leader.kill());
  });

  /** Checks that the primary moves for new connections, and that the sessions of the old one are closed. */
  async function moves(old: PatroniNode, candidate: PatroniNode | null, event: () => Promise<void>): Promise<void> {
    const clients = start(3);
    await held(clients, 3);
    const startedMs = performance.now();
    await event();
    const isNew = ({ server }: { readonly server: number | null }): boolean =>
      server !== null && server !== old.databasePort;
    const evidence = (): string => lab.balancers.map(({ title }) => tail(title)).join("\n");
    await until({ what: "ten writes through each Envoy on the new primary", seconds: 60, evidence }, () =>
      clients.every(({ writes }) => writes.opened.filter(isNew).length >= 10),
    );
    await stop(clients);
    for (const { title, writes } of clients) {
      const servers = new Set(writes.opened.filter(isNew).map(({ server }) => server));
      const only = candidate === null ? [...servers] : [candidate.databasePort];
      assert.deepEqual([...servers], only, `${title}: where new connections went`);
      assert.equal(servers.size, 1, `${title}: one new primary`);
      const firstMs = writes.opened.find(isNew)?.endedMs ?? Infinity;
      const late = writes.opened.filter((one) => one.startedMs > firstMs && one.server === old.databasePort);
      assert.deepEqual(late, [], `${title}: new connections to the old primary`);
      const left = writes.open.filter(({ server, openedMs }) => server === old.databasePort && openedMs < startedMs);
      assert.deepEqual(left, [], `${title}: sessions of the old primary`);
    }
  }

  interface Clients {
    readonly title: string;
    readonly writes: DatabaseClients;
    readonly reads: DatabaseClients;
  }

  function start(count: number): readonly Clients[] {
    const all = { holders: count, openers: count };
    return lab.balancers.map(({ title, writePort, readPort }) => ({
      title,
      writes: new DatabaseClients({ ...all, port: writePort, statement: writeStatement }),
      reads: new DatabaseClients({ ...all, port: readPort, statement: readStatement }),
    }));
  }

  async function held(clients: readonly Clients[], count: number): Promise<void> {
    await until("sessions through each Envoy", () =>
      clients.every(({ writes, reads }) => writes.open.length === count && reads.open.length === count),
    );
  }

  async function stop(clients: readonly Clients[]): Promise<void> {
    await Promise.all(clients.flatMap(({ writes, reads }) => [writes.stop(), reads.stop()]));
  }

  function tail(title: string): string {
    return `${lab.balancers.find((one) => one.title === title)?.envoy?.tail}\n${lab.rolecall().tail}`;
  }
}

/**
 * HAProxy's agent checks answered by rolecall: weights follow the lag, a lagging server is drained, an operator's state
 * stays, and an agent that dies or hangs leaves HAProxy to its own checks.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { AgentLab, type ShownServer } from "./lab/agent-lab.ts";
import { balancerPrograms } from "./lab/balancer-programs.ts";
import { freeze } from "./lab/freeze.ts";

/** HAProxy shows a weight of 0, with which a server gets no new sessions. */
const isDrained = ({ weight }: ShownServer): boolean => weight === 0;
const isFull = ({ status, weight }: ShownServer): boolean => status === "UP" && weight === 100;

for (const { kind, title, found } of balancerPrograms()) {
  if (kind !== "haproxy") continue;
  if ("notRun" in found) test(`agent checks, ${title}`, { skip: `not run: ${found.notRun}` }, () => {});
  else {
    describe(`agent checks, ${title}`, { timeout: 120_000 }, () => scenarios(found.path));
    describe(`agent checks that drain by state, ${title}`, { timeout: 120_000 }, () => drainsByState(found.path));
  }
}

function drainsByState(haproxy: string): void {
  let lab: AgentLab;
  const isDraining = ({ status }: ShownServer): boolean => status.startsWith("DRAIN");

  before(async () => {
    lab = await AgentLab.start(haproxy, "state");
  });
  after(async () => {
    await lab?.stop();
  });

  test("a server above the lag limit is drained, and ready afterwards", async () => {
    await lab.simulator.fault("pg2", { kind: "lag", bytes: 8_000_000 });
    await lab.shows("pg2", isDraining);
    assert.ok(isFull(await lab.server("pg3")));
    await lab.simulator.fault("pg2", { kind: "heal" });
    await lab.shows("pg2", isFull);
  });

  test("an operator's drain of a fit server stays, and its maintenance", async () => {
    for (const state of ["drain", "maint"]) {
      await lab.command(`set server read/pg3 state ${state}`);
      await lab.judges("pg3", 200);
      assert.match((await lab.server("pg3")).status, new RegExp(`^${state}`, "i"));
      await lab.command("set server read/pg3 state ready");
      await lab.shows("pg3", isFull);
    }
  });

  test("an instance that stops ends its own drain", async () => {
    await lab.simulator.fault("pg2", { kind: "lag", bytes: 8_000_000 });
    await lab.shows("pg2", isDraining);
    await lab.end("SIGTERM");
    assert.ok(isFull(await lab.server("pg2")));
  });
}

function scenarios(haproxy: string): void {
  let lab: AgentLab;

  before(async () => {
    lab = await AgentLab.start(haproxy);
  });
  after(async () => {
    await lab?.stop();
  });

  const lag = (node: string, bytes: number): Promise<void> => lab.simulator.fault(node, { kind: "lag", bytes });
  const heal = (node: string): Promise<void> => lab.simulator.fault(node, { kind: "heal" });

  test("the weight follows the lag, and comes back", async () => {
    await lag("pg2", 800_000);
    const { status } = await lab.shows("pg2", ({ weight }) => weight >= 5 && weight < 80);
    assert.equal(status, "UP");
    assert.ok(isFull(await lab.server("pg3")));
    await heal("pg2");
    await lab.shows("pg2", isFull);
  });

  test("a server above the lag limit is drained, and up afterwards", async () => {
    await lag("pg2", 8_000_000);
    await lab.shows("pg2", isDrained);
    await heal("pg2");
    await lab.shows("pg2", isFull);
  });

  test("an operator's drain and maintenance are never ended", async () => {
    for (const [state, shown] of [
      ["drain", "DRAIN"],
      ["maint", "MAINT"],
    ] as const) {
      await lab.command(`set server read/pg2 state ${state}`);
      await lab.shows("pg2", ({ status }) => status.startsWith(shown));
      await lag("pg2", 8_000_000);
      await lab.judges("pg2", 503);
      await heal("pg2");
      await lab.judges("pg2", 200);
      assert.ok((await lab.server("pg2")).status.startsWith(shown));
      await lab.command("set server read/pg2 state ready");
      await lab.shows("pg2", isFull);
    }
  });

  test("a failover while the agent hangs, and after it was killed, goes as the checks say", async () => {
    const thaw = freeze(lab.rolecallPid);
    try {
      await switchOver("pg1", "pg2");
      await lab.shows("pg1", isFull);
      await lab.shows("pg2", ({ status }) => status === "DOWN");
    } finally {
      thaw();
    }
    await lab.shows("pg3", isFull);
    await lab.end("SIGKILL");
    await switchOver("pg2", "pg1");
    await lab.shows("pg2", isFull);
    await lab.shows("pg1", ({ status }) => status === "DOWN");
    assert.ok(isFull(await lab.server("pg3")));
    await lab.again();
    await lab.shows("pg2", ({ agent }) => agent === "L7OK");
  });

  test("an instance that starts again gives a drained server back", async () => {
    await lag("pg2", 8_000_000);
    await lab.shows("pg2", isDrained);
    await lab.end("SIGKILL");
    await heal("pg2");
    await lab.again();
    await lab.shows("pg2", isFull);
  });

  test("an instance that stops leaves no server drained", async () => {
    await lag("pg2", 8_000_000);
    await lab.shows("pg2", isDrained);
    await lab.end("SIGTERM");
    assert.ok(isFull(await lab.server("pg2")));
    await heal("pg2");
    await lab.again();
  });

  async function switchOver(leader: string, candidate: string): Promise<void> {
    const node = lab.simulator.nodes.find(({ name }) => name === leader);
    const reply = await fetch(`${node?.url}/switchover`, {
      method: "POST",
      body: JSON.stringify({ leader, candidate }),
      signal: AbortSignal.timeout(20_000),
    });
    assert.equal(reply.status, 200, await reply.text());
  }
}

import assert from "node:assert/strict";
import { suite, test, type TestContext } from "node:test";
import { pino } from "pino";
import { HaproxyBalancer } from "../../../src/features/haproxy/haproxy-balancer.ts";
import type { ServerChange } from "../../../src/core/balancing/server-change.ts";
import { FakeHaproxy, type HaproxyFault } from "../../fake/fake-haproxy.ts";
import { haproxyBackendOf } from "../../fake/config.ts";
import { until } from "../../fake/until.ts";

interface Fixture {
  readonly haproxy: FakeHaproxy;
  readonly balancer: HaproxyBalancer;
  /** The problems in the log, each as `subject: problem`. */
  readonly problems: string[];
  readonly outcomes: string[];
  readonly isUp: () => boolean | null;
  current: ServerChange[];
}

async function fixtureOf(
  context: TestContext,
  fault: HaproxyFault = null,
  others: readonly string[] = [],
): Promise<Fixture> {
  const haproxy = new FakeHaproxy(["w/pg1", "w/pg2"]);
  haproxy.fault = fault;
  await haproxy.listen(context);
  const problems: string[] = [];
  const outcomes: string[] = [];
  let isUp: boolean | null = null;
  const write = (text: string): void => {
    const line: unknown = JSON.parse(text);
    if (typeof line === "object" && line !== null && "problem" in line && "subject" in line)
      problems.push(`${String(line.subject)}: ${String(line.problem)}`);
  };
  const backend = haproxyBackendOf();
  const backends = [backend, ...others.map((name) => ({ ...backend, name }))];
  const socket = { host: "127.0.0.1", port: haproxy.port };
  const fixture: Fixture = {
    haproxy,
    problems,
    outcomes,
    current: [],
    isUp: () => isUp,
    balancer: new HaproxyBalancer(
      { name: "edge", haproxy: { socket, zone: null, cutSessions: true, backends } },
      {
        log: pino({ level: "info" }, { write }),
        now: () => performance.now(),
        // Only faults that never answer take the whole deadline.
        timing: { deadlineMs: fault === "silent" || fault === "half" ? 150 : 5_000, pollMs: 40, retryMs: [20, 40] },
        current: () => fixture.current,
        members: () => ({ isComplete: true, members: [] }),
        metrics: {
          set: (_, _labels, value) => void (isUp = value === 1),
          count: (_: string, labels: { readonly balancer: string; readonly outcome?: string }, by: number = 1) => {
            for (let left = by; left > 0; left -= 1) outcomes.push(labels.outcome ?? "cut");
          },
          observe: () => {},
        },
      },
    ),
  };
  context.after(() => fixture.balancer.stop());
  fixture.balancer.start();
  return fixture;
}

function changeTo(target: ServerChange["target"], server = "pg1", parts: Partial<ServerChange> = {}): ServerChange {
  return { backend: "w", server, target, weight: null, cutsSessions: false, atMs: performance.now(), ...parts };
}

suite("an HAProxy that answers", () => {
  test("gets the old primary's change, then the new one's, then the end of the sessions", async (context) => {
    const { balancer, haproxy, outcomes, isUp } = await fixtureOf(context);
    haproxy.at("w/pg1").operational = 2;
    await until("connected", () => isUp() === true);
    balancer.push([changeTo("up", "pg2"), changeTo("down", "pg1", { cutsSessions: true })]);
    await until("pushed", () => outcomes.length === 3);
    assert.deepEqual(haproxy.commands, [
      "set server w/pg1 health down",
      "set server w/pg2 health up",
      "shutdown sessions server w/pg1",
    ]);
    assert.deepEqual(outcomes, ["pushed", "cut", "pushed"]);
  });

  test("gets the current verdicts when another process answers, and keeps an operator's maintenance", async (context) => {
    const fixture = await fixtureOf(context);
    const { haproxy, isUp } = fixture;
    await until("connected", () => isUp() === true);
    haproxy.at("w/pg2").admin = 1;
    fixture.current = [changeTo("up", "pg1"), changeTo("up", "pg2")];
    haproxy.pid += 1;
    await until("pushed", () => haproxy.commands.length > 0);
    assert.deepEqual(haproxy.commands, ["set server w/pg1 health up"]);
    await until("recorded", () => fixture.outcomes.length === 2);
    assert.deepEqual(fixture.outcomes.sort(), ["pushed", "reserved"]);
  });

  test("is not written to again when its checks contradict a push", async (context) => {
    const { balancer, haproxy, outcomes, isUp } = await fixtureOf(context);
    await until("connected", () => isUp() === true);
    balancer.push([changeTo("up")]);
    await until("pushed", () => outcomes.length === 1);
    haproxy.at("w/pg1").operational = 0;
    const { connections } = haproxy;
    await until("two polls", () => haproxy.connections >= connections + 2);
    assert.deepEqual(haproxy.commands, ["set server w/pg1 health up"]);
  });

  test("has wrong names logged once", async (context) => {
    const { balancer, problems, outcomes, isUp } = await fixtureOf(context, null, ["x"]);
    await until("connected", () => isUp() === true);
    for (const target of ["up", "down"] as const) {
      balancer.push([changeTo(target, "pg9"), changeTo(target, "pg1", { backend: "x" })]);
      const wanted = outcomes.length + 2;
      await until("recorded", () => outcomes.length === wanted);
    }
    assert.deepEqual(problems, [
      "backend x: HAProxy has no backend of this name",
      "server w/pg9: HAProxy has no server of this name",
    ]);
  });
});

suite("an HAProxy that cannot be used", () => {
  const faults: readonly [HaproxyFault, RegExp][] = [
    ["silent", /no complete answer within 150 ms/],
    ["half", /no complete answer within 150 ms/],
    ["garbage", /the socket must be HAProxy's Runtime API/],
    ["closes", /closed the connection without a complete answer/],
    ["endless", /longer than 1000000 characters/],
    ["operator", /needs level admin, and it has level operator/],
    ["stopping", /old process/],
  ];
  for (const [fault, problem] of faults)
    test(`${fault}: says so once, keeps the newest change, and sends it later`, async (context) => {
      const { balancer, haproxy, problems, outcomes, isUp } = await fixtureOf(context, fault);
      balancer.push([changeTo("down")]);
      balancer.push([changeTo("up")]);
      await until("two attempts", () => haproxy.connections >= 2);
      assert.equal(isUp(), false);
      assert.equal(problems.length, 1);
      assert.match(problems[0] ?? "", problem);
      haproxy.fault = null;
      await until("pushed", () => outcomes.includes("pushed"));
      assert.deepEqual(haproxy.commands, ["set server w/pg1 health up"]);
      assert.equal(isUp(), true);
    });
});

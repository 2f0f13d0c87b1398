import { equal, match } from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { AgentFixture, agentScope, plainAgent } from "./agent-fixture.ts";

describe("an agent over any course of a cluster", () => {
  const node = fc.constantFrom("pg1", "pg2", "pg3");
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ does: fc.constantFrom("lags", "follows", "leads", "fails"), node }) },
    {
      weight: 8,
      arbitrary: fc.record({
        does: fc.constant("asks"),
        node,
        peer: fc.constantFrom("10.0.0.1", "10.0.0.2"),
        check: fc.constantFrom("", " /replica?lag=1kB", " /primary", " /replica?tag_dc=a"),
      }),
    },
    { weight: 1, arbitrary: fc.record({ does: fc.constantFrom("reloads", "stops", "returns"), node }) },
  );
  const course = fc.array(fc.tuple(fc.constantFrom(10, 300, 1_000, 1_000, 2_000, 6_000), step), { maxLength: 40 });

  function play(lab: AgentFixture, { does, node: name }: { readonly does: string; readonly node: string }): void {
    const { cluster, nowMs } = lab;
    const location = 0x5000000 + 10 * nowMs;
    const at = does === "lags" ? location - 8_192 : location;
    if (does === "leads") cluster.lead(name, nowMs, { xlog: { location } });
    else if (does === "fails") for (let count = 0; count < 3; count += 1) cluster.fail(name, "refused", nowMs + count);
    else if (does === "follows" || does === "lags")
      cluster.follow(name, nowMs, { xlog: { received_location: at, replayed_location: at } });
    else if (does === "reloads") lab.agent.configure({ scope: agentScope, agent: { ...plainAgent, drainBy: "state" } });
    else if (does === "stops" || does === "returns") lab.isStopping = does === "stops";
  }

  for (const drainBy of ["weight", "state"] as const)
    it(`never takes a server down, and says ready only to end its own drain (drain_by: ${drainBy})`, () => {
      const counts = { drains: 0, readies: 0 };
      const property = fc.property(course, (steps) => {
        const lab = new AgentFixture({ ...plainAgent, drainBy });
        /** How often each balancer may still be answered ready for a server: twice for a drain. */
        const owed = new Map<string, number>();
        for (const [laterMs, happened] of steps) {
          lab.nowMs += laterMs;
          if (!("check" in happened)) {
            play(lab, happened);
            continue;
          }
          const key = `${happened.peer} ${happened.node}${happened.check || " /replica?lag=1kB"}`;
          const answer = lab.ask(`${happened.node}${happened.check}`, happened.peer) ?? "";
          match(answer, /^(up( ready)?( drain)?( \d+%)?)?( # [ -~]*)?$/);
          const [words = ""] = answer.split("#");
          if (words.includes("ready")) {
            counts.readies += 1;
            equal((owed.get(key) ?? 0) > 0, true, `${answer} to ${key} without a drain`);
            owed.set(key, (owed.get(key) ?? 0) - 1);
          }
          if (words.includes("drain") || words.includes(" 0%")) {
            counts.drains += 1;
            equal(lab.isStopping, false, "a server that stays drained when the agent has ended");
            equal(happened.check, happened.check.replace("/primary", ""), "a drain in a leader's pool");
            if (words.includes("drain")) owed.set(key, 2);
          }
        }
      });
      fc.assert(property, { numRuns: 150 });
      // A fixed seed shows that courses reach what the property is about.
      Object.assign(counts, { drains: 0, readies: 0 });
      fc.assert(property, { numRuns: 1_500, seed: 1 });
      equal(counts.drains > 15, true, `${counts.drains} drains`);
      equal(counts.readies > 3, drainBy === "state", `${counts.readies} times ready`);
    });
});

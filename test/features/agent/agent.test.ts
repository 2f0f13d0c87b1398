import { deepEqual, equal, match } from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { parseAgentLine } from "../../../src/features/agent/agent-request.ts";
import { AgentFixture, agentScope, plainAgent, weightedAgent } from "./agent-fixture.ts";

describe("Agent", () => {
  it("answers up with the full weight for a fit server", () => {
    const lab = new AgentFixture();
    equal(lab.ask(), "up 100%");
    deepEqual(lab.answers, ["use"]);
  });

  it("drains a lagging server by its weight, and gives the weight back", () => {
    const lab = new AgentFixture();
    lab.replicasAt(1_000, 4_096);
    match(lab.ask() ?? "", /^up 0% # drain: lagging 4/);
    lab.replicasAt(2_000, 0);
    equal(lab.ask(), "up 100%");
    deepEqual(lab.answers, ["drain", "use"]);
  });

  it("applies the check of the line in place of its own", () => {
    const lab = new AgentFixture();
    lab.replicasAt(1_000, 4_096);
    equal(lab.ask("demo/pg2 /replica?lag=1MB"), "up 100%");
    equal(lab.ask("pg2 replica?lag=1MB&be=x"), "up 100%");
  });

  it("drains the servers of other zones while one of the zone that the line asks for is fit", () => {
    const lab = new AgentFixture();
    const [local, other] = ["demo/pg3 /replica?lag=1kB&zone=b", "demo/pg2 /replica?lag=1kB&zone=b"];
    equal(lab.ask(local), "up 100%");
    equal(lab.ask(other), "up 0% # drain: other_zone none");
    lab.cluster.follow("pg3", 1_000, { state: "starting" });
    equal(lab.ask(local), "up # not_running starting");
    equal(lab.ask(other), "up 100%");
  });

  it("leaves a server of another role to the checks, and gives it the full weight after 5 s", () => {
    const lab = new AgentFixture();
    equal(lab.ask("pg1"), "up # wrong_role primary");
    lab.replicasAt(4_900, 0);
    equal(lab.ask("pg1"), "up # wrong_role primary");
    lab.replicasAt(5_000, 0);
    equal(lab.ask("pg1"), "up 100% # wrong_role primary");
  });

  it("never drains in a leader's pool", () => {
    const lab = new AgentFixture();
    equal(lab.ask("pg2 /primary"), "up # wrong_role replica");
    equal(lab.ask("pg1 /primary"), "up 100%");
  });

  it("leaves a server that is down to the checks, and one of which nothing is known as it was", () => {
    const lab = new AgentFixture();
    lab.replicasAt(1_000, 4_096);
    lab.ask();
    for (const atMs of [2_000, 3_000, 4_000]) lab.cluster.fail("pg2", "refused", atMs);
    lab.nowMs = 4_000;
    equal(lab.ask(), "up # down refused");
    lab.nowMs = 9_000;
    equal(lab.ask(), " # blind");
  });

  it("gives every server its full weight while rolecall stops", () => {
    const lab = new AgentFixture();
    lab.replicasAt(1_000, 4_096);
    match(lab.ask() ?? "", /^up 0%/);
    lab.isStopping = true;
    match(lab.ask() ?? "", /^up 100% # lagging/);
  });

  it("ends only its own drain with ready, for each balancer", () => {
    const lab = new AgentFixture({ ...plainAgent, drainBy: "state" });
    equal(lab.ask(), "up 100%");
    lab.replicasAt(1_000, 4_096);
    match(lab.ask() ?? "", /^up drain # drain: lagging 4/);
    lab.replicasAt(2_000, 0);
    equal(lab.ask("pg2", "10.0.0.2"), "up 100%");
    equal(lab.ask("pg3"), "up 100%");
    deepEqual([lab.ask(), lab.ask(), lab.ask()], ["up ready 100%", "up ready 100%", "up 100%"]);
  });

  it("ends its own drain before it stops, or leaves the server to the checks", () => {
    const lab = new AgentFixture({ ...plainAgent, drainBy: "state" });
    lab.replicasAt(1_000, 4_096);
    lab.ask();
    lab.isStopping = true;
    match(lab.ask() ?? "", /^up ready 100% # lagging/);
  });

  it("follows the lag in time with the weight", () => {
    const lab = new AgentFixture(
      { ...weightedAgent, check: { route: "replica", query: "" } },
      { check: { route: "replica", query: "" } },
    );
    for (let atMs = 1_000; atMs <= 8_000; atMs += 1_000) {
      lab.nowMs = atMs;
      lab.cluster.lead("pg1", atMs, { xlog: { location: 0x5000000 + atMs } });
      lab.cluster.follow("pg2", atMs, { xlog: { received_location: 0x5000000, replayed_location: 0x5000000 } });
      lab.ask();
    }
    const percent = Number(/^up (\d+)%$/.exec(lab.ask() ?? "")?.[1]);
    equal(percent > 1 && percent < 50, true, String(percent));
  });

  it("keeps weights over a reload", () => {
    const lab = new AgentFixture(weightedAgent);
    lab.ask();
    lab.agent.configure({ scope: agentScope, agent: plainAgent });
    equal(lab.ask(), "up 100%");
  });

  const unknown: readonly (readonly [string | null, string | null])[] = [
    [null, null],
    ["", " # no node named"],
    ["pg9", " # unknown node"],
    ["other/pg2", " # unknown cluster"],
    ["pg2 /nothing", " # unknown check"],
    ["pg2 /replica?lag=much", " # bad parameter lag"],
    ["pg2 /replica?lag=1MB&for=sessions", " # bad parameter for"],
    ["pg2 /replica?%0aready=1", " # bad parameter ?ready"],
    ["pg2 /replica more", " # too many words"],
    ["GET / HTTP/1.0", " # too many words"],
    ["\u0000\u0016\u0003", " # unknown node"],
  ];
  for (const [line, answer] of unknown)
    it(`answers ${JSON.stringify(answer)} to ${JSON.stringify(line)}`, () => {
      const lab = new AgentFixture();
      lab.cluster.cluster = { ...lab.cluster.cluster, isMembershipKnown: true };
      equal(lab.ask(line), answer);
    });

  it("answers without a line on a listener that is bound to one node", () => {
    const lab = new AgentFixture(plainAgent, { node: "pg2", cluster: "demo" });
    deepEqual(
      [null, "", "pg2", "/replica?lag=1MB"].map((line) => lab.ask(line)),
      Array(4).fill("up 100%"),
    );
    equal(lab.ask("pg3"), " # unknown node");
  });

  it("never answers down, maint, stopped, fail or a second line, whatever the line is", () => {
    const lab = new AgentFixture();
    lab.replicasAt(1_000, 4_096);
    const part = fc.constantFrom(
      "pg1",
      "pg2",
      "pg9",
      "demo/",
      " ",
      "/",
      "replica",
      "?",
      "lag=",
      "1kB",
      "&",
      "%0a",
      "down",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(part).map((parts) => parts.join("")),
        ),
        (line) => {
          match(lab.ask(line) ?? "", /^(up( \d+%)?)?( # [ -~]*)?$/);
        },
      ),
    );
  });
});

describe("parseAgentLine", () => {
  it("keys a server by cluster, node and check", () => {
    const parsed = parseAgentLine("pg2", agentScope);
    equal("key" in parsed ? parsed.key : null, "demo/pg2 replica?lag=1kB");
  });
});

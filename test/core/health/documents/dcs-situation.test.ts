import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { headlineOf } from "../../../../src/core/health/documents/situation.ts";
import type { ClusterFixture } from "../../../fake/cluster-fixture.ts";
import type { StatusFields } from "../../../fake/node-documents.ts";
import { end, followers, situationAt, steady } from "../../../fake/situations.ts";

describe("the DCS in the situation of a cluster", () => {
  const dcs = { etcd: ["http://127.0.0.1:2379"], prefix: "/service", scope: null, tls: null, auth: null };
  const watched = { cluster: { dcs } };

  /** Node answers up to 20 s that state contact with the DCS until 4 s, and pg1 gives up the lock at 15 s. */
  function silentDcs(isWatched: boolean): ClusterFixture {
    const fixture = steady(2_000, watched);
    fixture.document("config", { of: "pg2", value: { ttl: 20, loop_wait: 5, retry_timeout: 5 } }, 2_100);
    for (let at = 3_000; at <= 20_000; at += 1_000) {
      const contact = { dcs_last_seen: 1_000 + Math.min(4, Math.floor(at / 1_000)) };
      if (at < 15_000) fixture.lead("pg1", at, { xlog: { location: end }, ...contact });
      else fixture.follow("pg1", at, { xlog: { received_location: end, replayed_location: end }, ...contact });
      fixture.follow("pg2", at, { xlog: { received_location: end, replayed_location: end }, ...contact });
      fixture.follow("pg3", at, { xlog: { received_location: end, replayed_location: end }, ...contact });
      if (isWatched && at > 5_000) fixture.readDcs("unreadable", at);
    }
    return fixture;
  }

  test("no node reaches it: nobody can be elected, so waiting does not help", () => {
    const situation = situationAt(silentDcs(false), 20_000);
    assert.equal(situation.condition, "without a primary");
    assert.match(situation.cause ?? "", /^no node has reached the DCS for 16\.0 s; pg1 no longer holds/);
    assert.match(situation.next ?? "", /^no node can take the lock until the DCS answers; candidates: pg1 \(0B\)/);
    assert.match(situation.action ?? "", /^Look at the DCS/);
  });

  test("rolecall does not reach it either", () => {
    const { cause } = situationAt(silentDcs(true), 20_000);
    assert.match(
      cause ?? "",
      /^no node has reached the DCS for 16\.0 s, nor does rolecall \(an injected timeout\); pg1/,
    );
  });

  test("only rolecall does not reach it: its nodes may", () => {
    const fixture = steady(3_000, watched);
    fixture.readDcs("pg1", 2_000);
    fixture.readDcs("unreadable", 3_000);
    const situation = situationAt(fixture, 3_100);
    assert.equal(
      headlineOf(situation),
      "the DCS does not answer: the DCS does not answer rolecall (an injected timeout)",
    );
    assert.match(situation.next ?? "", /^if the nodes cannot reach it either, pg1 gives up the lock/);
  });

  test("without a primary, what rolecall does not reach comes first, and an election is possible", () => {
    const fixture = steady(2_000, watched);
    fixture.readDcs("pg1", 2_000);
    for (let at = 3_000; at <= 8_000; at += 1_000) {
      fixture.fail("pg1", "refused", at);
      followers(fixture, at);
      fixture.readDcs("unreadable", at);
    }
    const { cause, next } = situationAt(fixture, 8_100);
    assert.match(
      cause ?? "",
      /^the DCS does not answer rolecall \(an injected timeout\); pg1 is down \(connection refused\)$/,
    );
    assert.match(next ?? "", /^if the nodes reach the DCS, the lock expires at about /);
  });

  /** Node answers from 3 s to 18 s that state no newer contact than `contact` does. */
  function standing(fields: StatusFields = {}, isThirdDown = false): ClusterFixture {
    const fixture = steady();
    const contact = { dcs_last_seen: 1_000 };
    for (let at = 3_000; at <= 18_000; at += 1_000) {
      fixture.lead("pg1", at, { xlog: { location: end }, ...contact, ...fields });
      fixture.follow("pg2", at, { xlog: { received_location: end, replayed_location: end }, ...contact, ...fields });
      if (isThirdDown) fixture.fail("pg3", "refused", at);
      else fixture.follow("pg3", at, { xlog: { received_location: end, replayed_location: end } });
    }
    return fixture;
  }

  test("before the primary gives up, it is a warning that says since when, by whom and what will happen", () => {
    const fixture = standing();
    const situation = situationAt(fixture, 18_000);
    assert.deepEqual([situation.condition, situation.wrong], ["warning", "no node reaches the DCS"]);
    assert.equal(situation.cause, "pg1 and pg2 state no newer contact");
    assert.equal(situation.for_ms, 15_000);
    assert.match(situation.next ?? "", /^pg1 gives up the lock within 30 s$/);
    assert.equal(situationAt(steady(18_000), 18_000).condition, "ok");
  });

  test("what keeps the primary is what happens next", () => {
    assert.match(
      situationAt(standing({ failsafe_mode_is_active: true }), 18_000).next ?? "",
      /^pg1 goes on in failsafe mode/,
    );
    assert.match(situationAt(standing({ pause: true }), 18_000).next ?? "", /^pg1 goes on while the cluster is paused/);
  });

  test("it comes before a node that is out", () => {
    const situation = situationAt(standing({}, true), 18_000);
    assert.equal(situation.condition, "degraded");
    assert.equal(
      headlineOf(situation),
      "no node reaches the DCS for 15.0 s: pg1 and pg2 state no newer contact; pg3 is down (connection refused)",
    );
  });

  test("silence after the last answer is not counted: the node may have reached it since", () => {
    const fixture = steady();
    for (let at = 3_000; at <= 15_000; at += 1_000) {
      fixture.lead("pg1", at, { xlog: { location: end }, dcs_last_seen: 1_000 });
      fixture.follow("pg2", at, { xlog: { received_location: end, replayed_location: end }, dcs_last_seen: 1_000 });
    }
    assert.doesNotMatch(headlineOf(situationAt(fixture, 18_000)), /DCS/);
  });

  test("one node alone that does not reach it has a warning of its own", () => {
    for (const cutOff of ["pg1", "pg2"]) {
      const fixture = steady();
      fixture.document("config", { of: "pg2", value: { ttl: 60, loop_wait: 10, retry_timeout: 10 } }, 2_100);
      for (let at = 3_000; at <= 30_000; at += 1_000) {
        const contact = (node: string): StatusFields => ({
          dcs_last_seen: node === cutOff ? 1_000 : 1_000 + Math.floor(at / 10_000),
        });
        fixture.lead("pg1", at, { xlog: { location: end }, ...contact("pg1") });
        for (const node of ["pg2", "pg3"])
          fixture.follow(node, at, { xlog: { received_location: end, replayed_location: end }, ...contact(node) });
        if (at === 25_000) assert.equal(situationAt(fixture, at).condition, "ok");
      }
      const situation = situationAt(fixture, 30_000);
      assert.equal(headlineOf(situation), `1 node with a warning: ${cutOff}: has not reached the DCS for 27.0 s`);
      assert.match(
        situation.next ?? "",
        cutOff === "pg1" ? /^pg1 gives up the lock if this lasts/ : /^pg2 goes on as it is, and cannot take the lock$/,
      );
      assert.match(situation.action ?? "", new RegExp(`^Look at the network from ${cutOff} to the DCS`));
    }
  });

  test("a node that reaches it, or one that says nothing of it, is no sign of silence", () => {
    const fixture = steady();
    for (let at = 3_000; at <= 24_000; at += 1_000) {
      fixture.lead("pg1", at, { xlog: { location: end }, dcs_last_seen: 1_000 });
      fixture.follow("pg2", at, {
        xlog: { received_location: end, replayed_location: end },
        dcs_last_seen: 1_000 + Math.floor(at / 10_000),
      });
      fixture.follow("pg3", at, { xlog: { received_location: end, replayed_location: end } });
    }
    assert.equal(situationAt(fixture, 24_000).condition, "ok");
    assert.equal(situationAt(steady(30_000), 30_000).condition, "ok");
  });

  test("the clock of a node does not matter: only whether its statement changes", () => {
    const fixture = steady();
    for (let at = 3_000; at <= 30_000; at += 1_000)
      fixture.lead("pg1", at, { xlog: { location: end }, dcs_last_seen: 5 + Math.floor(at / 5_000) });
    assert.doesNotMatch(headlineOf(situationAt(fixture, 30_000)), /DCS/);
  });
});

/** When an address that no proved node has is asked who it is, and for its list, to the millisecond (rules 8 and 10). */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { NodeReply } from "../../../src/core/probe/client/client.ts";
import { failedReply, jsonReply, runPendingTasks } from "../../fake/fake-transport.ts";
import { statusDocument } from "../../fake/node-documents.ts";
import { TimedAddress } from "../../fake/timed-address.ts";

const named = jsonReply(statusDocument("pg1"), 503);
const nameless = jsonReply(statusDocument("pg1", { patroni: { version: "3.0.2", scope: "demo" } }), 503);
/** A list of one member. */
const listOf = (name: string): NodeReply =>
  jsonReply({ scope: "demo", members: [{ name, role: "replica", api_url: `http://${name}:8008/patroni` }] });
/** Lists with and without the member that answers. */
const listed = listOf("pg1");
const unlisted = listOf("pg9");
const refused = failedReply("refused");
const timeout = failedReply("timeout");
const notSent = failedReply("not_sent");

/** Answers of `GET /leader` and `GET /cluster`. */
const answering =
  (leader: NodeReply, cluster: NodeReply) =>
  (path: string): NodeReply =>
    path === "/leader" ? leader : cluster;

describe("how long after its last request a configured address is asked for its list again", () => {
  const rows: readonly (readonly [string, leader: NodeReply, cluster: NodeReply, ms: number])[] = [
    ["the shortest interval of lists after an answer", named, unlisted, 2_700],
    ["the same after an answer of an address that answers nothing else", refused, unlisted, 2_700],
    ["the interval of probes after a failure", named, refused, 1_000],
    ["the same after a failure of an address that answers nothing at once", refused, refused, 1_000],
    ["10 s after a request that hung, as it does while the DCS is down", named, timeout, 10_000],
    ["nothing if the address answers nothing in time: it need not be spared", timeout, timeout, 0],
  ];
  for (const [title, leader, cluster, ms] of rows)
    test(title, async () => {
      const timed = new TimedAddress(answering(leader, cluster), { isConfigured: true });
      await timed.probeAfter(0);
      if (ms > 0) await timed.probeAfter(ms - 1);
      assert.deepEqual(timed.sentAt("/cluster"), [0]);
      await timed.probeAfter(Math.min(1, ms));
      assert.deepEqual(timed.sentAt("/cluster"), [0, ms]);
    });

  test("twice as long after each request that hangs, up to 60 s, until one does not", async () => {
    const timed = new TimedAddress(answering(named, timeout), { isConfigured: true });
    await timed.probeAfter(0);
    for (const ms of [10_000, 20_000, 40_000, 60_000, 60_000, 1_000, 10_000]) {
      const before = timed.sentAt("/cluster");
      await timed.probeAfter(ms - 1);
      assert.deepEqual(timed.sentAt("/cluster"), before);
      // The fifth request fails at once.
      timed.respond = answering(named, before.length === 5 ? refused : timeout);
      await timed.probeAfter(1);
      assert.deepEqual(timed.sentAt("/cluster"), [...before, (before.at(-1) ?? NaN) + ms]);
    }
  });
});

describe("what is asked of an address", () => {
  const rows: readonly (readonly [string, boolean, NodeReply, lists: number])[] = [
    ["a configured one is asked for its list", true, named, 1],
    ["also if it answers nothing else", true, refused, 1],
    ["once, if it states no name", true, nameless, 1],
    ["another one is not asked for its list if it states a name", false, named, 0],
    ["nor if it does not answer", false, refused, 0],
    ["but if it states no name, its list shows who it is", false, nameless, 1],
  ];
  for (const [title, isConfigured, leader, lists] of rows)
    test(title, async () => {
      // A list that is due at once again shows a second request.
      const timed = new TimedAddress(answering(leader, unlisted), { isConfigured, clusterIntervalMs: 0 });
      await timed.probeAfter(0);
      assert.equal(timed.sentAt("/leader").length, 1);
      assert.equal(timed.sentAt("/cluster").length, lists);
      timed.prober.stop();
    });
});

test("each probe of a configured address opens a connection: several servers may be behind it; others keep theirs", async () => {
  for (const [isConfigured, opened] of [
    [true, 4],
    [false, 1],
  ] as const) {
    const timed = new TimedAddress(answering(named, refused), { isConfigured, intervalMs: 10_000 });
    for (let time = 0; time < 3; time += 1) await timed.probeAfter(1);
    // The list has a connection of its own.
    assert.equal(timed.connections.opened, isConfigured ? opened + 1 : opened);
  }
});

test("an address that is stopped while it is asked is neither recorded nor asked for its list", async () => {
  for (const isConfigured of [true, false]) {
    let answer: (reply: NodeReply) => void = () => {};
    const timed = new TimedAddress(
      (path) => (path === "/leader" ? new Promise((resolve) => (answer = resolve)) : refused),
      {
        isConfigured,
      },
    );
    await timed.probeAfter(0);
    timed.recorded.length = 0;
    timed.prober.stop();
    answer(nameless);
    await runPendingTasks();
    assert.deepEqual(timed.recorded, []);
    assert.deepEqual(timed.sentAt("/cluster"), isConfigured ? [0] : []);
    assert.equal(timed.timers, 0);
  }
});

describe("the intervals of an address", () => {
  /** The intervals between its first probes. */
  const intervalsOf = async (timed: TimedAddress, count: number): Promise<readonly number[]> => {
    await timed.probeAfter(0);
    while (timed.sentAt("/leader").length <= count) await timed.pass(500);
    timed.prober.stop();
    const atMs = timed.sentAt("/leader");
    return atMs.slice(1).map((ms, before) => ms - (atMs[before] ?? NaN));
  };
  const rows: readonly (readonly [string, boolean, (probe: number) => NodeReply, readonly number[]])[] = [
    ["are long if it is configured and answers", true, () => named, [3_000, 3_000, 3_000]],
    ["are short if it is another one, although it answers", false, () => named, [1_000, 1_000, 1_000]],
    ["grow from the third failure on", false, () => refused, [1_000, 1_000, 2_000, 4_000, 5_000, 5_000]],
    ["are short, and grow, for a configured one that fails", true, () => refused, [1_000, 1_000, 2_000, 4_000, 5_000]],
    [
      "are as before after an answer",
      false,
      (probe) => (probe === 4 ? named : refused),
      [1_000, 1_000, 2_000, 1_000, 1_000, 1_000, 2_000],
    ],
    [
      "do not grow by a lack of this machine, nor end to grow",
      false,
      (probe) => (probe === 3 ? notSent : refused),
      [1_000, 1_000, 1_000, 2_000, 4_000],
    ],
    ["are long for a configured one that this machine could not ask", true, () => notSent, [3_000, 3_000]],
  ];
  for (const [title, isConfigured, leader, expected] of rows)
    test(title, async () => {
      let probe = 0;
      const timed = new TimedAddress((path) => (path === "/leader" ? leader((probe += 1)) : unlisted), {
        isConfigured,
      });
      assert.deepEqual(await intervalsOf(timed, expected.length), expected);
    });

  test("are short while a configured one may be a member's own, that is until it has answered three times", async () => {
    const timed = new TimedAddress(answering(named, listed), { isConfigured: true });
    assert.deepEqual(await intervalsOf(timed, 4), [1_000, 1_000, 3_000, 3_000]);
  });
});

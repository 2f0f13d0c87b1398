import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  eventObject,
  type ReadyAddress,
  serviceEvent,
} from "../../../../src/features/kubernetes/core/service-event.ts";

function at(number: number): ReadyAddress {
  return { ip: `10.0.0.${number}`, port: 5432 };
}

const members = [1, 2, 3].map((number) => ({
  node: `pg${number}`,
  address: at(number),
  isFit: false,
  isServing: false,
  isSilent: false,
  isUnreached: false,
  why: number === 1 ? "down" : number === 2 ? "wrong_role" : null,
  zone: null,
}));

const one = [at(1)];
const two = [at(2)];

/** What is ready before and after, whether the Service leads to the primary, and what is reported. */
const rows: readonly (readonly [
  string,
  readonly ReadyAddress[] | null,
  readonly ReadyAddress[] | null,
  boolean,
  string | null,
])[] = [
  ["the first write", null, one, true, "Normal PrimaryChanged the primary is pg1 (10.0.0.1:5432)"],
  [
    "another primary",
    one,
    two,
    true,
    "Normal PrimaryChanged the primary is pg2 (10.0.0.2:5432), in place of pg1 (10.0.0.1:5432)",
  ],
  ["a primary after none", [], one, true, "Normal PrimaryChanged the primary is pg1 (10.0.0.1:5432)"],
  ["no change", one, one, true, null],
  ["nobody", one, [], true, "Warning NoPrimary no primary: pg1 is down, pg2 is wrong_role"],
  ["nobody at the start", null, [], true, "Warning NoPrimary no primary: pg1 is down, pg2 is wrong_role"],
  [
    "an address that no member has any more",
    [at(9)],
    one,
    true,
    "Normal PrimaryChanged the primary is pg1 (10.0.0.1:5432), in place of 10.0.0.9:5432",
  ],
  [
    "no evidence",
    one,
    null,
    true,
    "Warning NotKnown rolecall does not see the nodes any more; the Service leads on to where it led",
  ],
  ["no member for reads", two, [], false, "Warning NoMember no member is fit: pg1 is down, pg2 is wrong_role"],
  ["other members for reads", two, [at(2), at(3)], false, null],
  ["members in another order", [at(3), at(2)], [at(2), at(3)], false, null],
  [
    "members for reads after none",
    [],
    [at(2), at(3)],
    false,
    "Normal MembersReady the Service leads to pg2 (10.0.0.2:5432) and pg3 (10.0.0.3:5432)",
  ],
];

describe("what is reported of a Service", () => {
  for (const [what, before, after, isOfPrimary, expected] of rows)
    test(what, () => {
      const event = serviceEvent(before, after, { isOfPrimary, members });
      assert.equal(event === null ? null : [event.type, event.reason, event.message].join(" "), expected);
    });

  test("many members are counted, and a message is never longer than the API server takes", () => {
    const many = Array.from({ length: 300 }, (_, index) => ({
      ...members[0],
      node: `${"long-name".repeat(40)}${index}`,
      address: at(index),
      why: "down",
    })) as unknown as typeof members;
    const ready = many.map(({ address }) => address);
    const message = serviceEvent([], ready, { isOfPrimary: false, members: many })?.message;
    assert.equal(message, "the Service leads to 300 members");
    const none = serviceEvent(null, [], { isOfPrimary: true, members: many });
    assert.ok(none !== null);
    const sliced = { namespace: "databases", name: "orders", uid: "u" };
    const written = eventObject(sliced, none, { instance: "edge-1", wallMs: 1_700_000_000_999 }) as {
      readonly message: string;
      readonly firstTimestamp: string;
    };
    assert.equal(written.message.length, 1_024);
    assert.equal(written.firstTimestamp, "2023-11-14T22:13:20Z");
  });
});

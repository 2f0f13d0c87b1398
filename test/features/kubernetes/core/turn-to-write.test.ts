import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { turnOf, type TurnInputs } from "../../../../src/features/kubernetes/core/turn-to-write.ts";
import type { ServiceContent, Unready } from "../../../../src/features/kubernetes/core/service-content.ts";

/** A Service of one slice, of which this address is ready; with `null` nobody is, for this reason. */
function content(ready: string | null, unready: Unready = ready === null ? "refused" : null): ServiceContent {
  const endpoints = ["10.0.0.1", "10.0.0.2"].map((ip) => {
    const isReady = ip === ready;
    return { ip, isReady, isServing: isReady, zone: null, pod: null };
  });
  return { slices: [{ family: "IPv4", port: 5432, portName: "", endpoints }], unready };
}

const one = content("10.0.0.1");
const two = content("10.0.0.2");
const renamed = { ...one, slices: one.slices.map((slice) => ({ ...slice, portName: "postgres" })) };
const nobody = content(null);
const unreached = content(null, "unreached");
/** The same as {@link one}, and somebody has changed what else rolecall states. */
const altered = { ...one };
const dead = false;

/** What I say, what is published, by whom, whether that one lives, and what I do. */
const rows: readonly (readonly [string, TurnInputs["mine"], ServiceContent | null, string | null, boolean, string])[] =
  [
    ["the first write", one, null, null, dead, "write"],
    ["nothing is known yet", "starting", null, null, dead, "silent"],
    ["a restarted writer has not judged yet", "starting", one, "me", true, "silent"],
    ["all is said, by me", one, one, "me", true, "agreed"],
    ["all is said, by another one that lives", one, one, "other", true, "agreed"],
    ["all is said, by one that is dead: nothing is written for its death", one, one, "other", dead, "agreed"],
    ["all is said, by one that has resigned", one, one, null, dead, "agreed"],
    ["the port of the Service has another name", renamed, one, "me", true, "write"],
    ["somebody has changed what I have written", one, altered, "me", true, "write"],
    ["somebody has changed what another one has written, which lives", one, altered, "other", true, "left"],
    ["somebody has changed what another one has written, which is dead", one, altered, "other", dead, "write"],
    ["a change, and I am the writer", two, one, "me", true, "write"],
    ["a change, and my Lease is not renewed: what I have written is conditional", two, one, "me", dead, "write"],
    ["a change, and another one that lives is the writer", two, one, "other", true, "left"],
    ["a change, and the writer is dead", two, one, "other", dead, "write"],
    ["a change, and the writer has resigned", two, one, null, dead, "write"],
    ["nobody is ready for me, another one that lives says yes", nobody, one, "other", true, "left"],
    ["I cannot reach a member, another one that lives says yes", unreached, one, "other", true, "left"],
    ["a living writer cannot reach a member, and I have a yes", one, unreached, "other", true, "write"],
    ["a living writer has evidence for its no, and I have a yes", one, nobody, "other", true, "left"],
    ["a living writer cannot reach a member, and I have evidence for a no", nobody, unreached, "other", true, "left"],
    ["the writer finds evidence for its no", nobody, unreached, "me", true, "write"],
    ["I have lost my evidence, and am the writer", "blind", one, "me", true, "resign"],
    ["I have lost my evidence, and am not the writer", "blind", one, "other", true, "silent"],
    ["I have lost my evidence, and have resigned", "blind", one, null, dead, "silent"],
    ["I have lost my evidence before anything is published", "blind", null, null, dead, "silent"],
  ];

describe("who writes the slices of a Service", () => {
  for (const [what, mine, said, writer, writerLives, expected] of rows)
    test(what, () => {
      const published = said === null ? null : { ...said, writer, isAltered: said === altered };
      assert.equal(turnOf({ me: "me", mine, published, writerLives }), expected);
    });

  test("a slice without endpoints says nothing", () => {
    const left = { family: "IPv6", port: 5432, portName: "", endpoints: [] } as const;
    const published = { slices: [...one.slices, left], unready: null, writer: "other", isAltered: false };
    assert.equal(turnOf({ me: "me", mine: one, published, writerLives: false }), "agreed");
  });

  test("any two rolecalls that live and keep what they say come to rest within two writes", () => {
    const says = [one, two, nobody, unreached, "blind", "starting"] as const;
    for (const [first, second] of says.flatMap((mine) => says.map((other) => [mine, other] as const))) {
      let published: TurnInputs["published"] = null;
      let writes = 0;
      for (let round = 0; round < 10; round += 1)
        for (const [me, mine] of [
          ["a", first],
          ["b", second],
        ] as const) {
          const turn = turnOf({ me, mine, published, writerLives: true });
          if (turn === "write" && typeof mine !== "string") published = { ...mine, writer: me, isAltered: false };
          if (turn === "resign" && published !== null) published = { ...published, writer: null };
          if (turn === "write" || turn === "resign") writes += 1;
        }
      assert.ok(writes <= 2, `${JSON.stringify([first, second])}: ${writes} writes`);
    }
  });
});

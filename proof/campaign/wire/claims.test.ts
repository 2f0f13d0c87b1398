import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Evidence } from "./evidence.ts";
import type { Served } from "./served.ts";

const gapMs = 3_000;

/** Answers of pg1, one a second from second 0 on: Y claims the lock, N denies it, S is silence. */
function evidenceOf(row: string, change: (served: Served, second: number) => void = () => {}): Evidence {
  const evidence = new Evidence({ timeoutMs: 500, slackMs: 50 }, "demo");
  for (const [second, letter] of Array.from(row).entries()) {
    if (letter === "S") continue;
    const served: Served = {
      node: "pg1",
      kind: "status",
      path: "/patroni",
      arrivedMs: second * 1_000,
      doneMs: second * 1_000 + 10,
      isBroken: false,
      status: letter === "Y" ? 200 : 503,
      document: { patroni: { scope: "demo" } },
      isGenuine: true,
    };
    change(served, second);
    evidence.note(served);
  }
  return evidence;
}

/** Answers so late that rolecall may or may not have taken it before its timeout. */
function late(at: number): (served: Served, second: number) => void {
  return (served, second) => {
    if (second === at) served.doneMs = served.arrivedMs + 500;
  };
}

suite("claims", () => {
  test("a claim lasts from its first answer to its newest one", () => {
    const { claims } = evidenceOf("NYYYY");
    assert.deepEqual(claims.longest("pg1", gapMs), { firstMs: 1_000, newestMs: 4_000 });
    assert.deepEqual(claims.shortest("pg1", gapMs), { firstMs: 1_000, newestMs: 4_000 });
    assert.equal(claims.longest("pg2", gapMs), null);
    assert.equal(evidenceOf("NN").claims.longest("pg1", gapMs), null);
  });

  test("a longer gap than allowed ends it", () => {
    assert.equal(evidenceOf("YYSSY").claims.longest("pg1", gapMs)?.firstMs, 0);
    assert.equal(evidenceOf("YYSSSY").claims.longest("pg1", gapMs)?.firstMs, 5_000);
  });

  test("a denial between ends it; one that rolecall may not have taken ends only the shortest", () => {
    const sure = evidenceOf("YYNYY").claims;
    assert.deepEqual([sure.longest("pg1", gapMs)?.firstMs, sure.shortest("pg1", gapMs)?.firstMs], [3_000, 3_000]);
    const unsure = evidenceOf("YYNYY", late(2)).claims;
    assert.deepEqual([unsure.longest("pg1", gapMs)?.firstMs, unsure.shortest("pg1", gapMs)?.firstMs], [0, 3_000]);
  });

  test("a suspend of rolecall's machine lengthens only the longest", () => {
    const evidence = evidenceOf("YYSSSSY");
    evidence.suspend(1_500, 4_000);
    const { claims } = evidence;
    assert.deepEqual([claims.longest("pg1", gapMs)?.firstMs, claims.shortest("pg1", gapMs)?.firstMs], [0, 6_000]);
    assert.equal(claims.surelyLastedMs("pg1", 0, 5_000), 3_500);
  });

  test("answers of another cluster do not count", () => {
    const { claims } = evidenceOf("YYY", (served, second) => {
      if (second === 2) served.document = { patroni: { scope: "other" } };
    });
    assert.equal(claims.longest("pg1", gapMs)?.newestMs, 1_000);
  });

  test("what surely lasted counts the answers that rolecall has taken from the node itself, since an instant", () => {
    assert.equal(evidenceOf("YYYYY").claims.surelyLastedMs("pg1", 500, gapMs), 3_000);
    assert.equal(evidenceOf("YYNYY").claims.surelyLastedMs("pg1", 0, gapMs), 4_000);
    assert.equal(evidenceOf("YYSSSY").claims.surelyLastedMs("pg1", 0, gapMs), 0);
    assert.equal(evidenceOf("YYYYY", late(4)).claims.surelyLastedMs("pg1", 0, gapMs), 3_000);
    const clone = evidenceOf("YYYYY", (served, second) => Object.assign(served, { isGenuine: second !== 4 }));
    assert.equal(clone.claims.surelyLastedMs("pg1", 0, gapMs), 3_000);
    assert.equal(evidenceOf("NN").claims.surelyLastedMs("pg1", 0, gapMs), 0);
  });
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { auditOf, sumOfAudits } from "./ledger.ts";

describe("the audit of the rows that clients wrote", () => {
  const ledger = { client: 3, sent: 4, failed: new Set([2]) };
  const fine = { acknowledged: 3, lost: [], doubled: [], foreign: [], unacknowledged: 0 };

  test("every acknowledged transaction is there once, in any order", () => {
    assert.deepEqual(auditOf(ledger, [4, 1, 3]), fine);
  });

  test("a transaction that failed may be there, once", () => {
    assert.deepEqual(auditOf(ledger, [1, 2, 3, 4]), { ...fine, unacknowledged: 1 });
    assert.deepEqual(auditOf(ledger, [1, 2, 2, 3, 4]), {
      ...fine,
      unacknowledged: 1,
      doubled: ["client 3, transaction 2"],
    });
  });

  test("counts what was acknowledged and is not there", () => {
    assert.deepEqual(auditOf(ledger, [1, 3]), { ...fine, lost: ["client 3, transaction 4"] });
  });

  test("counts what is there twice", () => {
    assert.deepEqual(auditOf(ledger, [1, 3, 4, 4, 4]), { ...fine, doubled: ["client 3, transaction 4"] });
  });

  test("counts what nobody sent", () => {
    assert.deepEqual(auditOf(ledger, [0, 1, 3, 4, 5]), {
      ...fine,
      foreign: ["client 3, transaction 0", "client 3, transaction 5"],
    });
  });

  test("adds up", () => {
    const { acknowledged, lost } = sumOfAudits([auditOf(ledger, [1, 3, 4]), auditOf({ ...ledger, client: 4 }, [])]);
    assert.equal(acknowledged, 6);
    assert.deepEqual(
      lost,
      [1, 3, 4].map((seq) => `client 4, transaction ${seq}`),
    );
  });
});

/** The part of a replica in synchronous replication, as far as its document can be read. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Report } from "../../../../src/core/cluster/documents/report.ts";
import type { Rule, RuleContext } from "../../../../src/core/health/rules/rule.ts";
import { asynchronous, inQuorum, synchronous } from "../../../../src/core/health/rules/synchrony.ts";
import { reportOf } from "../../../fake/node-documents.ts";

type Part = Pick<Report, "isSyncStandby" | "isQuorumStandby" | "unreadable">;

const none: Part = { isSyncStandby: false, isQuorumStandby: false, unreadable: [] };
const rows: readonly (readonly [given: string, part: Part, accepts: readonly Rule[], shown: string])[] = [
  ["neither", none, [asynchronous], "asynchronous standby"],
  ["a synchronous standby", { ...none, isSyncStandby: true }, [synchronous], "synchronous standby"],
  ["a standby of the quorum", { ...none, isQuorumStandby: true }, [inQuorum], "quorum standby"],
  ["a standby that may be synchronous", { ...none, unreadable: ["isSyncStandby"] }, [], "unreadable"],
  ["a standby that may be of the quorum", { ...none, unreadable: ["isQuorumStandby"] }, [], "unreadable"],
  ["a standby without a readable scope", { ...none, unreadable: ["scope"] }, [asynchronous], "asynchronous standby"],
];

suite("a replica is", () => {
  for (const [given, part, accepts, shown] of rows)
    test(given, () => {
      const context = { report: { ...reportOf("pg2"), ...part } } as RuleContext;
      for (const rule of [synchronous, inQuorum, asynchronous]) {
        assert.equal(rule.judge(context).fit, accepts.includes(rule));
        assert.equal(rule.show(context, null)[0]?.value, shown);
      }
    });
});

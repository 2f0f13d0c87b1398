import type { Report } from "../../cluster/documents/report.ts";
import { fit, unfit } from "../verdict.ts";
import type { Rule } from "./rule.ts";

/** The node is a synchronous standby. */
export const synchronous: Rule = {
  judge: ({ report }) => (report.isSyncStandby ? fit : unfit("not_sync")),
  show: ({ report }) => [{ rule: "synchrony", value: kindOf(report), limit: "synchronous standby" }],
};

/** The node is a standby of the quorum. */
export const inQuorum: Rule = {
  judge: ({ report }) => (report.isQuorumStandby ? fit : unfit("not_quorum")),
  show: ({ report }) => [{ rule: "synchrony", value: kindOf(report), limit: "quorum standby" }],
};

/** The node is neither. */
export const asynchronous: Rule = {
  judge: ({ report }) => (isSynchronous(report) ? unfit("not_async") : fit),
  show: ({ report }) => [{ rule: "synchrony", value: kindOf(report), limit: "asynchronous" }],
};

/** A node whose part cannot be read may be synchronous. */
function isSynchronous({ isSyncStandby, isQuorumStandby, unreadable }: Report): boolean {
  return isSyncStandby || isQuorumStandby || isPartUnreadable({ unreadable });
}

function isPartUnreadable({ unreadable }: Pick<Report, "unreadable">): boolean {
  return unreadable.includes("isSyncStandby") || unreadable.includes("isQuorumStandby");
}

function kindOf({ isSyncStandby, isQuorumStandby, unreadable }: Report): string {
  if (isPartUnreadable({ unreadable })) return "unreadable";
  return isSyncStandby ? "synchronous standby" : isQuorumStandby ? "quorum standby" : "asynchronous standby";
}

import { unreadableFields, type Report, type Sender } from "../../cluster/documents/report.ts";
import { impliedReport } from "../../cluster/incident/incident.ts";
import { failureKinds, type Failure } from "../../cluster/values/failure.ts";
import { isNoLoadBalance, parseTags } from "../../cluster/values/tags.ts";
import type { Reading, Repetition } from "./reading.ts";
import type { Surroundings } from "./surroundings.ts";

const reportKeys = [
  "failure",
  "lock",
  "role",
  "state",
  "timeline",
  "position",
  "location",
  "received",
  "replayed",
  "replication_state",
  "senders",
  "sync_standby",
  "quorum_standby",
  "failsafe",
  "pause",
  "dcs_last_seen",
  "tags",
  "system",
  "scope",
  "name",
  "version",
  "unreadable",
];

type Result = { readonly report: Report; readonly hasLock: boolean } | { readonly failure: Failure };

/** Reads the result of one request for a node's status. */
export function statusResult(node: string, section: Reading, { of, repetition }: Surroundings): Result {
  const value = section.mapping(reportKeys);
  if (!value("failure").isAbsent) {
    section.mapping(["failure"]);
    const kind = value("failure").oneOf(failureKinds);
    return { failure: { kind, detail: kind } };
  }
  const hasLock = value("lock").flag(false);
  const implied = impliedReport(node, hasLock, of);
  const role = value("role").text(implied.role);
  const tags = value("tags").isAbsent ? implied.tags : parseTags(value("tags").raw());
  const report: Report = {
    ...implied,
    role,
    state: value("state").text(implied.state),
    timeline: value("timeline").isNull ? null : value("timeline").count(implied.timeline ?? 0),
    ...positionsOf(value, role, repetition),
    replicationState: value("replication_state").statement(implied.replicationState),
    senders: value("senders").isAbsent ? [] : value("senders").list().map(senderOf),
    isSyncStandby: value("sync_standby").flag(false),
    isQuorumStandby: value("quorum_standby").flag(false),
    isFailsafe: value("failsafe").flag(false),
    isPaused: value("pause").flag(false),
    dcsSeen: value("dcs_last_seen").count(0) || null,
    tags,
    isNoLoadBalance: isNoLoadBalance(tags),
    system: value("system").statement(implied.system),
    scope: value("scope").statement(implied.scope),
    name: value("name").statement(implied.name),
    version: value("version").statement(implied.version),
    unreadable: value("unreadable").isAbsent
      ? implied.unreadable
      : value("unreadable")
          .list()
          .map((field) => field.oneOf(unreadableFields)),
  };
  return { report, hasLock };
}

/**
 * `position` is short for the positions that a node of this kind reports: a primary's location, or a replica's received
 * and replayed positions, both equal.
 */
function positionsOf(
  value: (key: string) => Reading,
  role: string,
  repetition: Repetition,
): Pick<Report, "location" | "received" | "replayed"> {
  const position = value("position").position(repetition);
  const isPrimary = role === "primary";
  return {
    location: value("location").position(repetition) ?? (isPrimary ? position : null),
    received: value("received").position(repetition) ?? (isPrimary ? null : position),
    replayed: value("replayed").position(repetition) ?? (isPrimary ? null : position),
  };
}

function senderOf(section: Reading): Sender {
  if (section.isText) return { name: section.text(), address: null, state: "streaming" };
  const value = section.mapping(["name", "address", "state"]);
  return {
    name: value("name").reported(),
    address: value("address").statement(null),
    state: value("state").statement("streaming"),
  };
}

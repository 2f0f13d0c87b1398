import {
  exporterRoles,
  type ExporterPage,
  type ExporterReceiver,
  type ExporterSender,
} from "../../cluster/exporter/exporter-report.ts";
import { failureKinds, type Failure } from "../../cluster/values/failure.ts";
import { impliedPage, streamingOf } from "../../cluster/incident/incident-exporter.ts";
import type { ExporterOutcome } from "../../cluster/outcome.ts";
import type { Reading } from "./reading.ts";
import type { Surroundings } from "./surroundings.ts";

/** Reads the results of one node's exporter: its status, a page of metrics, or both, in this order. */
export function exporterOutcomes(node: string, section: Reading, context: Surroundings): readonly ExporterOutcome[] {
  const { cluster, sentAtMs, beganWallMs } = context;
  const value = section.mapping(["up", "page"]);
  const outcome = { kind: "exporter", cluster, node, sentAtMs, sentAtWallMs: beganWallMs + sentAtMs } as const;
  const outcomes: ExporterOutcome[] = [];
  const [up, page] = [value("up"), value("page")];
  if (!up.isAbsent)
    outcomes.push({
      ...outcome,
      result: up.isText
        ? { endpoint: "up", role: up.oneOf(exporterRoles) }
        : { endpoint: "up", failure: failureOf(up) },
    });
  if (!page.isAbsent) {
    const isFailed = page.entries().some(([key]) => key === "failure");
    outcomes.push({
      ...outcome,
      result: isFailed
        ? { endpoint: "metrics", failure: failureOf(page) }
        : { endpoint: "metrics", page: pageOf(page, context) },
    });
  }
  return outcomes;
}

function failureOf(section: Reading): Failure {
  const kind = section.mapping(["failure"])("failure").oneOf(failureKinds);
  return { kind, detail: kind };
}

const pageKeys = [
  "family",
  "pooler",
  "database_up",
  "in_recovery",
  "time",
  "system",
  "position",
  "written",
  "received",
  "replayed",
  "senders",
  "streaming",
  "receiver",
  "inserted",
  "flushed",
  "wal_waits",
  "file_waits",
  "other_waits",
  "database_bytes",
];

function pageOf(section: Reading, { of, sentAtMs, repetition }: Surroundings): ExporterPage {
  const value = section.mapping(pageKeys);
  const implied = impliedPage(of);
  const isInRecovery = value("in_recovery").truth(implied.isInRecovery);
  const position = value("position").position(repetition);
  const senders = value("senders").isAbsent
    ? []
    : value("senders")
        .list()
        .map((sender) => senderOf(sender, repetition));
  return {
    ...implied,
    family: value("family").oneOf(["pg_exporter", "postgres_exporter"], implied.family),
    isPooler: value("pooler").flag(implied.isPooler),
    isUp: value("database_up").truth(implied.isUp),
    isInRecovery,
    databaseTimeS: value("time").figure(sentAtMs / 1000),
    system: value("system").statement(implied.system),
    written: value("written").position(repetition) ?? (isInRecovery === true ? null : position),
    received: value("received").position(repetition) ?? (isInRecovery === true ? position : null),
    replayed: value("replayed").position(repetition) ?? (isInRecovery === true ? position : null),
    senders,
    streaming: value("streaming").isNull ? null : value("streaming").count(streamingOf(senders)),
    receiver: value("receiver").isAbsent ? null : receiverOf(value("receiver")),
    disk: {
      inserted: value("inserted").position(repetition),
      flushed: value("flushed").position(repetition),
      walWaits: countOf(value("wal_waits")),
      fileWaits: countOf(value("file_waits")),
      otherWaits: countOf(value("other_waits")),
      databaseBytes: countOf(value("database_bytes")),
    },
  };
}

function countOf(section: Reading): number | null {
  return section.isAbsent ? null : section.count(0);
}

function senderOf(section: Reading, repetition: Surroundings["repetition"]): ExporterSender {
  if (section.isText) return { name: section.text(), address: null, isStreaming: true, replayed: null };
  const value = section.mapping(["name", "address", "streaming", "replayed"]);
  return {
    name: value("name").reported(),
    address: value("address").statement(null),
    isStreaming: value("streaming").flag(true),
    replayed: value("replayed").position(repetition),
  };
}

function receiverOf(section: Reading): ExporterReceiver {
  const value = section.mapping(["host", "port", "streaming"]);
  return {
    host: value("host").text(),
    port: value("port").isAbsent ? null : value("port").count(0),
    isStreaming: value("streaming").flag(true),
  };
}

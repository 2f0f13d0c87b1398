import {
  exporterRoles,
  type ExporterPage,
  type ExporterReceiver,
  type ExporterSender,
} from "../../src/cluster/exporter/exporter-report.ts";
import { failureKinds, type Failure } from "../../src/cluster/values/failure.ts";
import { ordinaryPage, streamingOf } from "../../src/cluster/incident/incident-exporter.ts";
import type { ExporterOutcome } from "../../src/cluster/outcome.ts";
import type { Reading } from "./reading.ts";
import type { Surroundings } from "./surroundings.ts";

/** Reads the results of one node's exporter: its status, a page of metrics, or both, in this order. */
export function exporterOutcomes(node: string, section: Reading, around: Surroundings): readonly ExporterOutcome[] {
  const { cluster, sentAtMs } = around;
  const said = section.mapping(["up", "page"]);
  const heard = { kind: "exporter", cluster, node, sentAtMs, sentAtWallMs: sentAtMs } as const;
  const outcomes: ExporterOutcome[] = [];
  const [up, page] = [said("up"), said("page")];
  if (!up.isAbsent)
    outcomes.push({
      ...heard,
      result: up.isText
        ? { endpoint: "up", role: up.oneOf(exporterRoles) }
        : { endpoint: "up", failure: failureOf(up) },
    });
  if (!page.isAbsent) {
    const isFailed = page.entries().some(([key]) => key === "failure");
    outcomes.push({
      ...heard,
      result: isFailed
        ? { endpoint: "metrics", failure: failureOf(page) }
        : { endpoint: "metrics", page: pageOf(page, around) },
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
];

function pageOf(section: Reading, { of, sentAtMs, repetition }: Surroundings): ExporterPage {
  const said = section.mapping(pageKeys);
  const ordinary = ordinaryPage(of);
  const isInRecovery = said("in_recovery").truth(ordinary.isInRecovery);
  const position = said("position").position(repetition);
  const senders = said("senders").isAbsent
    ? []
    : said("senders")
        .list()
        .map((sender) => senderOf(sender, repetition));
  return {
    ...ordinary,
    family: said("family").oneOf(["pg_exporter", "postgres_exporter"], ordinary.family),
    isPooler: said("pooler").flag(ordinary.isPooler),
    isUp: said("database_up").truth(ordinary.isUp),
    isInRecovery,
    databaseTimeS: said("time").figure(sentAtMs / 1000),
    system: said("system").statement(ordinary.system),
    written: said("written").position(repetition) ?? (isInRecovery === true ? null : position),
    received: said("received").position(repetition) ?? (isInRecovery === true ? position : null),
    replayed: said("replayed").position(repetition) ?? (isInRecovery === true ? position : null),
    senders,
    streaming: said("streaming").isNull ? null : said("streaming").count(streamingOf(senders)),
    receiver: said("receiver").isAbsent ? null : receiverOf(said("receiver")),
  };
}

function senderOf(section: Reading, repetition: Surroundings["repetition"]): ExporterSender {
  if (section.isText) return { name: section.text(), address: null, isStreaming: true, replayed: null };
  const said = section.mapping(["name", "address", "streaming", "replayed"]);
  return {
    name: said("name").text(),
    address: said("address").statement(null),
    isStreaming: said("streaming").flag(true),
    replayed: said("replayed").position(repetition),
  };
}

function receiverOf(section: Reading): ExporterReceiver {
  const said = section.mapping(["host", "port", "streaming"]);
  return {
    host: said("host").text(),
    port: said("port").isAbsent ? null : said("port").count(0),
    isStreaming: said("streaming").flag(true),
  };
}

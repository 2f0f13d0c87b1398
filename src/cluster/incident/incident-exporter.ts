import type { ExporterPage, ExporterReceiver, ExporterSender } from "../exporter/exporter-report.ts";
import { otherThan, position, type IncidentCluster, type IncidentValue } from "./incident-yaml.ts";
import type { ExporterResult } from "../outcome.ts";

/**
 * A page that needs no words in an incident file: pg_exporter's, of a primary without standbys, with its position unknown. What is shown
 * and never judged by is not in the format.
 */
export function ordinaryPage({ system }: IncidentCluster): ExporterPage {
  return {
    family: "pg_exporter",
    isPooler: false,
    isUp: true,
    isInRecovery: false,
    databaseTimeS: null,
    serverVersion: null,
    system,
    timeline: null,
    written: null,
    received: null,
    replayed: null,
    lagSeconds: null,
    isReplayPaused: null,
    senders: [],
    streaming: 0,
    receiver: null,
    samples: 1,
  };
}

/** Writes down what one asking of an exporter brought, as an operator would (docs/incidents.md, `exporters`). */
export function exporterValue(said: ExporterResult, of: IncidentCluster): IncidentValue {
  const key = said.asked === "up" ? "up" : "page";
  if ("failure" in said) return { [key]: { failure: said.failure.kind } };
  return { [key]: said.asked === "up" ? said.word : pageValue(said.page, ordinaryPage(of)) };
}

function pageValue(page: ExporterPage, ordinary: ExporterPage): IncidentValue {
  return {
    ...otherThan("family", page.family, ordinary.family),
    ...otherThan("pooler", page.isPooler, ordinary.isPooler),
    ...otherThan("database_up", page.isUp, ordinary.isUp),
    ...otherThan("in_recovery", page.isInRecovery, ordinary.isInRecovery),
    // Left out it would move on with the file's own clock.
    time: page.databaseTimeS,
    ...otherThan("system", page.system, ordinary.system),
    ...position("written", page.written),
    ...position("received", page.received),
    ...position("replayed", page.replayed),
    ...(page.senders.length === 0 ? {} : { senders: page.senders.map(senderValue) }),
    ...otherThan("streaming", page.streaming, streamingOf(page.senders)),
    ...(page.receiver === null ? {} : { receiver: receiverValue(page.receiver) }),
  };
}

/** How many standbys stream, by a page's own rows: what its count says where a file leaves it out. */
export function streamingOf(senders: readonly ExporterSender[]): number {
  return senders.filter(({ isStreaming }) => isStreaming).length;
}

/** A standby that streams, and of which no more is told, is its name alone. */
function senderValue({ name, address, isStreaming, replayed }: ExporterSender): IncidentValue {
  if (address === null && isStreaming && replayed === null) return name;
  return {
    name,
    ...otherThan("address", address, null),
    ...otherThan("streaming", isStreaming, true),
    ...position("replayed", replayed),
  };
}

function receiverValue({ host, port, isStreaming }: ExporterReceiver): IncidentValue {
  return { host, ...otherThan("port", port, null), ...otherThan("streaming", isStreaming, true) };
}

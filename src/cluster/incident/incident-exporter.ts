import {
  noDiskFigures,
  type DiskFigures,
  type ExporterPage,
  type ExporterReceiver,
  type ExporterSender,
} from "../exporter/exporter-report.ts";
import { otherThan, position, type IncidentCluster, type IncidentValue } from "./incident-yaml.ts";
import type { ExporterResult } from "../outcome.ts";

/**
 * The page that an incident file implies where it states nothing: pg_exporter's, of a primary without standbys, at an
 * unknown position. Fields that are shown but never judged are not part of the format.
 */
export function impliedPage({ system }: IncidentCluster): ExporterPage {
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
    disk: noDiskFigures,
    samples: 1,
  };
}

/** Converts the result of an exporter probe to the `exporters` section of an incident file (docs/incidents.md). */
export function exporterValue(result: ExporterResult, cluster: IncidentCluster): IncidentValue {
  const key = result.endpoint === "up" ? "up" : "page";
  if ("failure" in result) return { [key]: { failure: result.failure.kind } };
  return { [key]: result.endpoint === "up" ? result.role : pageValue(result.page, impliedPage(cluster)) };
}

function pageValue(page: ExporterPage, implied: ExporterPage): IncidentValue {
  return {
    ...otherThan("family", page.family, implied.family),
    ...otherThan("pooler", page.isPooler, implied.isPooler),
    ...otherThan("database_up", page.isUp, implied.isUp),
    ...otherThan("in_recovery", page.isInRecovery, implied.isInRecovery),
    // If omitted, it would advance with the clock of the incident file.
    time: page.databaseTimeS,
    ...otherThan("system", page.system, implied.system),
    ...position("written", page.written),
    ...position("received", page.received),
    ...position("replayed", page.replayed),
    ...(page.senders.length === 0 ? {} : { senders: page.senders.map(senderValue) }),
    ...otherThan("streaming", page.streaming, streamingOf(page.senders)),
    ...(page.receiver === null ? {} : { receiver: receiverValue(page.receiver) }),
    ...diskValue(page.disk),
  };
}

function diskValue({ inserted, flushed, walWaits, fileWaits, otherWaits, databaseBytes }: DiskFigures): {
  readonly [key: string]: IncidentValue;
} {
  return {
    ...position("inserted", inserted),
    ...position("flushed", flushed),
    ...otherThan("wal_waits", walWaits, null),
    ...otherThan("file_waits", fileWaits, null),
    ...otherThan("other_waits", otherWaits, null),
    ...otherThan("database_bytes", databaseBytes, null),
  };
}

/** Counts the streaming standbys in a page's rows: the value of `streaming` if a file omits it. */
export function streamingOf(senders: readonly ExporterSender[]): number {
  return senders.filter(({ isStreaming }) => isStreaming).length;
}

/** A streaming standby without further details is written as its name alone. */
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

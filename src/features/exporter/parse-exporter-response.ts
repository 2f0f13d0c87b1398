import { pageNames, parseExporterPage } from "../../core/cluster/exporter/exporter-page.ts";
import { exporterRoles } from "../../core/cluster/exporter/exporter-report.ts";
import type { Failure } from "../../core/cluster/observation.ts";
import type { ExporterResult } from "../../core/cluster/outcome.ts";
import { ExpositionReader } from "../../core/exposition/parser.ts";
import type { NodeConnection, NodeReply } from "../../core/probe/client/client.ts";

/**
 * The longest page read, in bytes: a database of many tables has some megabytes of metrics. The page is parsed as it
 * arrives and never buffered whole.
 */
const pageMax = 32 * 1024 * 1024;

/**
 * Reads the reply to `GET /up`. The body decides: a 200 page of HTML means a wrong path. 401, 429, 500 and redirects
 * tell nothing about the database.
 */
export function readUp(reply: NodeReply): ExporterResult {
  if ("failure" in reply) return { endpoint: "up", failure: reply.failure };
  const { status, body } = reply;
  if (status !== 200 && status !== 404 && status !== 503) {
    return { endpoint: "up", failure: { kind: "status", detail: `status ${status} where 200 or 503 was expected` } };
  }
  const text = body.subarray(0, 64).toString("latin1").trim();
  const role = exporterRoles.find((candidate) => candidate === text && body.length < 64);
  return role === undefined ? { endpoint: "up", failure: notARole(status, text) } : { endpoint: "up", role };
}

/** Fetches `GET /metrics` and parses it as it arrives. Only the metrics that are needed are kept. */
export async function fetchPage(client: NodeConnection): Promise<ExporterResult> {
  const reader = new ExpositionReader(pageNames);
  const reply = await client.getStreamed("/metrics", { bodyMax: pageMax, onData: (chunk) => reader.push(chunk) });
  if ("failure" in reply) return { endpoint: "metrics", failure: reply.failure };
  if (reply.status !== 200) {
    return {
      endpoint: "metrics",
      failure: { kind: "status", detail: `status ${reply.status} where 200 was expected` },
    };
  }
  const page = parseExporterPage(reader.end());
  if (page !== undefined) return { endpoint: "metrics", page };
  return { endpoint: "metrics", failure: { kind: "body", detail: "no metrics of a PostgreSQL exporter" } };
}

/** Returns `answered` or the kind of the failure, for metrics. */
export function outcomeOf(result: ExporterResult): Failure["kind"] | "answered" {
  return "failure" in result ? result.failure.kind : "answered";
}

function notARole(status: number, text: string): Failure {
  const what = text.startsWith("<") ? "an HTML page, so there is no such path" : JSON.stringify(text.slice(0, 40));
  return {
    kind: "body",
    detail: `status ${status} with ${what} where one of ${exporterRoles.join(", ")} was expected`,
  };
}

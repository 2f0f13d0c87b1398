import { pageNames, parseExporterPage } from "../../cluster/exporter/exporter-page.ts";
import { exporterRoles } from "../../cluster/exporter/exporter-report.ts";
import type { Failure } from "../../cluster/observation.ts";
import type { ExporterResult } from "../../cluster/outcome.ts";
import { ExpositionReader } from "../../exposition/parser.ts";
import type { NodeClient, NodeReply } from "../client/client.ts";

/** The longest page that is read, in bytes: a database of many tables says some megabytes. It is never held whole. */
const pageMax = 32 * 1024 * 1024;

/**
 * Reads the reply to `GET /up`. The body decides: a 200 page of HTML is a wrong path, and 401, 429, 500 and redirects are no
 * information (reference/exporter-api.md, section 12).
 */
export function readUp(reply: NodeReply): ExporterResult {
  if ("failure" in reply) return { endpoint: "up", failure: reply.failure };
  const { status, body } = reply;
  if (status !== 200 && status !== 404 && status !== 503) {
    return { endpoint: "up", failure: { kind: "status", detail: `status ${status} where 200 or 503 was expected` } };
  }
  const text = body.toString("latin1", 0, 64).trim();
  const word = exporterRoles.find((candidate) => candidate === text && body.length < 64);
  return word === undefined ? { endpoint: "up", failure: notAWord(status, text) } : { endpoint: "up", role: word };
}

/** Asks for a page of metrics and reads it as it comes in: what is not asked for is not held. */
export async function fetchPage(client: NodeClient): Promise<ExporterResult> {
  const reader = new ExpositionReader(pageNames);
  const reply = await client.read("/metrics", { bodyMax: pageMax, onData: (chunk) => reader.push(chunk) });
  if ("failure" in reply) return { endpoint: "metrics", failure: reply.failure };
  if (reply.status !== 200) {
    return {
      endpoint: "metrics",
      failure: { kind: "status", detail: `status ${reply.status} where 200 was expected` },
    };
  }
  const page = parseExporterPage(reader.end());
  if (page !== undefined) return { endpoint: "metrics", page };
  return { endpoint: "metrics", failure: { kind: "body", detail: "no metrics of a database's exporter" } };
}

/** The word, or how the asking failed: for the tally of askings. */
export function outcomeOf(said: ExporterResult): Failure["kind"] | "answered" {
  return "failure" in said ? said.failure.kind : "answered";
}

function notAWord(status: number, text: string): Failure {
  const what = text.startsWith("<") ? "a page of HTML, so there is no such path" : JSON.stringify(text.slice(0, 40));
  return {
    kind: "body",
    detail: `status ${status} with ${what} where one of ${exporterRoles.join(", ")} was expected`,
  };
}

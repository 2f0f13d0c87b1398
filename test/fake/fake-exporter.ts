import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { listenUntilClosed } from "./listen.ts";

/** The folder of answers recorded from real exporters. */
export const exporterFixtures: string = join("test", "fixtures", "exporter");

/** What a fake exporter answers. Tests change it while the server runs. */
export interface ExporterAnswers {
  /** `/up`: status and body; `null` for a page of HTML, as an exporter without `/up` sends. */
  up: { status: number; body: string } | null;
  /** `/metrics`; `null` never answers, as with a frozen database. */
  page: string | null;
  /** Whether the database time in each page is later than in the previous one. */
  isTimeMoving: boolean;
}

export interface FakeExporter {
  readonly answers: ExporterAnswers;
  readonly origin: string;
  /** How often each path was requested. */
  readonly requestCounts: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

/** Reads recorded answers of a real exporter: `family` is the prefix of its files, `situation` steady or lagging. */
export function recordedExporter(
  family: "pg_exporter" | "postgres_exporter",
  situation: string,
  node: string,
): ExporterAnswers {
  const name = (rest: string): string => join(exporterFixtures, `${family}-${situation}-${node}-${rest}`);
  const page = readFileSync(name("metrics.txt"), "utf8");
  if (family === "postgres_exporter") return { up: null, page, isTimeMoving: true };
  const [head = "", body = ""] = readFileSync(name("up.http"), "utf8").split(/\r?\n\r?\n/);
  return { up: { status: Number(head.split(" ")[1]), body }, page, isTimeMoving: true };
}

/** A real server on a free port that answers as an exporter. */
export async function serveFakeExporter(current: ExporterAnswers): Promise<FakeExporter> {
  const counts = new Map<string, number>();
  let scrapes = 0;
  const server = createServer((request, response) => {
    const path = request.url ?? "/";
    counts.set(path, (counts.get(path) ?? 0) + 1);
    if (path === "/metrics") {
      if (current.page === null) return;
      scrapes += current.isTimeMoving ? 1 : 0;
      const page = current.page.replace(
        /^(pg|db)_timestamp .*$/m,
        (_, prefix: string) => `${prefix}_timestamp ${1_795_242_555 + scrapes}`,
      );
      response.writeHead(200, { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" }).end(page);
      return;
    }
    if (path === "/up" && current.up !== null) {
      response.writeHead(current.up.status, { "Content-Type": "text/plain; charset=utf-8" }).end(current.up.body);
      return;
    }
    response
      .writeHead(200, { "Content-Type": "text/html; charset=UTF-8" })
      .end("<html><head><title>Exporter</title></head></html>");
  });
  const { port, close } = await listenUntilClosed(server);
  return { answers: current, origin: `http://127.0.0.1:${port}`, requestCounts: counts, close };
}

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { listenUntilClosed } from "./listen.js";
/** The folder of answers recorded from real exporters. */
export const exporterFixtures = join("test", "fixtures", "exporter");
/** Reads recorded answers of a real exporter: `family` is the prefix of its files, `situation` steady or lagging. */
export function recordedExporter(family, situation, node) {
    const name = (rest) => join(exporterFixtures, `${family}-${situation}-${node}-${rest}`);
    const page = readFileSync(name("metrics.txt"), "utf8");
    if (family === "postgres_exporter")
        return { up: null, page, isTimeMoving: true };
    const [head = "", body = ""] = readFileSync(name("up.http"), "utf8").split(/\r?\n\r?\n/);
    return { up: { status: Number(head.split(" ")[1]), body }, page, isTimeMoving: true };
}
/** A real server on a free port that answers as an exporter. */
export async function serveFakeExporter(current) {
    const counts = new Map();
    let scrapes = 0;
    const server = createServer((request, response) => {
        const path = request.url ?? "/";
        counts.set(path, (counts.get(path) ?? 0) + 1);
        if (path === "/metrics") {
            if (current.page === null)
                return;
            scrapes += current.isTimeMoving ? 1 : 0;
            const page = current.page.replace(/^(pg|db)_timestamp .*$/m, (_, prefix) => `${prefix}_timestamp ${1_795_242_555 + scrapes}`);
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
//# sourceMappingURL=fake-exporter.js.map
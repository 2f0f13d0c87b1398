import { createServer, get, type Server } from "node:http";
import type { Cluster } from "../run/cluster.ts";

/** The deliberate errors of a toy. */
export type Lie = "none" | "two primaries" | "never stale" | "refuses" | "wrong reason" | "no window";

interface Known {
  status: number;
  document: {
    role?: string;
    xlog?: { location?: number; received_location?: number; replayed_location?: number };
  } | null;
  sentMs: number;
  movedMs: number;
  top: number;
}

/**
 * A minimal stub of rolecall for one cluster. It polls `GET /leader` and trusts every response.
 * It can be configured to lie.
 */
export class Toy {
  lie: Lie = "none";
  readonly #cluster: Cluster;
  readonly #known = new Map<string, Known>();
  readonly #server: Server;
  #timer: NodeJS.Timeout | null = null;
  #snapshot = 0;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.#server = createServer((request, response) => {
      const url = new URL(request.url ?? "", "http://toy");
      const [, , , , node = "", route = ""] = url.pathname.split("/");
      const reason = this.#reason(node, route);
      const body = JSON.stringify({
        rolecall: {
          node,
          fit: reason === null,
          reason,
          lag_bytes: 0,
          lag_ms: 0,
          observed_at: null,
          snapshot: this.#snapshot,
          instance: "toy",
        },
      });
      const shown = this.lie === "wrong reason" && reason !== null ? "tag" : reason;
      response.sendDate = false;
      const parameter = reason === "wrong_role" ? "miss" : reason === "detached" ? "" : "unknown";
      response.writeHead(reason === null ? 200 : Number(url.searchParams.get(parameter) ?? 503), shown ?? "OK", {
        "Cache-Control": "no-store",
        "Content-Type": "application/json",
        "Content-Length": body.length,
        "X-Rolecall-Node": node,
        ...(shown === null ? {} : { "X-Rolecall-Reason": shown }),
      });
      response.end(request.method === "HEAD" ? undefined : body);
    });
  }

  /** Starts polling the nodes and serving responses; returns its port. */
  async open(): Promise<number> {
    this.#timer = setInterval(() => this.#askAll(), 60);
    await new Promise<void>((resolve) => void this.#server.listen(0, "127.0.0.1", resolve));
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()));
  }

  #askAll(): void {
    for (const { name, api } of this.#cluster.watched.nodes) {
      const sentMs = performance.now();
      const request = get(`${api}/leader`, { timeout: this.#cluster.profile.timeoutMs, agent: false }, (response) => {
        let text = "";
        response.on("data", (bytes: Buffer) => (text += bytes.toString()));
        response.on("error", () => undefined);
        response.on("end", () => this.#learn(name, { status: response.statusCode ?? 0, text, sentMs }));
      });
      request.on("timeout", () => request.destroy());
      request.on("error", () => undefined);
    }
  }

  #learn(
    name: string,
    { status, text, sentMs }: { readonly status: number; readonly text: string; readonly sentMs: number },
  ): void {
    const document = JSON.parse(text) as Known["document"];
    const top = document?.xlog?.location ?? document?.xlog?.received_location ?? 0;
    const before = this.#known.get(name);
    const movedMs = before === undefined || top > before.top ? sentMs : before.movedMs;
    this.#known.set(name, { status, document, sentMs, top, movedMs });
    this.#snapshot += 1;
  }

  #reason(node: string, route: string): string | null {
    const { maxAgeMs, attachMs } = this.#cluster.profile;
    const known = this.#known.get(node);
    if (known === undefined) return "unknown";
    if (this.lie === "refuses" && node === "pg2") return "down";
    if (this.lie === "two primaries" && route === "primary") return null;
    if (this.lie !== "never stale" && performance.now() - known.sentMs > maxAgeMs) return "stale";
    if (route === "primary") return known.status === 200 && known.document?.role === "primary" ? null : "wrong_role";
    if (known.document?.role !== "replica") return "wrong_role";
    return this.lie !== "no window" && known.sentMs - known.movedMs > attachMs ? "detached" : null;
  }
}

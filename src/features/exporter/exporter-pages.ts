import { servePage } from "../../core/http/pages/page.ts";
import type { PageGate } from "../../core/http/pages/page-gate.ts";
import { renderInOneStep, type RenderingContext } from "../../core/http/pages/rendering.ts";
import type { IncomingCall } from "../../core/http/message/incoming-call.ts";
import { exporterPageOf, reloadPath } from "./exporter-api-paths.ts";
import { pathOf } from "./target-path.ts";
import { landingReply, plainReply } from "./exporter-reply.ts";
import type { Reply } from "../../core/http/message/reply.ts";

type ShownPage = NonNullable<ReturnType<typeof exporterPageOf>>["shows"];

/** What a listener with the exporter API serves. */
export interface ExporterScope {
  readonly cluster: string;
  /** `null` for the whole cluster. */
  readonly node: string | null;
  readonly telemetryPath: string;
}

/** What the exporter API is served from. */
export interface ExporterApiContext {
  /** Limits how many pages are rendered at a time, and how often. */
  readonly gate: PageGate;
  readonly metrics: () => Promise<{ readonly pieces: readonly Buffer[]; readonly contentType: string }>;
  /** Reloads the configuration. @returns why it failed, or `null` */
  readonly reload: () => Promise<string | null>;
  readonly explain: (cluster: string, node: string | null) => string;
  readonly stat: (cluster: string, node: string | null) => string;
  readonly version: () => string;
}

/**
 * Answers what is not answered from memory as a PostgreSQL exporter does (docs/exporters.md), with our probes as its
 * collectors. Unknown paths get 404.
 */
export class ExporterApi {
  readonly #scope: ExporterScope;
  readonly #context: ExporterApiContext;

  constructor(scope: ExporterScope, context: ExporterApiContext) {
    this.#scope = scope;
    this.#context = context;
  }

  /** @returns `null` if the response is written */
  async handle(call: IncomingCall): Promise<Reply | null> {
    const { request } = call;
    const { telemetryPath } = this.#scope;
    const page = exporterPageOf(request.target, telemetryPath);
    if (page !== null) {
      const { gate } = this.#context;
      return servePage({ gate, ...page, render: (rendering) => this.#renderPage(page.shows, rendering) }, call);
    }
    switch (pathOf(request.target) ?? "") {
      case reloadPath:
        return this.#reload(request.method);
      case "/version":
        return plainReply(200, this.#context.version());
      case "/":
        return landingReply(telemetryPath);
      default:
        // The upstream exporter answers unknown paths with 200 and its landing page: a misspelt health check would
        // pass.
        return plainReply(404, "no such path");
    }
  }

  async #renderPage(page: ShownPage, rendering: RenderingContext): Promise<Reply> {
    const { cluster, node } = this.#scope;
    const { metrics, explain, stat } = this.#context;
    switch (page) {
      case "metrics": {
        const { pieces, contentType } = await metrics();
        return { ...plainReply(200, "", { type: contentType }), pieces };
      }
      case "explain":
        return renderInOneStep(rendering, () => plainReply(200, explain(cluster, node)));
      case "stat":
        return renderInOneStep(rendering, () =>
          plainReply(200, stat(cluster, node), { type: "text/plain; charset=UTF-8" }),
        );
    }
  }

  /** POST is recommended; GET is kept for compatibility. */
  async #reload(method: string): Promise<Reply> {
    if (method !== "GET" && method !== "POST") return plainReply(405, "method not allowed", { allow: "GET, POST" });
    const cause = await this.#context.reload();
    return cause === null ? plainReply(200, "server reloaded") : plainReply(500, `fail to reload: ${cause}`);
  }
}

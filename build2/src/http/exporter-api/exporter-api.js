import { exporterPageOf, pathOf, reloadPath } from "../message/exporter-paths.js";
import { scrapesMax, servePage } from "../pages/page.js";
import { renderAtOnce } from "../pages/rendering.js";
import { landingReply, plainReply } from "./exporter-reply.js";
import { ExporterRoles } from "./exporter-roles.js";
/**
 * Answers as a PostgreSQL exporter does (seeds/exporter-api.md), with our probes as its collectors. Unknown paths get
 * 404.
 */
export class ExporterApi {
    #scope;
    #context;
    #roles;
    constructor(scope, context) {
        this.#scope = scope;
        this.#context = context;
        this.#roles = new ExporterRoles(scope, context);
    }
    /** @returns `null` if the response is written */
    async handle(call) {
        const { request } = call;
        const { telemetryPath } = this.#scope;
        const page = exporterPageOf(request.target, telemetryPath);
        if (page !== null)
            return this.#servePage(page, call);
        const reply = this.#roles.answer(request);
        if (reply !== null)
            return reply;
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
    #servePage(page, call) {
        const { gate } = this.#context;
        const render = (rendering) => this.#renderPage(page, rendering);
        // All clients that wait for metrics get the same page.
        return servePage({ gate, name: `exporter ${page}`, atOnce: page === "metrics" ? scrapesMax : 1, render }, call);
    }
    async #renderPage(page, rendering) {
        const { cluster, node } = this.#scope;
        const { metrics, explain, stat } = this.#context;
        switch (page) {
            case "metrics": {
                const { pieces, contentType } = await metrics();
                return { ...plainReply(200, "", { type: contentType }), pieces };
            }
            case "explain":
                return renderAtOnce(rendering, () => plainReply(200, explain(cluster, node)));
            case "stat":
                return renderAtOnce(rendering, () => plainReply(200, stat(cluster, node), { type: "text/plain; charset=UTF-8" }));
        }
    }
    /** POST is recommended; GET is kept for compatibility. */
    async #reload(method) {
        if (method !== "GET" && method !== "POST")
            return plainReply(405, "method not allowed", { allow: "GET, POST" });
        const cause = await this.#context.reload();
        return cause === null ? plainReply(200, "server reloaded") : plainReply(500, `fail to reload: ${cause}`);
    }
}
//# sourceMappingURL=exporter-api.js.map
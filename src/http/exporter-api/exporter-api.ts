import { pathOf, reloadPath } from "../message/exporter-paths.ts";
import { landingReply, plainReply } from "./exporter-reply.ts";
import { ExporterRoles, type ExporterRolesContext } from "./exporter-roles.ts";
import type { Reply } from "../message/reply.ts";
import type { Request } from "../message/request.ts";

/** For whom a listener of the exporter dialect speaks. */
export interface ExporterScope {
  readonly cluster: string;
  /** `null`: for the cluster as a whole. */
  readonly node: string | null;
  readonly telemetryPath: string;
}

/** What the dialect answers from. The app hands it in. */
export interface ExporterApiContext extends ExporterRolesContext {
  readonly metrics: () => Promise<{ readonly pieces: readonly Buffer[]; readonly contentType: string }>;
  /** Reads the configuration again. @returns why it came to nothing, or `null` */
  readonly reload: () => Promise<string | null>;
  readonly explain: (cluster: string, node: string | null) => string;
  readonly stat: (cluster: string, node: string | null) => string;
  readonly version: () => string;
}

/** Answers as a database's exporter does (seeds/exporter-api.md); our probes are its collectors. Paths that it has not are 404. */
export class ExporterApi {
  readonly #bound: ExporterScope;
  readonly #sources: ExporterApiContext;
  readonly #roles: ExporterRoles;

  constructor(bound: ExporterScope, sources: ExporterApiContext) {
    this.#bound = bound;
    this.#sources = sources;
    this.#roles = new ExporterRoles(bound, sources);
  }

  handle(request: Request): Reply | Promise<Reply> {
    return this.#roles.answer(request) ?? this.#handleOther(pathOf(request.target), request.method);
  }

  #handleOther(path: string | null, method: string): Reply | Promise<Reply> {
    const { cluster, node, telemetryPath } = this.#bound;
    const { metrics, explain, stat, version } = this.#sources;
    if (path === telemetryPath)
      return metrics().then(({ pieces, contentType }) => ({ ...plainReply(200, "", { type: contentType }), pieces }));
    switch (path ?? "") {
      case reloadPath:
        return this.#reload(method);
      case "/explain":
        return plainReply(200, explain(cluster, node));
      case "/stat":
        return plainReply(200, stat(cluster, node), { type: "text/plain; charset=UTF-8" });
      case "/version":
        return plainReply(200, version());
      case "/":
        return landingReply(telemetryPath);
      default:
        // The upstream answers its landing page with 200 here, so that a typo in a health check passes for ever: we do not.
        return plainReply(404, "no such path");
    }
  }

  /** POST is recommended, GET is kept for compatibility. */
  async #reload(method: string): Promise<Reply> {
    if (method !== "GET" && method !== "POST") return plainReply(405, "method not allowed", { allow: "GET, POST" });
    const cause = await this.#sources.reload();
    return cause === null ? plainReply(200, "server reloaded") : plainReply(500, `fail to reload: ${cause}`);
  }
}

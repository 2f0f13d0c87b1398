import type { KubernetesConfig } from "../config/kubernetes-schema.ts";
import { type ApiPlace, readApiAccess } from "./api-access.ts";
import { ApiClient, type ApiClientContext } from "./api-client.ts";

/** The client of a process: all that calls the API server has it, over changes of the configuration. */
export class SharedClient {
  readonly #context: Omit<ApiClientContext, "readAccess">;
  #place: ApiPlace = { kubeconfig: null, context: null };
  #client: ApiClient | null = null;

  constructor(context: Omit<ApiClientContext, "readAccess">) {
    this.#context = context;
  }

  /** Where the API server is found, for people. */
  get place(): string {
    return this.#place.kubeconfig ?? "the API server of the pod";
  }

  /** The client as it is configured. */
  get client(): ApiClient {
    const place = this.#place;
    this.#client ??= new ApiClient({ ...this.#context, readAccess: () => readApiAccess(place, process.env) });
    return this.#client;
  }

  /** Calls the API server of this configuration from now on. @returns whether it is another one than before */
  configure(config: KubernetesConfig): boolean {
    const { kubeconfig = null, context = null } = config ?? {};
    if (kubeconfig === this.#place.kubeconfig && context === this.#place.context) return false;
    this.#place = { kubeconfig, context };
    this.close();
    return true;
  }

  /** Closes all connections. */
  close(): void {
    this.#client?.close();
    this.#client = null;
  }
}

/** A watcher of the slices of a Service, with a truth of its own: what the API server has said, and when. */
import { Agent, request } from "undici";
import { listOf, objectOf, parseJson } from "../../../src/core/cluster/values/json.ts";
import { KubeApi, kubeTokens } from "./kube-api.ts";
import { writerOf } from "./published-service.ts";

/** What a slice said from an instant on. */
export interface SeenSlice {
  /** In ms of the monotonic clock of this process. */
  readonly atMs: number;
  /** The addresses that are ready, of all slices of the Service together. */
  readonly ready: readonly string[];
  /** The rolecall that has written it; `null`: none, or it has resigned. */
  readonly writer: string | null;
}

/** Watches the slices of a Service until the API server ends, or the watch is stopped. */
export class SliceWatch {
  readonly seen: SeenSlice[] = [];
  readonly #agent = new Agent({ connect: { rejectUnauthorized: false }, bodyTimeout: 0 });
  readonly #slices = new Map<string, readonly string[]>();
  readonly #ending = new AbortController();

  /** Begins at what there is now. */
  static async start(kube: KubeApi, service: string): Promise<SliceWatch> {
    const watch = new SliceWatch();
    const labels = `labelSelector=kubernetes.io%2Fservice-name%3D${service}`;
    const path = `/apis/discovery.k8s.io/v1/namespaces/databases/endpointslices?${labels}`;
    const { metadata, items } = await kube.done("GET", path);
    for (const item of listOf(items)) watch.#take("ADDED", objectOf(item));
    const version = String(objectOf(metadata)["resourceVersion"]);
    void watch.#follow(`${kube.url}${path}&watch=true&timeoutSeconds=3000&resourceVersion=${version}`);
    return watch;
  }

  private constructor() {}

  /** The addresses that are ready now. */
  get ready(): readonly string[] {
    return this.seen.at(-1)?.ready ?? [];
  }

  /** When an address became the only ready one, after an instant; `null`: it has not. */
  soleSince(address: string, afterMs: number): number | null {
    return this.seen.find(({ atMs, ready }) => atMs >= afterMs && ready.join() === address)?.atMs ?? null;
  }

  /** Every moment in which two addresses were ready. */
  get twins(): readonly string[] {
    return this.seen.filter(({ ready }) => ready.length > 1).map(({ ready }) => ready.join());
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#agent.destroy();
  }

  async #follow(url: string): Promise<void> {
    let rest = "";
    try {
      const { body } = await request(url, {
        dispatcher: this.#agent,
        headers: { authorization: `Bearer ${kubeTokens.admin}` },
        signal: this.#ending.signal,
      });
      for await (const chunk of body) {
        const lines = `${rest}${String(chunk)}`.split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) {
          const { type, object } = objectOf(parseJson(line));
          this.#take(String(type), objectOf(object));
        }
      }
    } catch {
      // It was stopped, or the API server was.
    }
  }

  #take(type: string, object: Readonly<Record<string, unknown>>): void {
    const name = String(objectOf(object["metadata"])["name"]);
    const ready = listOf(object["endpoints"])
      .map(objectOf)
      .filter(({ conditions }) => objectOf(conditions)["ready"] === true)
      .flatMap(({ addresses }) => listOf(addresses).map(String));
    if (type === "DELETED") this.#slices.delete(name);
    else this.#slices.set(name, ready);
    this.seen.push({ atMs: performance.now(), ready: [...this.#slices.values()].flat(), writer: writerOf(object) });
  }
}

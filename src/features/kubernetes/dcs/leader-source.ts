import type { DcsResult } from "../../../core/cluster/dcs.ts";
import { errorMessage } from "../../../core/cluster/values/error-message.ts";
import { isObject, listOf, nameOf, objectOf, parseJson, type JsonObject } from "../../../core/cluster/values/json.ts";
import type { ClusterConfig, DcsConfig } from "../../../core/config/model/config.ts";
import type { WatchEnd } from "../../../core/etcd/etcd-messages.ts";
import { LineSplitter } from "../../../core/etcd/etcd-watch.ts";
import type { DcsChange, DcsSource, DcsWatch } from "../../../core/dcs/dcs-source.ts";
import { failureOf } from "../../../core/probe/client/failure.ts";
import { type ApiClient, problemOf } from "../api/api-client.ts";
import { hasFailover, LeaderChanges, leaderIn, leaderPlace, type LeaderPlace } from "./leader-object.ts";

/** Calls the API server as it is configured now. */
export type LeaderClient = () => Pick<ApiClient, "call" | "open" | "namespace">;

/** What Patroni keeps of a cluster in Kubernetes; `null`: it is not there. */
export function kubernetesSourceOf(
  cluster: Pick<ClusterConfig, "name" | "scope">,
  dcs: DcsConfig,
  client: LeaderClient,
): DcsSource | null {
  if (dcs.kubernetes === undefined) return null;
  return new KubernetesSource(() => leaderPlace(cluster, dcs, () => client().namespace), client);
}

/** The longest line of a watch, in bytes. */
const lineMax = 2 * 1024 * 1024;
/** How long the server keeps a watch open, in seconds, and how long it may be silent, in ms: it sends a bookmark each minute. */
const watch = { seconds: 300, silenceMs: 90_000 } as const;
/** Time between two reads without an event, in ms: a watch of Kubernetes loses none, and says each minute that it lives. */
const readIntervalMs = 30_000;

/**
 * What Patroni keeps of one cluster in Kubernetes. A list without a version is answered from the quorum of etcd: it is
 * linearizable, and its version does not decrease.
 */
export class KubernetesSource implements DcsSource {
  readonly serverCount = 1;
  readonly readIntervalMs: number = readIntervalMs;
  readonly #findPlace: () => LeaderPlace;
  readonly #client: LeaderClient;
  readonly #watches = new Set<AbortController>();
  /** The leader that was read last. */
  #leader: string | null = null;

  /** @param place where its objects are. Throws an Error if that is not known, as the namespace of a pod without a token */
  constructor(place: () => LeaderPlace, client: LeaderClient) {
    this.#findPlace = place;
    this.#client = client;
  }

  async read(): Promise<DcsResult> {
    let place: LeaderPlace;
    try {
      place = this.#findPlace();
    } catch (error) {
      return { failure: { kind: "unreachable", detail: errorMessage(error) } };
    }
    const list = await this.#list(place);
    if ("failure" in list) return list;
    const { names, path } = place;
    const leader = leaderIn(list.objects.get(names.leader));
    this.#leader = leader;
    const source = `kubernetes ${path}/${names.leader}`;
    return { read: { leader, source, revision: list.version, hasScope: list.objects.size > 0 } };
  }

  async isChangePending(): Promise<boolean | null> {
    try {
      const place = this.#findPlace();
      const list = await this.#list(place);
      return "failure" in list ? null : hasFailover(list.objects.get(place.names.failover));
    } catch {
      return null;
    }
  }

  watch(afterRevision: number, onChange: (change: DcsChange) => void): DcsWatch {
    const ending = new AbortController();
    this.#watches.add(ending);
    const changes = new LeaderChanges(this.#findPlace().names, this.#leader);
    const ended = this.#follow(afterRevision, ending, (type, object) => {
      const change = changes.changeOf(type, object);
      if (change !== null && !ending.signal.aborted) onChange(change);
    });
    return {
      ended: ended.then((end) => {
        this.#watches.delete(ending);
        // Never after the end was asked for.
        return isCancelled(ending) ? new Promise<never>(() => {}) : end;
      }),
      cancel: () => ending.abort(cancelled),
    };
  }

  close(): void {
    for (const ending of this.#watches) ending.abort(cancelled);
  }

  async #list({
    path,
    labels,
  }: LeaderPlace): Promise<
    | { readonly objects: ReadonlyMap<string, JsonObject>; readonly version: number }
    | Extract<DcsResult, { readonly failure: unknown }>
  > {
    const query = new URLSearchParams({ labelSelector: labels });
    const reply = await this.#client().call({ method: "GET", path: `${path}?${query.toString()}` });
    const problem = problemOf(reply);
    if (reply.kind === "failed") return { failure: reply.failure };
    if (problem !== null)
      return { failure: { kind: "status", detail: `the API server of Kubernetes answers ${problem.text}` } };
    const version = Number(objectOf(reply.body["metadata"])["resourceVersion"]);
    if (!Number.isSafeInteger(version) || version <= 0)
      return { failure: { kind: "body", detail: "the list must have a resourceVersion, got none" } };
    const objects = listOf(reply.body["items"])
      .filter(isObject)
      .map((object) => [nameOf(objectOf(object["metadata"])["name"], 253) ?? "", object] as const);
    return { objects: new Map(objects), version };
  }

  async #follow(
    afterRevision: number,
    ending: AbortController,
    onEvent: (type: unknown, object: JsonObject) => void,
  ): Promise<WatchEnd> {
    const { path, labels } = this.#findPlace();
    const query = new URLSearchParams({
      labelSelector: labels,
      watch: "true",
      allowWatchBookmarks: "true",
      resourceVersion: String(afterRevision),
      timeoutSeconds: String(watch.seconds),
    });
    let silence: NodeJS.Timeout | null = null;
    const heard = (): void => {
      if (silence !== null) clearTimeout(silence);
      silence = setTimeout(() => ending.abort(), watch.silenceMs);
    };
    try {
      heard();
      const stream = await this.#client().open(`${path}?${query.toString()}`, ending.signal);
      if (stream.kind === "failed") return { cause: "failed", detail: stream.failure.detail };
      if (stream.kind === "answered")
        return {
          cause: stream.status === 410 ? "compacted" : "failed",
          detail: problemOf(stream)?.text ?? "no watch",
        };
      const splitter = new LineSplitter(lineMax);
      for await (const chunk of stream.body) {
        heard();
        const lines = splitter.add(chunk);
        if (typeof lines === "string") return { cause: "flood", detail: "the watch has too long a line" };
        for (const line of lines) {
          const { type, object } = objectOf(parseJson(line));
          if (!isObject(object)) return { cause: "garbage", detail: "an event must have an object, got none" };
          if (type === "ERROR") return errorEnd(object);
          if (type !== "BOOKMARK") onEvent(type, object);
        }
      }
      return { cause: "closed", detail: "the API server ended the watch" };
    } catch (error) {
      return { cause: "closed", detail: failureOf(error).detail };
    } finally {
      if (silence !== null) clearTimeout(silence);
    }
  }
}

const cancelled = new Error("the watch is not needed any more");

function isCancelled({ signal }: AbortController): boolean {
  return signal.reason === cancelled;
}

function errorEnd({ code, message }: JsonObject): WatchEnd {
  const detail = typeof message === "string" ? message.slice(0, 300) : "an error without a message";
  return { cause: code === 410 ? "compacted" : "cancelled", detail };
}

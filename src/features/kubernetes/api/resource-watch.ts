import type { CancelTimer, SetTimer } from "../../../core/cluster/timer.ts";
import { listOf, isObject, nameOf, objectOf, parseJson, type JsonObject } from "../../../core/cluster/values/json.ts";
import { LineSplitter } from "../../../core/etcd/etcd-watch.ts";
import { failureOf } from "../../../core/probe/client/failure.ts";
import { afterFailure, afterSuccess, backoffMs, type Backoff } from "../../../core/probe/schedule/backoff.ts";
import { type ApiClient, type ApiProblem, problemOf } from "./api-client.ts";

/** The objects of one kind in a namespace, or those that a selector leaves. */
export interface WatchedResource {
  /** `/apis/discovery.k8s.io/v1/namespaces/databases/endpointslices` */
  readonly path: string;
  /** A label selector; `null`: all. */
  readonly labels: string | null;
  /** A field selector, such as `metadata.name=orders`; `null`: all. */
  readonly fields?: string | null;
  /** Keeps of each object what is needed of it. Default: all. */
  readonly slim?: (object: JsonObject) => JsonObject;
}

/** What a watch depends on, and whom it tells. */
export interface ResourceWatchContext {
  readonly client: Pick<ApiClient, "call" | "open" | "pauseMs">;
  /** A monotonic clock, in ms. */
  readonly now: () => number;
  /** A number from 0 up to 1. */
  readonly random: () => number;
  readonly setTimer: SetTimer;
  /** The objects by their names, when they are first known and with each change. */
  readonly onObjects: (objects: ReadonlyMap<string, JsonObject>, changed: string | null) => void;
  /** Why the objects are not known, or not as of now; `null`: they are. Called with each change of that. */
  readonly onProblem: (problem: ApiProblem | null) => void;
}

/** `stopped` is final. */
type WatchState =
  | { readonly phase: "new" | "stopped" }
  | { readonly phase: "listing" }
  /** `resourceVersion`: what is known. */
  | { readonly phase: "watching"; readonly resourceVersion: string; readonly ending: AbortController }
  | { readonly phase: "waiting"; readonly cancelTimer: CancelTimer };

/** How an attempt ended: with another list, or with another watch from a version on. */
type Next = { readonly kind: "list" } | { readonly kind: "watch"; readonly from: string };

/** The most objects that are kept, and how many the server gives at a time. */
const objectsMax = 20_000;
const pageSize = 500;
const pagesMax = objectsMax / 100;
/** The longest line of a watch, in bytes: etcd keeps no object of more than 1.5 MB. */
const lineMax = 2 * 1024 * 1024;
/** How long the server keeps a watch open, in seconds. */
const watchSeconds = 240;
/** How long a watch may be silent, in ms: the server sends a bookmark each minute. */
const silenceMs = 90_000;
/** A server that returns is found within a second. */
const backoff: Backoff = { firstMs: 100, maxMs: 800, failures: 0 };
/** A watch that lasts this long is no failure, in ms. */
const steadyMs = 1_000;

/** Knows the objects of one kind: lists them, watches their changes, and lists them again where a change may be lost. */
export class ResourceWatch {
  readonly #resource: WatchedResource;
  readonly #context: ResourceWatchContext;
  readonly #objects = new Map<string, JsonObject>();
  #state: WatchState = { phase: "new" };
  #backoff = backoff;
  /** As text; `undefined`: nothing is known yet. */
  #problem: string | null | undefined = undefined;

  constructor(resource: WatchedResource, context: ResourceWatchContext) {
    this.#resource = resource;
    this.#context = context;
  }

  /** Lists and watches from now on. */
  start(): void {
    if (this.#state.phase === "new") void this.#run({ kind: "list" });
  }

  /** Ends the watch. */
  stop(): void {
    if (this.#state.phase === "watching") this.#state.ending.abort();
    if (this.#state.phase === "waiting") this.#state.cancelTimer();
    this.#state = { phase: "stopped" };
  }

  async #run(first: Next): Promise<void> {
    let next: Next | null = first;
    while (next !== null && !this.#isStopped)
      next = next.kind === "list" ? await this.#list() : await this.#watch(next.from);
  }

  get #isStopped(): boolean {
    return this.#state.phase === "stopped";
  }

  async #list(): Promise<Next | null> {
    this.#state = { phase: "listing" };
    const found = new Map<string, JsonObject>();
    let more = "";
    let version = "";
    let pages = 0;
    do {
      const reply = await this.#context.client.call({
        method: "GET",
        path: this.#pathWith({ limit: String(pageSize), ...(more === "" ? {} : { continue: more }) }),
      });
      if (this.#isStopped) return null;
      const problem = problemOf(reply);
      if (reply.kind === "failed" || problem !== null) return this.#retry({ kind: "list" }, problem ?? ended);
      for (const item of listOf(reply.body["items"])) this.#keep(found, item);
      pages += 1;
      if (found.size > objectsMax || pages > pagesMax)
        return this.#retry({ kind: "list" }, refused(`there are more than ${objectsMax} objects`));
      const metadata = objectOf(reply.body["metadata"]);
      more = typeof metadata["continue"] === "string" ? metadata["continue"] : "";
      version = versionOf(metadata) ?? "";
    } while (more !== "");
    if (version === "") return this.#retry({ kind: "list" }, refused("the list must have a resourceVersion, got none"));
    this.#objects.clear();
    for (const [name, object] of found) this.#objects.set(name, object);
    this.#tell(null);
    this.#context.onObjects(this.#objects, null);
    return { kind: "watch", from: version };
  }

  async #watch(from: string): Promise<Next | null> {
    const ending = new AbortController();
    this.#state = { phase: "watching", resourceVersion: from, ending };
    const startedMs = this.#context.now();
    let cancelSilence = this.#abortIfSilent(ending);
    let at = from;
    let problem: ApiProblem = ended;
    try {
      const path = this.#pathWith({
        watch: "true",
        allowWatchBookmarks: "true",
        resourceVersion: from,
        timeoutSeconds: String(watchSeconds),
      });
      const stream = await this.#context.client.open(path, ending.signal);
      if (stream.kind === "failed") problem = problemOf(stream) ?? ended;
      // 410: the changes since then are forgotten. Any other refusal may be one of that kind, too.
      else if (stream.kind === "answered") return this.#retry({ kind: "list" }, problemOf(stream) ?? ended);
      else {
        this.#tell(null);
        const splitter = new LineSplitter(lineMax);
        for await (const chunk of stream.body) {
          cancelSilence();
          cancelSilence = this.#abortIfSilent(ending);
          const lines = splitter.add(chunk);
          if (typeof lines === "string") return this.#retry({ kind: "list" }, refused("the watch has too long a line"));
          for (const line of lines) {
            const version = this.#take(parseJson(line));
            if (version === null) return this.#retry({ kind: "list" }, refused("an error ended the watch"));
            at = version ?? at;
          }
        }
      }
    } catch (error) {
      problem = { kind: "away", text: failureOf(error).detail };
    } finally {
      cancelSilence();
      ending.abort();
    }
    if (this.#isStopped) return null;
    if (this.#context.now() - startedMs >= steadyMs) {
      this.#backoff = afterSuccess(this.#backoff);
      return { kind: "watch", from: at };
    }
    return this.#retry({ kind: "watch", from: at }, problem);
  }

  #abortIfSilent(ending: AbortController): CancelTimer {
    return this.#context.setTimer(() => ending.abort(), silenceMs);
  }

  /**
   * Takes an event of the watch.
   * @returns the version that is known now, `undefined` where it states none, `null` if the list has to be read again
   */
  #take(event: unknown): string | null | undefined {
    const { type, object } = objectOf(event);
    if (!isObject(object) || type === "ERROR") return null;
    const version = versionOf(objectOf(object["metadata"]));
    if (type === "BOOKMARK") return version ?? undefined;
    const name = nameOfObject(object);
    if (name === null) return version ?? undefined;
    if (type === "DELETED") this.#objects.delete(name);
    else if (type === "ADDED" || type === "MODIFIED") this.#keep(this.#objects, object);
    else return undefined;
    if (this.#objects.size > objectsMax) return null;
    if (!this.#isStopped) this.#context.onObjects(this.#objects, name);
    return version ?? undefined;
  }

  #keep(objects: Map<string, JsonObject>, item: unknown): void {
    if (!isObject(item)) return;
    const name = nameOfObject(item);
    if (name !== null) objects.set(name, this.#resource.slim?.(item) ?? item);
  }

  /** Waits, and goes on then. @returns `null` */
  #retry(next: Next, problem: ApiProblem): null {
    if (this.#isStopped) return null;
    this.#tell(problem);
    this.#backoff = afterFailure(this.#backoff);
    const { setTimer, random, client } = this.#context;
    const delayMs = Math.max(client.pauseMs, backoffMs(this.#backoff) * (0.75 + random() / 4));
    this.#state = { phase: "waiting", cancelTimer: setTimer(() => void this.#run(next), delayMs) };
    return null;
  }

  #tell(problem: ApiProblem | null): void {
    const text = problem?.text ?? null;
    if (text === this.#problem) return;
    this.#problem = text;
    this.#context.onProblem(problem);
  }

  #pathWith(parameters: Readonly<Record<string, string>>): string {
    const { path, labels, fields = null } = this.#resource;
    const query = new URLSearchParams({
      ...(labels === null ? {} : { labelSelector: labels }),
      ...(fields === null ? {} : { fieldSelector: fields }),
      ...parameters,
    });
    return `${path}?${query.toString()}`;
  }
}

const ended: ApiProblem = { kind: "away", text: "the API server ended the watch" };

function refused(text: string): ApiProblem {
  return { kind: "refused", text };
}

const nameMax = 253;

function nameOfObject(object: JsonObject): string | null {
  return nameOf(objectOf(object["metadata"])["name"], nameMax);
}

function versionOf(metadata: JsonObject): string | null {
  const version = nameOf(metadata["resourceVersion"], nameMax);
  return version === "" ? null : version;
}

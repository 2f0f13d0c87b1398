import type { CancelTimer, SetTimer } from "../../../core/cluster/timer.ts";
import { nameOf, objectOf, listOf, type JsonObject } from "../../../core/cluster/values/json.ts";
import { afterFailure, afterSuccess, backoffMs, type Backoff } from "../../../core/probe/schedule/backoff.ts";
import { type ApiClient, type ApiReply, refusalText } from "../api/api-client.ts";
import { authorityOf } from "../core/authority.ts";
import { addressKey, serviceContent, type ServiceContent, type ServiceMember } from "../core/service-content.ts";
import {
  manager,
  type PublishedSlices,
  publishedOf,
  readSlices,
  type SlicedService,
  sliceObject,
  type SliceWrite,
  writesOf,
} from "../core/slice-objects.ts";

/** What is known of the members of the pool that a Service leads to. */
export type KnownMembers = readonly ServiceMember[] | "starting" | "blind";

/** A Service, as the configuration names it. */
export interface PublishedServiceKey {
  readonly namespace: string;
  readonly name: string;
  /** The name of its port that leads to the database; `null`: its only one. */
  readonly port: string | null;
  readonly isOfPrimary: boolean;
}

/** What publishing depends on, and whom it tells. */
export interface ServicePublisherContext {
  readonly client: Pick<ApiClient, "call" | "pauseMs">;
  /** The name of this rolecall among those that write. */
  readonly me: string;
  /** Up to when another rolecall counts as alive, on the monotonic clock. */
  readonly livesUntilMs: (instance: string) => number;
  /** A monotonic clock, in ms. */
  readonly now: () => number;
  readonly random: () => number;
  readonly setTimer: SetTimer;
  /** Takes a place among the writes in flight. @returns gives it back */
  readonly place: () => Promise<() => void>;
  /** A write has ended: `written`, `conflict` (another state since), or `failed`. */
  readonly onWrite: (outcome: "written" | "conflict" | "failed") => void;
  readonly onChange: () => void;
}

/** Why a Service is not published as it should be; `null`: it is. */
export type ServiceProblem = string | null;

const nameMax = 253;
const backoff: Backoff = { firstMs: 100, maxMs: 1_000, failures: 0 };
/** How long the watch may take to bring what a write has answered, in ms. */
const echoMs = 2_000;

/**
 * Publishes one Service: writes its slices where this rolecall is the one to write them. One write at a time; what is
 * known then decides, so that a write that failed is never repeated as it was.
 */
export class ServicePublisher {
  readonly key: PublishedServiceKey;
  readonly #context: ServicePublisherContext;
  #members: KnownMembers = "starting";
  #service: SlicedService | string = "the Service is not known yet";
  #slices: ReadonlyMap<string, JsonObject> | null = null;
  /** What writes have answered, while the watch has not brought it. */
  readonly #echoes = new Map<
    string,
    { readonly object: JsonObject; readonly version: string; readonly untilMs: number }
  >();
  #phase: "idle" | "writing" | "again" | "stopped" = "idle";
  #cancelTimer: CancelTimer | null = null;
  #backoff = backoff;
  #failure: ServiceProblem = null;

  constructor(key: PublishedServiceKey, context: ServicePublisherContext) {
    this.key = key;
    this.#context = context;
  }

  /** What is known of the members from now on. */
  setMembers(members: KnownMembers): void {
    this.#members = members;
    this.look();
  }

  /** The Service as the API server has it; `null`: it has none of this name. */
  setService(object: JsonObject | null): void {
    const before = JSON.stringify(this.#service);
    this.#service = serviceOf(this.key, object);
    if (JSON.stringify(this.#service) !== before) this.look();
  }

  /** The slices of the Service as the API server has them, by their names. */
  setSlices(objects: ReadonlyMap<string, JsonObject>): void {
    this.#slices = objects;
    const nowMs = this.#context.now();
    for (const [name, { version, untilMs }] of this.#echoes)
      if (versionOf(objects.get(name)) === version || untilMs <= nowMs) this.#echoes.delete(name);
    this.look();
  }

  /** What is published now, and by whom. */
  get published(): PublishedSlices {
    const objects = new Map(this.#slices ?? []);
    for (const [name, { object }] of this.#echoes) objects.set(name, object);
    return readSlices([...objects.values()]);
  }

  /** Why it is not published as it should be; `null`: it is, as far as this rolecall has to see to it. */
  get problem(): ServiceProblem {
    return typeof this.#service === "string" ? this.#service : this.#failure;
  }

  /** Decides whether something has to be written, and does it. */
  look(): void {
    if (this.#phase === "stopped") return;
    if (this.#phase !== "idle") {
      this.#phase = "again";
      return;
    }
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    const writes = this.#due();
    if (writes.length > 0) void this.#write(writes);
  }

  /** Writes nothing any more. A write in flight goes on. */
  stop(): void {
    this.#phase = "stopped";
    this.#cancelTimer?.();
  }

  #due(): readonly object[] {
    const { me, livesUntilMs, now } = this.#context;
    if (typeof this.#service === "string" || this.#slices === null) return [];
    const service = this.#service;
    const { own } = this.published;
    const published = publishedOf(own);
    const mine = this.#content(own);
    const untilMs =
      published?.writer === undefined || published.writer === null ? -Infinity : livesUntilMs(published.writer);
    const authority = authorityOf({ me, mine, published, writerLives: untilMs > now() });
    // When a writer that is not renewed any more counts as dead, this has to be decided again.
    if (authority === "nothing" && untilMs > now() && published?.writer !== me) this.#lookIn(untilMs - now() + 1);
    if (authority === "resign") return own.map((slice) => sliceObject(service, slice, { ...slice, writer: null }));
    if (authority !== "write" || typeof mine === "string") return [];
    return writesOf(mine, own).map(({ slice, resourceVersion }: SliceWrite) =>
      sliceObject(service, slice, { writer: me, unready: mine.unready, resourceVersion }),
    );
  }

  #content(own: PublishedSlices["own"]): ServiceContent | "starting" | "blind" {
    if (typeof this.#members === "string") return this.#members;
    const ready = own.flatMap(({ endpoints, port }) =>
      endpoints.filter(({ isReady }) => isReady).map(({ ip }) => addressKey({ ip, port })),
    );
    return serviceContent(this.#members, { isOfPrimary: this.key.isOfPrimary, readyNow: new Set(ready) });
  }

  async #write(objects: readonly object[]): Promise<void> {
    this.#phase = "writing";
    const giveBack = await this.#context.place();
    let problem: ServiceProblem = null;
    try {
      for (const object of objects) {
        problem = await this.#apply(object);
        if (problem !== null) break;
      }
    } finally {
      giveBack();
    }
    const wasAsked = this.#wasAsked();
    if (this.#isStopped) return;
    this.#phase = "idle";
    this.#failure = problem;
    this.#backoff = problem === null ? afterSuccess(this.#backoff) : afterFailure(this.#backoff);
    this.#context.onChange();
    if (problem !== null) {
      const { client, random } = this.#context;
      this.#lookIn(Math.max(client.pauseMs, backoffMs(this.#backoff) * (0.75 + random() / 4)));
    } else if (wasAsked) this.look();
  }

  #wasAsked(): boolean {
    return this.#phase === "again";
  }

  get #isStopped(): boolean {
    return this.#phase === "stopped";
  }

  /** @returns why it could not be written, or `null` */
  async #apply(object: object): Promise<ServiceProblem> {
    const { client, onWrite } = this.#context;
    const { namespace, name } = this.key;
    const sliced = nameOf(objectOf(objectOf(object)["metadata"])["name"], nameMax) ?? name;
    const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices/${sliced}`;
    const reply: ApiReply = await client.call({
      method: "PATCH",
      path: `${path}?fieldManager=${manager}&force=true`,
      contentType: "application/apply-patch+yaml",
      body: object,
    });
    const written = objectIn(reply);
    if (written !== null) {
      onWrite("written");
      this.#echo(sliced, written);
      return null;
    }
    const isConflict = reply.kind === "answered" && reply.status === 409;
    onWrite(isConflict ? "conflict" : "failed");
    // Somebody else has written it: what it is now decides.
    if (isConflict) await this.#readAgain(sliced, path);
    return reply.kind === "failed" ? reply.failure.detail : refusalText(reply);
  }

  async #readAgain(name: string, path: string): Promise<void> {
    const found = objectIn(await this.#context.client.call({ method: "GET", path }));
    if (found !== null) this.#echo(name, found);
  }

  #echo(name: string, object: JsonObject): void {
    const version = versionOf(object);
    if (version !== null) this.#echoes.set(name, { object, version, untilMs: this.#context.now() + echoMs });
  }

  #lookIn(delayMs: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#context.setTimer(() => this.look(), delayMs);
  }
}

/** The object that a call that has succeeded answers; else `null`. */
function objectIn(reply: ApiReply): JsonObject | null {
  return reply.kind === "answered" && reply.status >= 200 && reply.status < 300 ? reply.body : null;
}

function versionOf(object: JsonObject | undefined): string | null {
  return nameOf(objectOf(objectOf(object)["metadata"])["resourceVersion"], nameMax);
}

/** The Service that slices are written for, or why none are. */
function serviceOf({ namespace, name, port }: PublishedServiceKey, object: JsonObject | null): SlicedService | string {
  if (object === null) return `there is no Service ${name} in ${namespace}`;
  const uid = nameOf(objectOf(object["metadata"])["uid"], nameMax);
  const ports = listOf(objectOf(object["spec"])["ports"]).map(objectOf);
  const named = ports.map((one) => nameOf(one["name"], nameMax) ?? "");
  const found = port === null ? (named.length === 1 ? named[0] : undefined) : named.find((one) => one === port);
  if (uid === null) return `Service ${name} in ${namespace} must have a uid, got none`;
  if (found === undefined)
    return port === null
      ? `Service ${name} in ${namespace} must have one port, or kubernetes.services[].port must name one, got ${named.length} ports`
      : `Service ${name} in ${namespace} must have the port ${port}, got ${named.join(", ") || "none"}`;
  return { namespace, name, uid, portName: found };
}

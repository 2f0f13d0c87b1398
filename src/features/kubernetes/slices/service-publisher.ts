import type { CancelTimer, SetTimer } from "../../../core/cluster/timer.ts";
import type { JsonObject } from "../../../core/cluster/values/json.ts";
import { afterFailure, afterSuccess, backoffMs, type Backoff } from "../../../core/probe/schedule/backoff.ts";
import { type ApiCall, type ApiClient, type ApiProblem, type ApiReply, problemOf } from "../api/api-client.ts";
import { eventObject, type ReadyAddress, type ServiceEvent, serviceEvent } from "../core/service-event.ts";
import type { ServiceProblem, ServiceStanding, ServiceStandingKind } from "../core/seen-service.ts";
import { turnOf } from "../core/turn-to-write.ts";
import {
  addressKey,
  type PodAt,
  serviceContent,
  type ServiceContent,
  type ServiceEndpoint,
  type ServiceMember,
  type SliceContent,
} from "../core/service-content.ts";
import {
  manager,
  type OwnSlice,
  type PublishedSlices,
  publishedOf,
  readSlices,
  type SliceBase,
  sliceBaseOf,
  type SlicedService,
  sliceName,
  sliceObject,
  type SliceStatement,
  type SliceWrite,
  writesOf,
} from "../core/slice-objects.ts";
import { PacedEvents } from "./paced-events.ts";
import { knownService, type KnownService, otherClaim, type PublishedServiceKey } from "./service-object.ts";

/** What is known of the members of the pool that a Service leads to. */
export type KnownMembers = readonly Omit<ServiceMember, "pod">[] | "starting" | "blind";

/** What publishing depends on, and whom it tells. */
export interface ServicePublisherContext {
  readonly client: Pick<ApiClient, "call" | "pauseMs">;
  /** The name of this rolecall among those that write. */
  readonly me: string;
  /** Whether another rolecall counts as alive. */
  readonly lives: (instance: string) => boolean;
  /** The pod that has an address; `null`: none, or it is not known. */
  readonly podAt: (ip: string) => PodAt | null;
  /** Whether this process is late for so long that it counts as gone: then it says nothing. */
  readonly isWithdrawn: () => boolean;
  /** A monotonic clock, in ms. */
  readonly now: () => number;
  readonly random: () => number;
  readonly setTimer: SetTimer;
  /** Takes a place among the writes in flight. @returns gives it back */
  readonly place: () => Promise<() => void>;
  /** A place among the Events in flight, which are less urgent. @returns gives it back */
  readonly eventPlace: () => Promise<() => void>;
  /** In ms since the epoch. */
  readonly wall: () => number;
  /** An Event was created, or why it was not. */
  readonly onEvent: (problem: ApiProblem | null) => void;
  /** A write of a slice has ended. */
  readonly onWrite: (end: WriteEnd["kind"]) => void;
  /** What there was to write is published, so long after it was known, in ms. */
  readonly onPublished: (lateMs: number) => void;
  readonly onChange: () => void;
}

/** What a call has answered. */
interface Echo {
  readonly object: JsonObject;
  readonly untilMs: number;
}

/** A slice to write, and what it states. */
interface DueWrite extends SliceWrite {
  readonly sliced: SlicedService;
  readonly stated: SliceStatement;
}

/** How a write has ended. `conflict`: somebody else has written meanwhile. */
type WriteEnd = { readonly kind: "written" | "conflict" } | { readonly kind: "failed"; readonly problem: ApiProblem };

const backoff: Backoff = { firstMs: 100, maxMs: 1_000, failures: 0 };
/** How often a Service is left to others, if the API server does not take it. */
const leaveTries = 5;
/** After so many repairs somebody else changes the slices again and again, until there was none for so long, in ms. */
const fight = { repairs: 3, calmMs: 60_000 } as const;
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
  #service: KnownService = { kind: "unread" };
  #slices: ReadonlyMap<string, JsonObject> | null = null;
  /** What writes have answered, while the watch has not brought it. */
  readonly #echoes = new Map<string, Echo>();
  /** Ends the wait for the watch; `null`: none waits. */
  #cancelEcho: CancelTimer | null = null;
  #phase: "idle" | "writing" | "stopped" = "idle";
  /** The last write. Never rejects. */
  #writing: Promise<void> = Promise.resolve();
  #cancelTimer: CancelTimer | null = null;
  #published: PublishedSlices | null = null;
  #backoff = backoff;
  /** After a failure nothing is written before this instant. */
  #notBeforeMs = -Infinity;
  #failure: ApiProblem | null = null;
  /** What was written last, by the names of the slices: the same once more is a repair. */
  readonly #written = new Map<string, string>();
  /** The repairs of what somebody else has changed, in a row. */
  #repairs = backoff;
  #cancelCalm: CancelTimer | null = null;
  readonly #events: PacedEvents;
  /** The addresses that were ready when the last Event was found, or at the first write since; `undefined`: none was. */
  #reported: readonly ReadyAddress[] | null | undefined = undefined;
  #problem: ServiceProblem | null = null;
  #standing: ServiceStanding;
  /** Whether other addresses are ready than this rolecall says. */
  #isMisleading = false;
  #wroteAtMs: number | null = null;

  constructor(key: PublishedServiceKey, context: ServicePublisherContext) {
    this.key = key;
    this.#context = context;
    this.#standing = { kind: "unread", sinceMs: context.now() };
    this.#events = new PacedEvents({
      now: context.now,
      setTimer: context.setTimer,
      send: (event, agoMs) => this.#createEvent(event, agoMs),
    });
  }

  /** What is known of the members from now on. */
  setMembers(members: KnownMembers): void {
    this.#members = members;
    this.look();
  }

  /** The Service as the API server has it; `null`: it has none of this name. */
  setService(object: JsonObject | null): void {
    const before = JSON.stringify(this.#service);
    this.#service = knownService(this.key, object);
    if (JSON.stringify(this.#service) === before) return;
    this.#published = null;
    this.look();
    this.#context.onChange();
  }

  /** The slices of the Service as the API server has them, by their names. */
  setSlices(objects: ReadonlyMap<string, JsonObject>): void {
    this.#slices = objects;
    this.#dropEchoes();
    this.look();
  }

  /** What is published now, and by whom. */
  get published(): PublishedSlices {
    if (this.#published !== null) return this.#published;
    const objects = new Map(this.#slices ?? []);
    for (const [name, { object }] of this.#echoes) objects.set(name, object);
    const uid = this.#service.kind === "usable" ? this.#service.sliced.uid : null;
    return (this.#published = readSlices([...objects.values()], { name: this.key.name, uid }));
  }

  /** How it is published, as this rolecall sees it. */
  get standing(): ServiceStanding {
    return this.#standing;
  }

  /** Whether clients are led elsewhere than this rolecall says. */
  get isMisleading(): boolean {
    return this.#isMisleading;
  }

  /** When this rolecall has written it last, in ms of the monotonic clock; `null`: it has not. */
  get wroteAtMs(): number | null {
    return this.#wroteAtMs;
  }

  /**
   * Why the Service does not lead where it should, or not only there, and since when; `null`: it does, as far as this
   * rolecall has to see to it.
   */
  get problem(): ServiceProblem | null {
    return this.#problem;
  }

  #findProblem(): Omit<ServiceProblem, "sinceMs"> | null {
    if (this.#service.kind === "unusable") return { kind: "unusable", text: this.#service.problem };
    if (this.#failure !== null) return this.#failure;
    const { namespace, name } = this.key;
    const claim =
      otherClaim(this.#service, this.published) ??
      (this.#repairs.failures < fight.repairs
        ? null
        : `the EndpointSlices of Service ${name} in ${namespace} are changed by somebody else again and again`);
    return claim === null ? null : { kind: "claimed", text: claim };
  }

  /** Decides whether something has to be written, and does it. */
  look(): void {
    // After a write it is decided again.
    if (this.#phase !== "idle") return;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    const { kind, writes } = this.#decide();
    this.#note(kind);
    if (writes.length === 0) return;
    const waitMs = this.#notBeforeMs - this.#context.now();
    if (waitMs > 0) this.#cancelTimer = this.#context.setTimer(() => this.look(), waitMs);
    else this.#writing = this.#write();
  }

  /** Writes nothing any more. A write in flight goes on. */
  stop(): void {
    this.#phase = "stopped";
    this.#cancelTimer?.();
    this.#cancelEcho?.();
    this.#cancelCalm?.();
    this.#events.stop();
  }

  /**
   * Leaves the Service to others, as {@link stop}. If this rolecall has written it, the slices say so: its Lease may live on,
   * and nobody else would write. Tried a few times. Never rejects.
   */
  async leave(): Promise<void> {
    this.stop();
    // What its answer shows is not known before: a Service that is being written has no writer yet.
    await this.#writing;
    for (let at: Backoff = backoff; at.failures < leaveTries; at = afterFailure(at)) {
      if (at.failures > 0) await new Promise<void>((done) => void this.#context.setTimer(done, backoffMs(at)));
      const { own } = this.published;
      if (this.#service.kind !== "usable" || publishedOf(own)?.writer !== this.#context.me) return;
      const { sliced } = this.#service;
      const giveBack = await this.#context.place();
      const resigned = own.map((slice) => this.#apply(resignation(sliced, slice)));
      await Promise.all(resigned).finally(giveBack);
    }
  }

  /** Notes how the Service is published, and why it is not, with the instants since when. */
  #note(kind: ServiceStandingKind): void {
    const { now, onPublished } = this.#context;
    const nowMs = now();
    const { kind: before, sinceMs } = this.#standing;
    if (before === "due" && kind === "agreed" && this.#wroteAtMs !== null && this.#wroteAtMs >= sinceMs)
      onPublished(nowMs - sinceMs);
    if (before !== kind) this.#standing = { kind, sinceMs: nowMs };
    // What others write is theirs to report.
    if (kind !== "due") this.#reported = undefined;
    const problem = this.#findProblem();
    // Its text may change from try to try.
    const since = problem !== null && this.#problem?.kind === problem.kind ? this.#problem.sinceMs : nowMs;
    this.#problem = problem === null ? null : { ...problem, sinceMs: since };
  }

  #decide(): { readonly kind: ServiceStandingKind; readonly writes: readonly DueWrite[] } {
    const { me, lives, isWithdrawn } = this.#context;
    const service = this.#service;
    if (service.kind === "unusable") return { kind: "unusable", writes: [] };
    if (service.kind === "unread" || this.#slices === null) return { kind: "unread", writes: [] };
    if (isWithdrawn()) return { kind: "silent", writes: [] };
    const { sliced } = service;
    const { own } = this.published;
    // Kubernetes keeps the slices of such a Service: rolecall does not begin with it.
    if (service.hasSelector && own.length === 0) return { kind: "unusable", writes: [] };
    const published = publishedOf(own);
    const mine = this.#content(own, service.portName);
    this.#isMisleading = typeof mine !== "string" && readyIn(mine.slices) !== readyIn(own);
    const writer = published?.writer ?? null;
    const turn = turnOf({ me, mine, published, writerLives: writer !== null && lives(writer) });
    if (turn === "resign") {
      return { kind: "due", writes: own.map((slice) => resignation(sliced, slice)) };
    }
    if (turn !== "write" || typeof mine === "string") return { kind: turn === "write" ? "silent" : turn, writes: [] };
    const stated = { writer: me, unready: mine.unready };
    const writes = writesOf(mine, own, stated).map((write) => ({ ...write, sliced, stated }));
    // Without a member whose address is known there is nothing to list.
    return { kind: writes.length === 0 ? "agreed" : "due", writes };
  }

  #content(own: PublishedSlices["own"], portName: string): ServiceContent | "starting" | "blind" {
    if (typeof this.#members === "string") return this.#members;
    const { podAt } = this.#context;
    const published = new Map(
      own.flatMap(({ endpoints, port }) =>
        endpoints.map((endpoint): [string, ServiceEndpoint] => [addressKey({ ip: endpoint.ip, port }), endpoint]),
      ),
    );
    const members = this.#members.map((member) => ({
      ...member,
      pod: member.address === null ? null : podAt(member.address.ip),
    }));
    return serviceContent(members, { isOfPrimary: this.key.isOfPrimary, portName, published });
  }

  async #write(): Promise<void> {
    this.#phase = "writing";
    const before =
      this.#slices === null || this.#slices.size + this.#echoes.size === 0 ? null : readyOf(this.published.own);
    if (this.#reported === undefined) this.#reported = before;
    const giveBack = await this.#context.place();
    // What was due before the wait may be so no more.
    const members = this.#members;
    const writes = this.#isStopped ? [] : this.#decide().writes;
    let ended: WriteEnd = { kind: "written" };
    try {
      for (const due of writes) {
        ended = await this.#apply(due);
        if (ended.kind !== "written") break;
      }
    } finally {
      giveBack();
    }
    if (this.#isStopped) return;
    this.#phase = "idle";
    this.#failure = ended.kind === "failed" ? ended.problem : null;
    this.#backoff = ended.kind === "written" ? afterSuccess(this.#backoff) : afterFailure(this.#backoff);
    if (ended.kind === "written") this.#countRepair(writes);
    const { client, random, now, onChange } = this.#context;
    const ownMs = Math.max(backoffMs(this.#backoff), backoffMs(this.#repairs));
    const pauseMs = Math.max(client.pauseMs, ownMs * (0.75 + random() / 4));
    this.#notBeforeMs = now() + pauseMs;
    if (ended.kind === "written" && writes.length > 0) this.#report(members);
    this.look();
    onChange();
  }

  /** Two that write against each other must not do so at full speed. */
  #countRepair(writes: readonly DueWrite[]): void {
    const said = writes.map(({ sliced, slice, stated }) => ({
      name: sliceName(sliced.name, slice),
      text: JSON.stringify([sliced.uid, slice, stated]),
    }));
    const isRepair = said.length > 0 && said.every(({ name, text }) => this.#written.get(name) === text);
    for (const { name, text } of said) this.#written.set(name, text);
    if (!isRepair) return;
    this.#repairs = afterFailure(this.#repairs);
    this.#cancelCalm?.();
    this.#cancelCalm = this.#context.setTimer(() => {
      this.#cancelCalm = null;
      this.#repairs = backoff;
      this.look();
      this.#context.onChange();
    }, fight.calmMs);
  }

  /** Says what has become of the Service, once it is published. @param known what was known of the members then */
  #report(known: KnownMembers): void {
    const members = typeof known === "string" ? [] : known;
    const after = known === "blind" ? null : readyOf(this.published.own);
    const event = serviceEvent(this.#reported ?? null, after, { isOfPrimary: this.key.isOfPrimary, members });
    this.#reported = undefined;
    if (event !== null) this.#events.report(event);
  }

  async #createEvent(event: ServiceEvent, agoMs: number): Promise<void> {
    const { client, me: instance, wall, eventPlace, onEvent } = this.#context;
    const service = this.#service;
    if (service.kind !== "usable") return;
    const { sliced } = service;
    const body = eventObject(sliced, event, { instance, wallMs: wall() - agoMs });
    const giveBack = await eventPlace();
    const reply = await client.call({ method: "POST", path: `/api/v1/namespaces/${sliced.namespace}/events`, body });
    giveBack();
    onEvent(problemOf(reply));
  }

  get #isStopped(): boolean {
    return this.#phase === "stopped";
  }

  async #apply({ sliced, slice, base, stated }: DueWrite): Promise<WriteEnd> {
    const { onWrite, now } = this.#context;
    const folder = `/apis/discovery.k8s.io/v1/namespaces/${sliced.namespace}/endpointslices`;
    const name = sliceName(sliced.name, slice);
    // To apply what is not there yet is no conflict, whoever else has created it by then. So it is created before that,
    // without endpoints. The manager is another one: else what it states would stay when it is applied no more.
    const created: SliceBase | WriteEnd =
      base ??
      (await this.#send(name, {
        method: "POST",
        path: `${folder}?fieldManager=${manager}-create`,
        body: sliceObject(sliced, { ...slice, endpoints: [] }, { writer: null, unready: null, base: null }),
      }));
    const ended =
      "kind" in created
        ? created
        : await this.#send(name, {
            method: "PATCH",
            path: `${folder}/${name}?fieldManager=${manager}&force=true`,
            contentType: "application/apply-patch+yaml",
            body: sliceObject(sliced, slice, { ...stated, base: created }),
          });
    const end: WriteEnd = "kind" in ended ? ended : { kind: "written" };
    if (end.kind === "written") this.#wroteAtMs = now();
    onWrite(end.kind);
    return end;
  }

  /** @returns the state that was written, or why nothing was */
  async #send(name: string, call: ApiCall): Promise<SliceBase | WriteEnd> {
    const reply = await this.#context.client.call(call);
    const written = objectIn(reply);
    const base = written === null ? null : sliceBaseOf(written);
    if (written !== null && base !== null) {
      this.#echo(name, written);
      return base;
    }
    if (reply.kind === "failed" || reply.status !== 409)
      return { kind: "failed", problem: problemOf(reply) ?? { kind: "refused", text: "an answer without an object" } };
    // Somebody else has written it: what it is now decides.
    await this.#readAgain(name);
    return { kind: "conflict" };
  }

  async #readAgain(name: string): Promise<void> {
    const path = `/apis/discovery.k8s.io/v1/namespaces/${this.key.namespace}/endpointslices/${name}`;
    const found = objectIn(await this.#context.client.call({ method: "GET", path }));
    if (found !== null) this.#echo(name, found);
    else this.#forget(name);
  }

  #echo(name: string, object: JsonObject): void {
    const { now, setTimer } = this.#context;
    this.#echoes.set(name, { object, untilMs: now() + echoMs });
    this.#published = null;
    this.#cancelEcho?.();
    if (this.#isStopped) return;
    // Whatever the watch has brought by then: a slice that was deleted right after the write, it brings no more.
    this.#cancelEcho = setTimer(() => {
      this.#cancelEcho = null;
      this.#dropEchoes();
      this.look();
    }, echoMs);
  }

  /** Drops what the watch has brought, or should have brought by now. */
  #dropEchoes(): void {
    this.#published = null;
    const nowMs = this.#context.now();
    for (const [name, { object, untilMs }] of this.#echoes)
      if (untilMs <= nowMs || isAsNew(this.#slices?.get(name), object)) this.#echoes.delete(name);
  }

  #forget(name: string): void {
    this.#echoes.delete(name);
    this.#published = null;
  }
}

/** The write that removes the writer from a slice and changes nothing else: another rolecall may write it from then on. */
function resignation(sliced: SlicedService, slice: OwnSlice): DueWrite {
  return { sliced, slice, base: slice.base, stated: { writer: null, unready: slice.unready } };
}

/** The addresses that are ready. */
function readyOf(slices: readonly SliceContent[]): readonly ReadyAddress[] {
  return slices.flatMap(({ endpoints, port }) =>
    endpoints.flatMap(({ ip, isReady }) => (isReady ? [{ ip, port }] : [])),
  );
}

/** The same as text. */
function readyIn(slices: readonly SliceContent[]): string {
  return readyOf(slices).map(addressKey).toSorted().join();
}

/** The object that a call that has succeeded answers; else `null`. */
function objectIn(reply: ApiReply): JsonObject | null {
  return reply.kind === "answered" && reply.status >= 200 && reply.status < 300 ? reply.body : null;
}

/** Whether what a watch has brought is at least as new as what a call has answered. */
function isAsNew(watched: JsonObject | undefined, answered: JsonObject): boolean {
  const [one, other] = [watched ?? {}, answered].map((object) => sliceBaseOf(object));
  if (one === null || one === undefined || other === null || other === undefined) return false;
  const [seen, said] = [one.resourceVersion, other.resourceVersion];
  // Versions of one kind of objects are numbers that grow.
  return seen.length === said.length ? seen >= said : seen.length > said.length;
}

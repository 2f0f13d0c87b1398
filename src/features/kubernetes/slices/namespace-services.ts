import type { SetTimer } from "../../../core/cluster/timer.ts";
import type { JsonObject } from "../../../core/cluster/values/json.ts";
import { type ApiClient, type ApiProblem, problemOf } from "../api/api-client.ts";
import { ResourceWatch, type WatchedResource } from "../api/resource-watch.ts";
import type { PodAt } from "../core/service-content.ts";
import { manager, serviceLabel, serviceOfSlice } from "../core/slice-objects.ts";
import { leaseLabels, leaseName, leaseObject, SeenLeases } from "./leases.ts";
import { arePodsEqual, podsByIp, slimPod } from "./pods.ts";
import { type PublishedServiceKey, slimService } from "./service-object.ts";
import { ServicePublisher, type ServicePublisherContext } from "./service-publisher.ts";

/** What the Services of a namespace depend on, and whom they tell. */
export interface NamespaceContext extends Omit<ServicePublisherContext, "client" | "lives" | "podAt" | "onEvent"> {
  readonly client: Pick<ApiClient, "call" | "open" | "pauseMs">;
  /** How often the Lease is renewed, in ms: seldom, where there are many namespaces. */
  readonly renewMs: () => number;
  readonly setTimer: SetTimer;
}

/** Why objects of one kind are not known, or a Lease is not renewed, and since when, in ms of the monotonic clock. */
export interface NamespaceProblem extends ApiProblem {
  readonly of: "endpointslices" | "services" | "leases" | "pods" | "lease" | "events";
  readonly sinceMs: number;
}

/** The longest selector that names each Service. Longer: the slices of all Services are watched. */
const selectorMax = 4_096;

/** The Services of one namespace that are published, the Leases there, and the watches of all that. */
export class NamespaceServices {
  readonly #namespace: string;
  readonly #context: NamespaceContext;
  readonly #leases: SeenLeases;
  readonly #publishers = new Map<string, ServicePublisher>();
  #watches: readonly ResourceWatch[] = [];
  #watched = "";
  readonly #problems = new Map<string, NamespaceProblem>();
  #services: ReadonlyMap<string, JsonObject> | null = null;
  #slices: ReadonlyMap<string, JsonObject> | null = null;
  /** The pods of the namespace, by their addresses. */
  #pods: ReadonlyMap<string, PodAt> = new Map();
  /** The pod of this rolecall, whose name it has; `null`: it runs elsewhere, or that is not known. */
  #ownPod: PodAt | null = null;
  #cancelRenewal: () => void = () => {};
  #phase: "new" | "running" | "stopped" = "new";

  constructor(namespace: string, context: NamespaceContext) {
    this.#namespace = namespace;
    this.#context = context;
    this.#leases = new SeenLeases(context.me, context.renewMs);
  }

  /** Why what is published here is not known, or not as of now: one for each kind of objects. */
  get problems(): readonly NamespaceProblem[] {
    return [...this.#problems.values()];
  }

  get publishers(): readonly ServicePublisher[] {
    return [...this.#publishers.values()];
  }

  publisherOf(service: string): ServicePublisher | undefined {
    return this.#publishers.get(service);
  }

  /** Publishes these Services from now on. Those that stay keep what is known of them. */
  configure(keys: readonly PublishedServiceKey[]): void {
    const wanted = new Map(keys.map((key) => [key.name, key]));
    for (const [name, publisher] of this.#publishers) {
      if (JSON.stringify(wanted.get(name)) === JSON.stringify(publisher.key)) continue;
      if (wanted.has(name)) publisher.stop();
      else void publisher.leave();
      this.#publishers.delete(name);
    }
    for (const [name, key] of wanted) if (!this.#publishers.has(name)) this.#publishers.set(name, this.#publisher(key));
    this.#watch([...wanted.keys()].toSorted());
    if (this.#phase === "new") {
      this.#phase = "running";
      void this.#renew();
    }
    for (const publisher of this.#publishers.values()) this.#tell(publisher);
  }

  /** Publishes nothing any more. */
  stop(): void {
    this.#phase = "stopped";
    this.#cancelRenewal();
    for (const watch of this.#watches) watch.stop();
    for (const publisher of this.#publishers.values()) publisher.stop();
  }

  /** Ends the Lease, so that others take over at once. Never rejects. */
  async release(): Promise<void> {
    this.#cancelRenewal();
    this.#phase = "stopped";
    await this.#applyLease(false);
  }

  #publisher(key: PublishedServiceKey): ServicePublisher {
    return new ServicePublisher(key, {
      ...this.#context,
      lives: (instance) => this.#leases.lives(instance),
      podAt: (ip) => this.#pods.get(ip) ?? null,
      // The next Event may be far away, and would be the only one to end it: that a server is away others say, too.
      onEvent: (problem) => this.#note("events", problem?.kind === "away" ? null : problem),
    });
  }

  #watch(names: readonly string[]): void {
    const watched = names.join(",");
    if (watched === this.#watched) return;
    this.#watched = watched;
    for (const watch of this.#watches) watch.stop();
    // What other Services have published is not known yet.
    this.#slices = null;
    const group = (name: string, version: string): string => `/apis/${name}/${version}/namespaces/${this.#namespace}`;
    this.#watches = [
      this.#watchOf(
        "endpointslices",
        {
          path: `${group("discovery.k8s.io", "v1")}/endpointslices`,
          labels: watched.length > selectorMax ? serviceLabel : `${serviceLabel} in (${watched})`,
        },
        (objects, changed) => {
          this.#slices = objects;
          const service = changed === null ? null : serviceOfSlice(objects.get(changed) ?? {});
          const publisher = service === null ? undefined : this.#publishers.get(service);
          if (publisher !== undefined) this.#tellSlices(publisher);
          else for (const one of this.#publishers.values()) this.#tellSlices(one);
        },
      ),
      this.#watchOf(
        "services",
        { path: `/api/v1/namespaces/${this.#namespace}/services`, labels: null, slim: slimService },
        (objects) => {
          this.#services = objects;
          for (const publisher of this.#publishers.values()) this.#tellService(publisher);
        },
      ),
      this.#watchOf(
        "leases",
        { path: `${group("coordination.k8s.io", "v1")}/leases`, labels: leaseLabels },
        (objects) => {
          this.#leases.take(objects);
          for (const publisher of this.#publishers.values()) publisher.look();
        },
      ),
      this.#watchOf(
        "pods",
        { path: `/api/v1/namespaces/${this.#namespace}/pods`, labels: null, slim: slimPod },
        (objects) => {
          const pods = podsByIp(objects.values());
          if (arePodsEqual(pods, this.#pods)) return;
          this.#pods = pods;
          this.#ownPod = [...pods.values()].find(({ name }) => name === this.#context.me) ?? null;
          for (const publisher of this.#publishers.values()) publisher.look();
        },
      ),
    ];
    for (const watch of this.#watches) watch.start();
  }

  #watchOf(
    what: NamespaceProblem["of"],
    resource: WatchedResource,
    onObjects: (objects: ReadonlyMap<string, JsonObject>, changed: string | null) => void,
  ): ResourceWatch {
    const { client, now, random, setTimer } = this.#context;
    const onProblem = (problem: ApiProblem | null): void => this.#note(what, problem);
    return new ResourceWatch(resource, { client, now, random, setTimer, onObjects, onProblem });
  }

  #tell(publisher: ServicePublisher): void {
    this.#tellService(publisher);
    this.#tellSlices(publisher);
  }

  #tellService(publisher: ServicePublisher): void {
    if (this.#services !== null) publisher.setService(this.#services.get(publisher.key.name) ?? null);
  }

  #tellSlices(publisher: ServicePublisher): void {
    if (this.#slices === null) return;
    const own = [...this.#slices].filter(([, object]) => serviceOfSlice(object) === publisher.key.name);
    publisher.setSlices(new Map(own));
  }

  async #renew(): Promise<void> {
    const { renewMs, setTimer, isWithdrawn } = this.#context;
    if (!isWithdrawn()) await this.#applyLease(true);
    if (this.#phase === "running") this.#cancelRenewal = setTimer(() => void this.#renew(), renewMs());
  }

  async #applyLease(isHeld: boolean): Promise<void> {
    const { client, me: instance, wall, renewMs } = this.#context;
    const reply = await client.call({
      method: "PATCH",
      path: `/apis/coordination.k8s.io/v1/namespaces/${this.#namespace}/leases/${leaseName(instance)}?fieldManager=${manager}&force=true`,
      contentType: "application/apply-patch+yaml",
      body: leaseObject(
        { namespace: this.#namespace, instance, pod: this.#ownPod },
        { isHeld, renewMs: renewMs(), wallMs: wall() },
      ),
    });
    this.#note("lease", problemOf(reply));
  }

  #note(of: NamespaceProblem["of"], problem: ApiProblem | null): void {
    const before = this.#problems.get(of);
    const text = problem === null ? null : `${of} of ${this.#namespace}: ${problem.text}`;
    if (problem === null || text === null) this.#problems.delete(of);
    else {
      const sinceMs = before?.kind === problem.kind ? before.sinceMs : this.#context.now();
      this.#problems.set(of, { ...problem, of, text, sinceMs });
    }
    if (text !== (before?.text ?? null)) this.#context.onChange();
  }
}

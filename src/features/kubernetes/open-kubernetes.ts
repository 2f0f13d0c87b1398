import { hostname } from "node:os";
import { EndpointAddresses } from "../../core/balancing/endpoint-addresses.ts";
import { HostAddresses } from "../../core/balancing/host-addresses.ts";
import { type PoolEndpoint, PoolEndpoints } from "../../core/balancing/pool-endpoints.ts";
import { isOfPrimary } from "../../core/balancing/pool-verdicts.ts";
import type { CancelTimer } from "../../core/cluster/timer.ts";
import type { Config, PoolConfig } from "../../core/config/model/config.ts";
import type { Host, Opened } from "../../core/feature/feature.ts";
import type { Scope } from "../../core/feature/scope.ts";
import { balancers, dcsSources, nodeFinders } from "../../core/feature/offers.ts";
import { isSoft, type Reason } from "../../core/health/reason.ts";
import type { ApiCall, ApiClient } from "./api/api-client.ts";
import { SharedClient } from "./api/shared-client.ts";
import type { PublishedServiceConfig } from "./config/kubernetes-schema.ts";
import { patience, type SeenService, seenBalancer } from "./core/seen-service.ts";
import { kubernetesSourceOf } from "./dcs/leader-source.ts";
import { PodFinder } from "./discovery/pod-finder.ts";
import type { ServiceMember } from "./core/service-content.ts";
import { publishedOf } from "./core/slice-objects.ts";
import { NamespaceServices } from "./slices/namespace-services.ts";
import type { KnownMembers, ServicePublisher } from "./slices/service-publisher.ts";

/** What is published to Kubernetes in a process. */
export interface RunningKubernetes extends Opened {
  /** The Services that lead to a cluster, as they are seen now; `null`: all. */
  readonly services: (cluster: string | null) => readonly SeenService[];
  /** Whether the API server has answered the last call; `null`: none was sent. */
  readonly isUp: boolean | null;
  /** The monotonic clock, in ms, and the same instant in ms of rolecall's clock. */
  readonly nowMs: number;
  readonly toOwnMs: (ms: number) => number;
}

/** What publishing needs of its host. */
type KubernetesHost = Pick<
  Host,
  | "log"
  | "metrics"
  | "observe"
  | "offers"
  | "changed"
  | "wall"
  | "random"
  | "cluster"
  | "policy"
  | "probedAt"
  | "reconnectTo"
  | "isWithdrawn"
  | "contained"
>;

/** How often a Lease is renewed, in ms, and how many may be renewed a second. */
const renewal = { everyMs: 2_000, perSecond: 10 } as const;
/** How many writes may be in flight: a mass failover must not be refused by the server. */
const writesMax = 16;
/** The same of Events: they never keep a write from its place. */
const eventsMax = 2;

/** Publishes the Services of the configuration until the scope ends. What is published stays then. */
export function openKubernetes(host: KubernetesHost, scope: Scope): RunningKubernetes {
  let running: Publishing | null = null;
  let instance: string | null = null;
  let isUp: boolean | null = null;
  const shared = new SharedClient({
    now: monotonic,
    onEnd: (call, status) => {
      isUp = status !== null;
      const answered = status === null ? "failed" : String(status);
      host.metrics.count("kubernetesRequests", { request: requestKind(call), status: answered });
    },
  });
  scope.hold("the connections to the API server", () => shared.close());
  scope.hold("the Services of Kubernetes", () => running?.stop());
  const seenServices = (cluster: string | null): readonly SeenService[] => running?.services(cluster) ?? [];
  const offered = balancers.bring(host.offers, {
    statuses: (only) => seenServices(only).map((seen) => seenBalancer(seen, monotonic(), shared.place)),
    // Whether clients have followed a slice is not known: nobody waits for it.
    leadingToPrimary: () => [],
    lead: () => undefined,
    uncounted: () => [],
  });
  scope.hold("what is offered", offered);
  const sources = dcsSources.bring(host.offers, (cluster, dcs) =>
    kubernetesSourceOf(cluster, dcs, () => shared.client),
  );
  scope.hold("what is offered", sources);
  const { random } = host;
  const pods = new PodFinder({ client: () => shared.client, now: monotonic, random, setTimer: scope.setTimer });
  scope.hold("the pods that are found", () => pods.stop());
  scope.hold("what is offered", nodeFinders.bring(host.offers, pods));
  return {
    configure: (config) => {
      const isOther = shared.configure(config.kubernetes);
      pods.configure(new Set(config.clusters.flatMap(({ discover }) => discover)), isOther);
      const { services = [], instance: wanted = null } = config.kubernetes ?? {};
      if (running !== null && (isOther || wanted !== instance || services.length === 0)) {
        running.stop();
        running = null;
      }
      instance = wanted;
      if (services.length > 0) running ??= new Publishing(wanted ?? instanceOfHost(), shared.client, { host, scope });
      running?.configure(config);
    },
    clusterChanged: (cluster) => running?.clusterChanged(cluster),
    withdrawn: () => running?.withdrawn(),
    stopping: async () => running?.release(),
    services: seenServices,
    get isUp() {
      return isUp;
    },
    get nowMs() {
      return monotonic();
    },
    toOwnMs: (ms) => host.observe() - (monotonic() - ms),
  };
}

class Publishing {
  readonly #host: KubernetesHost;
  readonly #scope: Pick<Scope, "setTimer">;
  readonly #client: ApiClient;
  readonly #me: string;
  readonly #addresses: EndpointAddresses;
  readonly #endpoints: PoolEndpoints;
  readonly #namespaces = new Map<string, NamespaceServices>();
  readonly #places: Places = new Places(writesMax);
  readonly #eventPlaces: Places = new Places(eventsMax);
  #services: readonly PublishedServiceConfig[] = [];
  /** What is known of each pool. */
  readonly #members = new Map<string, KnownMembers>();
  #pools: ReadonlyMap<string, PoolConfig> = new Map();

  constructor(
    me: string,
    client: ApiClient,
    { host, scope }: { readonly host: KubernetesHost; readonly scope: Pick<Scope, "setTimer"> },
  ) {
    const { observe: now, cluster, policy, probedAt, reconnectTo, contained } = host;
    const { setTimer } = scope;
    this.#host = host;
    this.#scope = scope;
    this.#me = me;
    this.#client = client;
    const onChange = (): void => this.#endpoints.judgeAgain();
    this.#addresses = new EndpointAddresses({ hosts: new HostAddresses(now, undefined, onChange), setTimer, onChange });
    this.#endpoints = new PoolEndpoints({
      cluster,
      policy,
      now,
      setTimer,
      addresses: this.#addresses,
      probedAt,
      onElsewhere: reconnectTo,
      onError: (name, error) => contained(error, { cluster: name }),
      onEndpoints: ({ name }, endpoints) => {
        this.#tell(name, endpoints.map(memberOf));
        return Infinity;
      },
      onSilence: ({ name }) => this.#tell(name, "blind"),
    });
  }

  /** @param cluster `null`: all */
  services(cluster: string | null): readonly SeenService[] {
    return this.#services.flatMap(({ pool: name, service }) => {
      const pool = this.#pools.get(name);
      const namespace = this.#namespaces.get(service.namespace);
      const publisher = namespace?.publisherOf(service.name);
      if (pool === undefined || namespace === undefined || publisher === undefined) return [];
      return cluster === null || pool.cluster === cluster ? [this.#seen(pool, namespace, publisher)] : [];
    });
  }

  #seen({ name: pool, cluster }: PoolConfig, namespace: NamespaceServices, publisher: ServicePublisher): SeenService {
    const { key, standing, isMisleading, wroteAtMs, problem, published } = publisher;
    const writer = publishedOf(published.own)?.writer ?? null;
    return {
      service: `${key.namespace}/${key.name}`,
      cluster,
      pool,
      standing,
      writer,
      isMine: writer === this.#me,
      isMisleading,
      endpoints: published.own.flatMap(({ endpoints, port }) => endpoints.map((one) => ({ ...one, port }))),
      wroteAtMs,
      // Without the pods, slices lack their names alone, and Events are for people.
      problems: [
        ...(problem === null ? [] : [problem]),
        ...namespace.problems.filter(({ of }) => of !== "pods" && of !== "events"),
      ],
    };
  }

  configure({ kubernetes, pools, probe }: Config): void {
    this.#services = kubernetes?.services ?? [];
    const used = new Set(this.#services.map(({ pool }) => pool));
    const followed = pools.filter(({ name }) => used.has(name));
    for (const name of this.#members.keys()) if (!used.has(name)) this.#members.delete(name);
    const byName = new Map(followed.map((pool) => [pool.name, pool]));
    this.#pools = byName;
    const names = new Set(this.#services.map(({ service }) => service.namespace));
    for (const [name, namespace] of this.#namespaces)
      if (!names.has(name)) {
        namespace.stop();
        this.#namespaces.delete(name);
      }
    for (const name of names) {
      const services = this.#services.filter(({ service }) => service.namespace === name);
      this.#namespace(name).configure(services.flatMap((one) => keyOf(one, byName)));
    }
    for (const [pool, members] of this.#members) this.#tell(pool, members);
    this.#endpoints.configure(followed, probe.intervalMs + probe.timeoutMs);
  }

  clusterChanged(cluster: string): void {
    if (!this.#host.isWithdrawn()) this.#endpoints.clusterChanged(cluster);
  }

  /** Another rolecall has to publish: this one does not ask nodes in time. */
  withdrawn(): void {
    for (const pool of this.#members.keys()) this.#tell(pool, "blind");
  }

  /** Ends the Leases: others take over at once. */
  async release(): Promise<void> {
    await Promise.all([...this.#namespaces.values()].map((namespace) => namespace.release()));
  }

  stop(): void {
    this.#endpoints.stop();
    this.#addresses.stop();
    for (const namespace of this.#namespaces.values()) namespace.stop();
  }

  #namespace(name: string): NamespaceServices {
    const known = this.#namespaces.get(name);
    if (known !== undefined) return known;
    const { random, wall, isWithdrawn, metrics } = this.#host;
    const namespace = new NamespaceServices(name, {
      client: this.#client,
      me: this.#me,
      now: monotonic,
      random,
      wall,
      setTimer: this.#scope.setTimer,
      isWithdrawn,
      renewMs: () => Math.max(renewal.everyMs, (this.#namespaces.size / renewal.perSecond) * 1_000),
      place: () => this.#places.take(),
      eventPlace: () => this.#eventPlaces.take(),
      onWrite: (outcome) => metrics.count("serviceWrites", { namespace: name, outcome }),
      onPublished: (lateMs) => metrics.observe("serviceLateness", { namespace: name }, lateMs),
      onChange: this.#reporter(name),
    });
    this.#namespaces.set(name, namespace);
    return namespace;
  }

  /** @returns logs the problems of a namespace when they change, and has the conditions of its clusters looked at */
  #reporter(name: string): () => void {
    const { log, changed } = this.#host;
    let logged: string | null = null;
    let cancelTimer: CancelTimer | null = null;
    const look = (): void => {
      const clusters = new Set(
        this.#services.flatMap(({ pool, service }) =>
          service.namespace === name ? (this.#pools.get(pool)?.cluster ?? []) : [],
        ),
      );
      for (const cluster of clusters) changed(cluster);
    };
    return () => {
      const namespace = this.#namespaces.get(name);
      if (namespace === undefined) return;
      const problems = [...namespace.problems, ...namespace.publishers.flatMap(({ problem }) => problem ?? [])];
      const text =
        problems.length === 0
          ? null
          : problems
              .slice(0, 3)
              .map((one) => one.text)
              .join("; ");
      if (text !== logged && text !== null) log.warn({ namespace: name, problem: text }, "Services not published");
      logged = text;
      look();
      // A problem that may pass by itself counts when it has lasted.
      cancelTimer?.();
      cancelTimer = text === null ? null : this.#scope.setTimer(look, patience.passingMs);
    };
  }

  #tell(pool: string, members: KnownMembers): void {
    this.#members.set(pool, members);
    for (const publisher of this.#publishersOf(pool)) publisher.setMembers(members);
  }

  #publishersOf(pool: string): readonly ServicePublisher[] {
    return this.#services
      .filter((one) => one.pool === pool)
      .flatMap(({ service }) => this.#namespaces.get(service.namespace)?.publisherOf(service.name) ?? []);
  }
}

function keyOf(
  { pool, service, port }: PublishedServiceConfig,
  pools: ReadonlyMap<string, PoolConfig>,
): ServicePublisher["key"][] {
  const found = pools.get(pool);
  return found === undefined ? [] : [{ ...service, port, isOfPrimary: isOfPrimary(found) }];
}

/** Reasons that say that a node does not answer this rolecall. */
const unreached: ReadonlySet<Reason> = new Set<Reason>(["down", "stale", "unknown"]);

function memberOf({ member, at: { ip, isElsewhere } }: PoolEndpoint): Omit<ServiceMember, "pod"> {
  const { observation, address, zone, verdict, isSilent } = member;
  const isFit = verdict.fit && !isElsewhere;
  return {
    node: observation.node.name,
    address: address === null || ip === null ? null : { ip, port: address.port },
    isFit,
    isServing: isFit || (!verdict.fit && isSoft(verdict.reason)),
    isSilent,
    // A member whose address is not known here may be known to another one.
    isUnreached: verdict.fit ? ip === null || isElsewhere : unreached.has(verdict.reason),
    why: isFit ? null : verdict.fit ? "elsewhere than its name leads" : verdict.reason,
    zone,
  };
}

/** The kinds of requests that are counted separately. */
function requestKind({ method, path }: Pick<ApiCall, "method" | "path">): string {
  if (path.includes("/leases")) return method === "GET" ? "watch" : "lease";
  if (method === "GET") return path.includes("watch=true") ? "watch" : "read";
  return path.endsWith("/events") ? "event" : "write";
}

/** The name of the host as a name in Kubernetes: that of the pod, in a pod. */
function instanceOfHost(): string {
  const name = hostname()
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
  return name === "" ? "rolecall" : name.slice(-48).replace(/^-+/, "");
}

function monotonic(): number {
  return performance.now();
}

/** So many at a time, the others in the order in which they came. */
class Places {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** @returns gives the place back */
  async take(): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    return () => {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    };
  }
}

import { hostname } from "node:os";
import { EndpointAddresses } from "../../core/balancing/endpoint-addresses.ts";
import { HostAddresses } from "../../core/balancing/host-addresses.ts";
import { type PoolEndpoint, PoolEndpoints } from "../../core/balancing/pool-endpoints.ts";
import { isOfPrimary } from "../../core/balancing/pool-verdicts.ts";
import type { Config, PoolConfig } from "../../core/config/model/config.ts";
import type { Host, Opened } from "../../core/feature/feature.ts";
import type { Scope } from "../../core/feature/scope.ts";
import { isSoft, type Reason } from "../../core/health/reason.ts";
import { readApiAccess } from "./api/api-access.ts";
import { ApiClient } from "./api/api-client.ts";
import type { KubernetesConfig, PublishedServiceConfig } from "./config/kubernetes-schema.ts";
import type { ServiceMember } from "./core/service-content.ts";
import { NamespaceServices } from "./slices/namespace-services.ts";
import type { KnownMembers, ServicePublisher } from "./slices/service-publisher.ts";

/** What is published to Kubernetes in a process. */
export interface RunningKubernetes extends Opened {
  readonly namespaces: readonly NamespaceServices[];
}

/** What publishing needs of its host. */
type KubernetesHost = Pick<
  Host,
  | "log"
  | "observe"
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

/** Publishes the Services of the configuration until the scope ends. What is published stays then. */
export function openKubernetes(host: KubernetesHost, scope: Scope): RunningKubernetes {
  let running: Publishing | null = null;
  let settings = "";
  scope.hold("the Services of Kubernetes", () => running?.stop());
  return {
    configure: (config) => {
      if (config.kubernetes === null) return;
      const { services: _, ...access } = config.kubernetes;
      if (running === null || settings !== JSON.stringify(access)) {
        running?.stop();
        running = new Publishing(config.kubernetes, host, scope);
        settings = JSON.stringify(access);
      }
      running.configure(config);
    },
    clusterChanged: (cluster) => running?.clusterChanged(cluster),
    withdrawn: () => running?.withdrawn(),
    stopping: async () => running?.release(),
    get namespaces() {
      return running?.namespaces ?? [];
    },
  };
}

class Publishing {
  readonly #host: KubernetesHost;
  readonly #scope: Scope;
  readonly #client: ApiClient;
  readonly #me: string;
  readonly #addresses: EndpointAddresses;
  readonly #endpoints: PoolEndpoints;
  readonly #namespaces = new Map<string, NamespaceServices>();
  readonly #places: Places = new Places(writesMax);
  #services: readonly PublishedServiceConfig[] = [];
  /** What is known of each pool. */
  readonly #members = new Map<string, KnownMembers>();

  constructor(config: NonNullable<KubernetesConfig>, host: KubernetesHost, scope: Scope) {
    const { observe: now, cluster, policy, probedAt, reconnectTo, contained } = host;
    const { setTimer } = scope;
    this.#host = host;
    this.#scope = scope;
    this.#me = config.instance ?? instanceOfHost();
    this.#client = new ApiClient({ readAccess: () => readApiAccess(config, process.env), now: monotonic });
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

  get namespaces(): readonly NamespaceServices[] {
    return [...this.#namespaces.values()];
  }

  configure({ kubernetes, pools, probe }: Config): void {
    this.#services = kubernetes?.services ?? [];
    const used = new Set(this.#services.map(({ pool }) => pool));
    const followed = pools.filter(({ name }) => used.has(name));
    for (const name of this.#members.keys()) if (!used.has(name)) this.#members.delete(name);
    const byName = new Map(followed.map((pool) => [pool.name, pool]));
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
    await Promise.all(this.namespaces.map((namespace) => namespace.release()));
  }

  stop(): void {
    this.#endpoints.stop();
    this.#addresses.stop();
    for (const namespace of this.#namespaces.values()) namespace.stop();
    this.#client.close();
  }

  #namespace(name: string): NamespaceServices {
    const known = this.#namespaces.get(name);
    if (known !== undefined) return known;
    const { random, wall, isWithdrawn, log } = this.#host;
    let told: string | null = null;
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
      onWrite: () => {},
      onChange: () => {
        const problems = [...namespace.problems, ...namespace.publishers.flatMap(({ problem }) => problem ?? [])];
        const text = problems.length === 0 ? null : problems.slice(0, 3).join("; ");
        if (text !== told && text !== null) log.warn({ namespace: name, problem: text }, "Services not published");
        told = text;
      },
    });
    this.#namespaces.set(name, namespace);
    return namespace;
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
    zone,
  };
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

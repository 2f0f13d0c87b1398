import type { LackingAcknowledgement } from "./audit/xds-source.ts";
import type { Duplex } from "node:stream";
import type { CancelTimer } from "../../core/cluster/timer.ts";
import type { PoolConfig } from "../../core/config/model/config.ts";
import type { Scope } from "../../core/feature/scope.ts";
import { LimitedLines } from "../../core/log/limited-lines.ts";
import type { Logger } from "../../core/log/logger.ts";
import type { BalancerStatus } from "../../core/balancing/balancer.ts";
import { HostAddresses, type LookUp } from "../../core/balancing/host-addresses.ts";
import { isOfPrimary } from "../../core/balancing/pool-verdicts.ts";
import type { CountedEnvoys } from "./counted-envoys.ts";
import { Encodings } from "./encodings.ts";
import { EndpointAddresses } from "../../core/balancing/endpoint-addresses.ts";
import { EnvoyNames } from "./envoy-names.ts";
import { GrpcServer, type GrpcWire, type StreamHandler } from "./grpc-server.ts";
import { encodeAssignment } from "./messages/codec.ts";
import { type AssignmentsContext, PoolAssignments, type PublishedPool, type SharedRules } from "./pool-assignments.ts";
import { SharedNames } from "./protocol/shared-names.ts";
import type { XdsResponse } from "./protocol/xds-messages.ts";
import { ResponseTurns } from "./response-turns.ts";
import type { XdsCounter } from "./xds-counter.ts";
import { XdsStream } from "./xds-stream.ts";

/** What a service depends on. */
export interface XdsServiceContext extends Omit<AssignmentsContext, "addresses" | "onChange" | "setTimer"> {
  /** Replaced in tests. */
  readonly lookUp?: LookUp;
  readonly log: Logger;
  readonly metrics: XdsCounter;
  /** Called with an internal error while a stream was handled. */
  readonly onStreamError: (error: unknown) => void;
}

/** The settings of a listener, and the pools that it serves. */
export interface XdsSettings extends SharedRules {
  /** Its name in logs and metrics: its address and port. */
  readonly name: string;
  readonly pools: readonly PoolConfig[];
  /** The Envoys that a switchover waits for, and that the audit looks at. */
  readonly counted: CountedEnvoys;
}

/** How many streams all connections of a listener may have together: each takes some 50 kB with a few pools. */
const streamsMax = 4_096;
/**
 * A node whose sessions could not live (while it was promoted) is used once Envoy has checked it again: every 25 ms, as
 * `render envoy --xds` writes it. So much time that takes at most, in ms.
 */
const checkedMs = 100;
/** How often it is looked whether that time is over, in ms. */
const lookMs = 10;
/** How many Envoys, and problems of each, are shown. */
const shownMax = 100;

/** Serves the pools of one listener with the dialect xds to the Envoys that connect to it. */
export class XdsService {
  readonly #context: XdsServiceContext;
  readonly #scope: Scope;
  readonly #addresses: EndpointAddresses;
  readonly #assignments: PoolAssignments;
  readonly #names = new SharedNames();
  readonly #encodings = new Encodings((pool, zone) => encodeAssignment(pool.pool.name, pool.assignment, zone));
  readonly #server: GrpcServer;
  readonly #turns: ResponseTurns;
  readonly #streams = new Map<XdsStream, GrpcWire>();
  readonly #waiting = new Set<() => void>();
  readonly #lines: LimitedLines;
  /** The unknown names of each stream that were logged. */
  readonly #unknown = new WeakMap<XdsStream, string>();
  /** The nodes that each pool leaves out, as they were logged. */
  readonly #leftOut = new Map<string, string>();
  #settings: XdsSettings;
  #cancelRefresh: () => void = () => {};

  /** @param scope ends all streams, connections and timers: Envoys connect elsewhere */
  constructor(settings: XdsSettings, context: XdsServiceContext, scope: Scope) {
    const { log, now, lookUp } = context;
    const { setTimer } = scope;
    this.#context = context;
    this.#scope = scope;
    this.#turns = new ResponseTurns(setTimer);
    this.#settings = settings;
    this.#lines = new LimitedLines(log, { what: "lines about Envoys", level: "warn", max: 20, periodMs: 60_000 });
    const onChange = (): void => this.#assignments.addressesChanged();
    this.#addresses = new EndpointAddresses({ hosts: new HostAddresses(now, lookUp, onChange), setTimer, onChange });
    this.#assignments = new PoolAssignments({
      ...context,
      setTimer,
      addresses: this.#addresses,
      onChange: (pools) => this.#publish(pools),
    });
    this.#server = new GrpcServer({
      instance: context.instance,
      open: (wire) => this.#open(wire),
      onError: context.onStreamError,
    });
    scope.hold("limits of log lines", () => this.#lines.end());
    scope.hold("the gRPC server", () => this.#server.close());
    scope.hold("the streams", () => this.disconnect("rolecall is stopping"));
    this.configure(settings);
  }

  /** The name of the listener in logs and metrics. */
  get name(): string {
    return this.#settings.name;
  }

  /** Serves by other settings from now on. Streams stay, and get what differs. */
  configure(settings: XdsSettings): void {
    this.#settings = settings;
    this.#assignments.configure(settings.pools, settings);
    this.#cancelRefresh();
    if (settings.staleAfterMs !== null) this.#refreshEvery(settings.staleAfterMs / 3);
    for (const [stream, wire] of this.#streams) {
      // Only the client knows the names that were forgotten: it tells them again on its next stream.
      if (stream.hasForgotten) wire.end("the pools have changed");
      else stream.update(this.#assignments.published, this.#context.now());
    }
  }

  /** Speaks with a client on a connection that the listener has accepted. */
  accept(connection: Duplex): void {
    if (this.#scope.signal.aborted) connection.destroy();
    else this.#server.accept(connection);
  }

  /** Judges the pools of a cluster whose state may have changed. */
  clusterChanged(cluster: string): void {
    this.#assignments.clusterChanged(cluster);
  }

  /** Whether clients that count subscribe to a pool of this cluster's primary. */
  leadsToPrimary(cluster: string): boolean {
    return this.#counted.some((stream) => stream.pools.some((pool) => leadsTo(pool, cluster)));
  }

  /** How many other clients do: they are served, and nobody waits for them. */
  uncounted(cluster: string): number {
    const others = [...this.#streams.keys()].filter((stream) => !this.#counts(stream));
    return others.filter((stream) => stream.pools.some((pool) => leadsTo(pool, cluster))).length;
  }

  /**
   * Waits until every Envoy that counts with a pool of a cluster's primary has taken an assignment in which this node alone gets
   * new connections. Never rejects.
   * @returns `null` once all have; else what is missing
   */
  async lead(cluster: string, node: string, limitMs: number): Promise<string | null> {
    const { setTimer, signal } = this.#scope;
    return new Promise((resolve) => {
      let cancelLook: CancelTimer | null = null;
      const look = (): void => {
        cancelLook?.();
        if (this.#missing(cluster, node) === null) end(null);
        else cancelLook = setTimer(look, lookMs);
      };
      const end = (result: string | null): void => {
        for (const cancel of [cancelLook, cancelLimit]) cancel?.();
        this.#waiting.delete(look);
        signal.removeEventListener("abort", leave);
        resolve(result);
      };
      const cancelLimit = setTimer(() => end(this.#missing(cluster, node)), limitMs);
      const leave = (): void => end("rolecall does not serve these Envoys any more");
      signal.addEventListener("abort", leave);
      this.#waiting.add(look);
      look();
    });
  }

  /** What is known of each Envoy now. @param only the pools of this cluster; `null`: all */
  statuses(only: string | null): readonly BalancerStatus[] {
    const names = new EnvoyNames(this.#streams.keys());
    return [...this.#streams.keys()].slice(0, shownMax).map((stream) => this.#statusOf(stream, names, only));
  }

  /** Of each Envoy that counts, one after the other, the pools that it subscribes to and whose newest assignment it has not taken. */
  *lackingAcknowledgements(): Iterable<readonly LackingAcknowledgement[]> {
    const names = new EnvoyNames(this.#streams.keys());
    for (const stream of this.#counted)
      yield stream.pools.flatMap((pool) => {
        const state = stream.stateOf(pool);
        if (state === "has") return [];
        const refusal = state === "refused" ? (stream.refusal?.problem ?? null) : null;
        return [{ envoy: names.of(stream), pool: pool.pool.name, state, refusal }];
      });
  }

  /** Ends all streams. What is published stays, for those that connect later. */
  disconnect(why: string): void {
    for (const wire of this.#streams.values()) wire.end(why);
  }

  get #counted(): readonly XdsStream[] {
    return [...this.#streams.keys()].filter((stream) => this.#counts(stream));
  }

  #counts({ client }: XdsStream): boolean {
    const { counted } = this.#settings;
    return counted === "all" || (client !== null && counted.has(client.id));
  }

  #open(wire: GrpcWire): StreamHandler | string {
    if (this.#streams.size >= streamsMax) return `${streamsMax} streams are open`;
    const counted = {
      form: wire.form,
      peer: wire.peer,
      send: (response: XdsResponse): boolean => {
        this.#context.metrics.count("xdsResponses", { listener: this.#settings.name });
        return wire.send(response, this.#turns.count(sizeOf(response)));
      },
    };
    const turn = { go: () => stream.go(this.#context.now()) };
    const stream = new XdsStream(counted, {
      has: (name) => this.#assignments.has(name),
      names: this.#names,
      of: (name) => this.#assignments.of(name),
      published: () => this.#assignments.published,
      versions: () => this.#assignments.versions,
      encoded: (pool, zone) => this.#encodings.of(pool, zone),
      mayGo: () => this.#turns.mayGo(turn),
    });
    this.#streams.set(stream, wire);
    this.#count();
    return {
      receive: (request) => {
        const isFirst = stream.client === null;
        const refusal = stream.receive(request, this.#context.now());
        if (isFirst && stream.client !== null) this.#logClient(stream, "Envoy connected");
        if (refusal !== null) this.#logRefusal(stream, refusal.problem);
        this.#logUnknown(stream);
        this.#settle();
      },
      drained: () => stream.drained(this.#context.now()),
      ended: () => {
        if (!this.#streams.delete(stream)) return;
        this.#turns.remove(turn);
        if (stream.client !== null) this.#logClient(stream, "Envoy left");
        this.#count();
        this.#settle();
      },
    };
  }

  #publish(pools: readonly PublishedPool[]): void {
    for (const { pool, leftOut } of pools) this.#logLeftOut(pool.name, leftOut);
    for (const stream of this.#streams.keys()) stream.update(pools, this.#context.now());
    this.#settle();
  }

  #refreshEvery(ms: number): void {
    this.#cancelRefresh = this.#scope.setTimer(() => {
      this.#assignments.refresh();
      this.#refreshEvery(ms);
    }, ms);
  }

  /** Tells those who wait that a client may have taken something. */
  #settle(): void {
    for (const check of this.#waiting) check();
  }

  /** @returns what keeps the clients of a cluster's primary from going to this node; `null`: nothing */
  #missing(cluster: string, node: string): string | null {
    for (const stream of this.#counted)
      for (const pool of stream.pools) {
        if (!leadsTo(pool, cluster)) continue;
        const healthy = pool.assignment.endpoints.filter(({ isHealthy }) => isHealthy).map((one) => one.node);
        if (healthy.length !== 1 || healthy[0] !== node)
          return `${pool.pool.name} leads to ${healthy.length === 0 ? "no node" : healthy.join(", ")}`;
        const state = stream.stateOf(pool);
        if (state !== "has") return `Envoy ${stream.name} has not taken ${pool.pool.name}`;
        const sinceMs = this.#assignments.sessionsSinceMs(pool.pool.name, node);
        if (sinceMs === null || this.#context.now() - sinceMs < checkedMs)
          return `Envoy ${stream.name} has not checked ${node} again`;
      }
    return null;
  }

  #statusOf(stream: XdsStream, names: EnvoyNames, only: string | null): BalancerStatus {
    const pools = stream.pools.filter(({ pool }) => only === null || pool.cluster === only);
    const { sentAtMs, wire, client } = stream;
    return {
      balancer: names.of(stream),
      kind: "envoy",
      socket: wire.peer,
      up: true,
      version: client?.version ?? null,
      waiting: pools.filter((pool) => stream.stateOf(pool) === "waits").length,
      pushed_ms_ago: sentAtMs === null ? null : Math.round(this.#context.now() - sentAtMs),
      problems: problemsOf(stream, pools, only),
      servers: pools.flatMap(serversOf).slice(0, shownMax),
    };
  }

  #count(): void {
    this.#context.metrics.set("xdsStreams", { listener: this.#settings.name }, this.#streams.size);
  }

  #logClient({ name, client, wire }: XdsStream, text: string): void {
    const fields = { listener: this.#settings.name, envoy: name, address: wire.peer, zone: client?.zone ?? "" };
    this.#lines.write({ level: "info", text }, () => fields);
  }

  /** Envoy neither refuses nor counts a name that nobody serves: without this line nobody would know. */
  #logUnknown(stream: XdsStream): void {
    const names = stream.unknownNames;
    if (names.length === 0 || names.join(" ") === this.#unknown.get(stream)) return;
    this.#unknown.set(stream, names.join(" "));
    const fields = { listener: this.#settings.name, envoy: stream.name, pools: names.slice(0, 10) };
    this.#lines.write(
      { level: "warn", text: "Envoy subscribes to pools that this listener does not have" },
      () => fields,
    );
  }

  #logLeftOut(pool: string, nodes: readonly string[]): void {
    const names = nodes.join(" ");
    if (names === (this.#leftOut.get(pool) ?? "")) return;
    this.#leftOut.set(pool, names);
    const fields = { listener: this.#settings.name, pool, nodes };
    const text =
      names === "" ? "Envoys get all fit nodes again" : "Envoys do not get nodes whose IP address is not known";
    this.#lines.write({ level: names === "" ? "info" : "warn", text }, () => fields);
  }

  #logRefusal({ name, wire }: XdsStream, problem: string): void {
    this.#context.metrics.count("xdsRefusals", { listener: this.#settings.name });
    const fields = { listener: this.#settings.name, envoy: name, address: wire.peer, problem };
    this.#lines.write({ level: "warn", text: "Envoy refuses an assignment and keeps the last one" }, () => fields);
  }
}

/** The bytes of a response, but for its envelope. */
function sizeOf({ resources }: XdsResponse): number {
  return resources.reduce((sum, { value }) => sum + value.length, 0);
}

/** Whether a pool leads to the primary of a cluster. */
function leadsTo({ pool }: PublishedPool, cluster: string): boolean {
  return pool.cluster === cluster && isOfPrimary(pool);
}

/** @param pools those that it subscribes to and that are shown */
function problemsOf(
  { refusal, unknownNames }: XdsStream,
  pools: readonly PublishedPool[],
  only: string | null,
): BalancerStatus["problems"] {
  const leftOut = pools.flatMap(({ pool, leftOut: nodes }) =>
    nodes.map((node) => ({ subject: `${pool.name}/${node}`, problem: "left out: its IP address is not known" })),
  );
  if (only !== null) return leftOut;
  return [
    ...(refusal === null ? [] : [{ subject: "assignment", problem: `Envoy refuses it: ${refusal.problem}` }]),
    ...unknownNames.map((name) => ({ subject: `pool ${name}`, problem: "no pool of this listener has this name" })),
    ...leftOut,
  ];
}

function serversOf({ pool, assignment }: PublishedPool): BalancerStatus["servers"] {
  return assignment.endpoints.map(({ node, isHealthy, weight }) => ({
    backend: pool.name,
    server: node,
    target: isHealthy ? "up" : "down",
    weight,
  }));
}

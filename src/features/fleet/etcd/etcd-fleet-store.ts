import type { SetTimer } from "../../../core/cluster/timer.ts";
import { errorMessage } from "../../../core/cluster/values/error-message.ts";
import { withoutUnsafe } from "../../../core/cluster/values/unsafe-text.ts";
import type { AccessMaterial } from "../../../core/config/access-material.ts";
import { EtcdClient, type EtcdLimits, statusText } from "../../../core/etcd/etcd-client.ts";
import { encode, folderRange, type KeyEvent, parseRange, type RangeReply } from "../../../core/etcd/etcd-messages.ts";
import { EtcdWatch, WatchLimit, type WatchUnits } from "../../../core/etcd/etcd-watch.ts";
import type { ClaimedKey, FleetStore, StoreEvents, StorePhase } from "../ownership/fleet-store.ts";
import {
  claimOrReadRequest,
  claimRequest,
  parseClaim,
  parseGrant,
  parseKeepAlive,
  parseTransaction,
  passRequest,
  putRequest,
  releaseRequest,
} from "./fleet-requests.ts";

/** Where the keys of a fleet are. */
export interface FleetLocation {
  /** Base addresses of the members of etcd. */
  readonly urls: readonly string[];
  /** With a slash at its end. */
  readonly folder: string;
  readonly leaseMs: number;
}

/** What the store depends on. */
export interface EtcdFleetContext {
  /** Reads the files of passwords, keys and certificates. */
  readonly access: () => AccessMaterial;
  readonly setTimer: SetTimer;
  /** A number from 0 up to 1. */
  readonly random: () => number;
}

/** The deadline of each request, in ms, if the lease is not so short that a part of it is less. */
const requestMaxMs = 1_500;
/** The longest text of a problem, in characters. */
const problemMax = 300;
/** How long to wait before another member of etcd is tried, in ms. */
const retryMs = 500;
/** All keys of a fleet of 50 members and 10,000 clusters are some 20 MB: they are read with one call. */
const allKeys = { bodyMax: 64 * 1024 * 1024, json: { members: 2_000_000, separators: 2_000_000 } } as const;
/** Other calls are answered with a few words. A claim that another holds comes back with the value of its key. */
const limits: EtcdLimits = {
  bodyMax: 256 * 1024,
  json: { members: 4_096, separators: 8_192 },
  byPath: new Map([["/v3/kv/range", allKeys]]),
  connection: { perSecond: 16 * 1024 * 1024, burst: 128 * 1024 * 1024 },
};
/** A member that leaves gives back all of its clusters at once, and one that serves 10,000 has a key of 1 MB. */
const watchUnits: WatchUnits = {
  perSecond: 20_000,
  burst: 100_000,
  change: 1,
  messageMax: 8 * 1024 * 1024,
  json: { members: 500_000, separators: 500_000 },
};

/** What belongs to one connection. */
interface Session {
  readonly client: EtcdClient;
  readonly lease: string;
}

/** All keys of the fleet when a connection began. */
interface KnownKeys extends Pick<RangeReply, "revision" | "found"> {
  /** Why the member's own key could not be written; `null`: it was. */
  readonly problem: string | null;
}

type Register = Parameters<FleetStore["start"]>[0];

/** The keys of a fleet in etcd v3. The members of etcd are tried in turn. */
export class EtcdFleetStore implements FleetStore {
  readonly #location: FleetLocation;
  readonly #context: EtcdFleetContext;
  #register: Register | null = null;
  #events: StoreEvents | null = null;
  #phase: StorePhase = { kind: "joining" };
  /** The lease of the last connection: it may live still. */
  #lease: string | null = null;
  #session: Session | null = null;
  /** The client of the connection that is being made; `null`: none is. */
  #connecting: EtcdClient | null = null;
  /** Whether the member's own key has the value that it should have. */
  #isRegistered = false;
  #at = 0;
  readonly #waits = new Set<() => void>();
  #endSession: (problem: string) => void = () => {};

  constructor(location: FleetLocation, context: EtcdFleetContext) {
    this.#location = location;
    this.#context = context;
  }

  start(register: Register, events: StoreEvents): void {
    this.#register = register;
    this.#events = events;
    void this.#run();
  }

  registerAgain(): void {
    if (this.#session !== null) void this.#putSelf(this.#session);
  }

  claim(key: string, value: string): Promise<boolean> {
    return this.#transact(({ lease }) => claimRequest(this.#pathOf(key), value, lease));
  }

  pass(key: string, from: string, to: { readonly value: string; readonly lease: string }): Promise<boolean> {
    return this.#transact(() => passRequest(this.#pathOf(key), from, to));
  }

  release(key: string, value: string): Promise<boolean> {
    return this.#transact(() => releaseRequest(this.#pathOf(key), value));
  }

  async putFor(key: string, value: string, lifeS: number): Promise<void> {
    const { client } = this.#connected();
    const lease = await leaseFrom(client, lifeS);
    await bodyOf(client, "/v3/kv/put", putRequest(this.#pathOf(key), value, lease));
  }

  async claimFor(key: string, value: string, lifeS: number): Promise<ClaimedKey> {
    const { client } = this.#connected();
    const lease = await leaseFrom(client, lifeS);
    const body = await bodyOf(client, "/v3/kv/txn", claimOrReadRequest(this.#pathOf(key), value, lease));
    const claimed = parseClaim(body, value);
    if (claimed === null) throw new Error("etcd must say who holds the key");
    if (claimed.value !== value) void client.call("/v3/lease/revoke", { ID: lease });
    return claimed;
  }

  async claimOrRead(key: string, value: string): Promise<string> {
    const { client, lease } = this.#connected();
    const request = claimOrReadRequest(this.#pathOf(key), value, lease);
    const claimed = parseClaim(await bodyOf(client, "/v3/kv/txn", request), value);
    if (claimed === null) throw new Error("etcd must say who holds the key");
    return claimed.value;
  }

  async remove(key: string): Promise<void> {
    await bodyOf(this.#connected().client, "/v3/kv/deleterange", { key: encode(this.#pathOf(key)) });
  }

  async stop(): Promise<void> {
    if (this.#phase.kind === "stopped") return;
    const session = this.#session;
    this.#enter({ kind: "stopped" });
    if (session !== null) await revoke(session);
    // A lease that was granted meanwhile is given back.
    else if (this.#lease === null) this.#connecting?.close();
    this.#endWaits();
    this.#endSession("stopped");
  }

  async #run(): Promise<void> {
    while (this.#phase.kind !== "stopped") {
      const problem = await this.#connectOnce().catch(problemOf);
      if (this.#isStopped()) return;
      this.#enter({ kind: "apart", problem });
      this.#at = (this.#at + 1) % this.#location.urls.length;
      await this.#wait(retryMs * (0.5 + this.#context.random()));
    }
  }

  /** Joins, and keeps the lease alive. @returns why the connection has ended @throws Error why it could not begin */
  async #connectOnce(): Promise<string> {
    const client = this.#open();
    this.#connecting = client;
    try {
      this.#lease = (await this.#livingLease(client)) ?? (await leaseFrom(client, this.#location.leaseMs / 1_000));
      const session = { client, lease: this.#lease };
      const problem = await this.#putSelf(session);
      const { revision, found } = await this.#readAll(client);
      if (!this.#isStopped()) return await this.#follow(session, { revision, found, problem });
      await revoke(session);
      return "stopped";
    } finally {
      this.#connecting = null;
      client.close();
    }
  }

  async #follow(session: Session, { revision, found, problem }: KnownKeys): Promise<string> {
    const { folder } = this.#location;
    const watch = new EtcdWatch<KeyEvent>(session.client, {
      folder,
      afterRevision: revision,
      timeoutMs: this.#requestMs,
      limit: new WatchLimit(watchUnits),
      changeOf: (event) => event,
      onChange: ({ key, value }) => this.#events?.onChange(key, value),
    });
    this.#session = session;
    const ended = Promise.race([
      watch.ended.then(({ detail }) => `the watch has ended: ${detail}`),
      this.#keepAlive(session),
      new Promise<string>((resolve) => {
        this.#endSession = resolve;
      }),
    ]);
    this.#enter({ kind: "joined", lease: session.lease, problem });
    this.#events?.onAll(new Map(found.map(({ key, value }) => [key.slice(folder.length), value])));
    try {
      return await ended;
    } finally {
      this.#session = null;
      watch.cancel();
      this.#endWaits();
    }
  }

  /**
   * Keeps the lease of a connection alive, from now on: with a slow etcd most of it has passed when all keys are read.
   * @returns why it does not live
   * @throws Error why that is not known
   */
  async #keepAlive(session: Session): Promise<string> {
    while (this.#session === session) {
      if ((await keptAliveS(session.client, session.lease)) === 0) return "the lease has ended";
      if (this.#isRefused) await this.#putSelf(session);
      await this.#wait(this.#location.leaseMs / 3);
    }
    return "the connection has ended";
  }

  /** The lease of the connection before, if it lives. */
  async #livingLease(client: EtcdClient): Promise<string | null> {
    const lease = this.#lease;
    return lease === null || (await keptAliveS(client, lease)) === 0 ? null : lease;
  }

  /** Writes the member's own key. If that is refused, it is tried again with the lease. @returns why it was refused */
  async #putSelf(session: Session): Promise<string | null> {
    const register = this.#register;
    if (register === null) return null;
    const { client, lease } = session;
    try {
      await bodyOf(client, "/v3/kv/put", putRequest(this.#pathOf(register.key), register.value(lease), lease));
      this.#isRegistered = true;
      this.#noteWrite(session, null);
      return null;
    } catch (error) {
      this.#isRegistered = false;
      const problem = problemOf(error);
      this.#noteWrite(session, problem);
      return problem;
    }
  }

  /** Whether etcd takes what is written is seen with each write. @param problem why it did not; `null`: it did */
  #noteWrite(session: Session, problem: string | null): void {
    if (this.#session !== session || this.#phase.kind !== "joined" || this.#phase.problem === problem) return;
    // The key of this member decides: others go on with what it says.
    if (problem === null && !this.#isRegistered) return;
    this.#enter({ ...this.#phase, problem });
  }

  async #readAll(client: EtcdClient): Promise<RangeReply> {
    const range = parseRange(await bodyOf(client, "/v3/kv/range", folderRange(this.#location.folder)));
    if (range === null) throw new Error("Cannot read the keys of the fleet: etcd must answer a range request");
    return range;
  }

  async #transact(requestOf: (session: Session) => object): Promise<boolean> {
    const session = this.#session;
    if (session === null) return false;
    try {
      const isDone = parseTransaction(await bodyOf(session.client, "/v3/kv/txn", requestOf(session)));
      this.#noteWrite(session, null);
      return isDone === true;
    } catch (error) {
      this.#noteWrite(session, problemOf(error));
      return false;
    }
  }

  #connected(): Session {
    if (this.#session === null) throw new Error("Cannot write to etcd: this instance must be connected to it");
    return this.#session;
  }

  #open(): EtcdClient {
    const { urls } = this.#location;
    return new EtcdClient(urls[this.#at] ?? "", this.#context.access(), { timeoutMs: this.#requestMs, limits });
  }

  get #requestMs(): number {
    return Math.min(requestMaxMs, this.#location.leaseMs / 3);
  }

  #pathOf(key: string): string {
    return `${this.#location.folder}${key}`;
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        this.#waits.delete(end);
        resolve();
      };
      const cancel = this.#context.setTimer(end, ms);
      this.#waits.add(end);
    });
  }

  #endWaits(): void {
    for (const end of this.#waits) end();
  }

  /** Whether etcd has refused what was written last. */
  get #isRefused(): boolean {
    return this.#phase.kind === "joined" && this.#phase.problem !== null;
  }

  #isStopped(): boolean {
    return this.#phase.kind === "stopped";
  }

  #enter(phase: StorePhase): void {
    if (this.#isStopped()) return;
    this.#phase = phase;
    this.#events?.onPhase(phase);
  }
}

/** What an error says, for people. */
function problemOf(error: unknown): string {
  return withoutUnsafe(errorMessage(error).slice(0, problemMax));
}

async function revoke({ client, lease }: Session): Promise<void> {
  await client.call("/v3/lease/revoke", { ID: lease });
}

/** Gets a lease. @param lifeS in s @throws Error if etcd grants none */
async function leaseFrom(client: EtcdClient, lifeS: number): Promise<string> {
  const granted = parseGrant(await bodyOf(client, "/v3/lease/grant", { TTL: String(lifeS) }));
  if (granted === null) throw new Error("etcd must grant a lease");
  return granted;
}

/** Keeps a lease alive. @returns for how many seconds it lives on; 0 if it has ended @throws Error if that is not known */
async function keptAliveS(client: EtcdClient, lease: string): Promise<number> {
  const livesS = parseKeepAlive(await bodyOf(client, "/v3/lease/keepalive", { ID: lease }));
  if (livesS === null) throw new Error("etcd must answer for how long the lease lives");
  return livesS;
}

/** @throws Error why there is no answer */
async function bodyOf(client: EtcdClient, path: string, request: object): Promise<unknown> {
  const reply = await client.call(path, request);
  if ("failure" in reply) throw new Error(`${path.slice(4)}: ${reply.failure.detail}`);
  if (reply.status !== 200) throw new Error(`${path.slice(4)}: etcd answers ${statusText(reply)}`);
  return reply.body;
}

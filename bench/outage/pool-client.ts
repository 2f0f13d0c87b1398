/** The clients of one pool: new connections that write and read, and one long session of each kind. */
import { once, Session, type Outcome } from "./connections.ts";
import type { Recorder } from "./recorder.ts";
import type { Attempt, AttemptKind } from "./samples.ts";
import { query } from "./wire.ts";

/** The time between two new connections that write, while writes fail or do not reach a new leader yet. */
export const urgentMs = 20;
const recordingMs = 100;
const idleMs = 250;
/** Also the time that an application would wait for a connection. */
const deadlineMs = 1_000;
const inFlightMax = 60;
const readStatement = query("select inet_server_port(), at from outage_beat");

export interface PoolAddress {
  readonly name: string;
  readonly writePort: number;
  readonly readPort: number;
}

export class PoolClient {
  readonly name: string;
  readonly #address: PoolAddress;
  readonly #recorder: Recorder;
  /** The node of each database port. */
  readonly #nodes: ReadonlyMap<string, string>;
  readonly #writeStatement: Buffer;
  readonly #stop = new AbortController();
  /** Per kind: the node of the last attempt that succeeded, and whether the newest one did. */
  readonly #last = new Map<AttemptKind, Pick<Attempt, "node" | "startedAt" | "failure">>();
  readonly #sessions = new Map<"write" | "read", { readonly session: Session; readonly node: string }>();
  /** The factor of every pause between two connections or statements. */
  readonly #slowness: number;
  #inFlight = 0;

  /** @param number the pool's number, which its writes carry */
  constructor(
    address: PoolAddress,
    number: number,
    shared: { recorder: Recorder; nodes: ReadonlyMap<string, string>; slowness: number },
  ) {
    this.name = address.name;
    this.#address = address;
    this.#recorder = shared.recorder;
    this.#nodes = shared.nodes;
    this.#slowness = shared.slowness;
    this.#writeStatement = query(`insert into outage_write (pool) values (${number}) returning inet_server_port()`);
  }

  /** Starts all clients. They run until {@link stop}. */
  start(): void {
    this.#repeat(
      () => this.#writePause,
      () => this.#write(),
    );
    this.#repeat(
      () => (this.#recorder.isRecording ? 200 : 500),
      () => this.#read(),
    );
    this.#repeat(
      () => (this.#recorder.isRecording ? recordingMs : idleMs),
      () => this.#useSession(),
    );
    this.#repeat(
      () => (this.#recorder.isRecording ? recordingMs : idleMs),
      () => this.#keepReadSession(),
    );
  }

  stop(): void {
    this.#stop.abort();
    for (const { session } of this.#sessions.values()) session.close();
  }

  /** Whether the newest write and session reached this node, and the newest read another one. */
  isSettled(leader: string): boolean {
    const node = (kind: AttemptKind): string | null | undefined => this.#last.get(kind)?.node;
    const read = node("read");
    return (
      node("write") === leader && node("session") === leader && read !== null && read !== undefined && read !== leader
    );
  }

  /** What its newest attempts did, for messages. */
  get evidence(): string {
    return `${this.name}: ${[...this.#last].map(([kind, { node, failure }]) => `${kind} ${node ?? failure}`).join(", ")}`;
  }

  get #writePause(): number {
    if (!this.#recorder.isRecording) return idleMs;
    const { promoted } = this.#recorder;
    const node = this.#last.get("write")?.node ?? null;
    return node === null || (promoted !== undefined && node !== promoted) ? urgentMs : recordingMs;
  }

  /** Calls `act` now and after each pause, whether or not it is done. */
  #repeat(pauseMs: () => number, act: () => Promise<void>): void {
    if (this.#stop.signal.aborted) return;
    void act();
    setTimeout(() => this.#repeat(pauseMs, act), pauseMs() * this.#slowness);
  }

  async #write(): Promise<void> {
    if (this.#inFlight >= inFlightMax) return;
    this.#inFlight += 1;
    this.#record("write", await once(this.#address.writePort, this.#writeStatement, deadlineMs));
    this.#inFlight -= 1;
  }

  async #read(): Promise<void> {
    this.#record("read", await once(this.#address.readPort, readStatement, deadlineMs));
  }

  /** Writes on the long session. One that was closed is noted, and opened again. */
  async #useSession(): Promise<void> {
    const open = await this.#session("write");
    if (open === undefined || this.#busy) return;
    this.#busy = true;
    this.#record("session", await open.session.ask(this.#writeStatement, deadlineMs));
    this.#busy = false;
  }
  #busy = false;

  async #keepReadSession(): Promise<void> {
    await this.#session("read");
  }

  /** The open session of this kind. `undefined` while none can be opened. */
  async #session(kind: "write" | "read"): Promise<{ readonly session: Session; readonly node: string } | undefined> {
    const known = this.#sessions.get(kind);
    if (known !== undefined && known.session.closedAt === undefined) return known;
    if (known !== undefined) {
      this.#sessions.delete(kind);
      this.#recorder.cut({ pool: this.name, kind, node: known.node, at: known.session.closedAt ?? 0 });
    }
    if (this.#opening.has(kind)) return undefined;
    this.#opening.add(kind);
    const session = await Session.open(kind === "write" ? this.#address.writePort : this.#address.readPort, deadlineMs);
    const asked = await session?.ask(query("select inet_server_port()"), deadlineMs);
    this.#opening.delete(kind);
    const node = this.#nodes.get(asked?.row?.[0] ?? "");
    if (session === undefined || node === undefined || this.#stop.signal.aborted) {
      session?.close();
      return undefined;
    }
    this.#sessions.set(kind, { session, node });
    return this.#sessions.get(kind);
  }
  readonly #opening = new Set<"write" | "read">();

  #record(kind: AttemptKind, { startedAt, endedAt, row, failure }: Outcome): void {
    const node = this.#nodes.get(row?.[0] ?? "") ?? null;
    const beat = kind === "read" && node !== null ? Number(row?.[1] ?? 0) : null;
    const behindMs = beat === null ? null : this.#recorder.behind(beat, startedAt);
    const attempt: Attempt = {
      pool: this.name,
      kind,
      startedAt,
      endedAt,
      node,
      failure: node === null ? (failure ?? "no row") : null,
      behindMs,
    };
    this.#recorder.attempt(attempt);
    if (startedAt >= (this.#last.get(kind)?.startedAt ?? 0)) this.#last.set(kind, attempt);
  }
}

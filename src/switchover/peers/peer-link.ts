import { Client } from "undici";
import type { PeerConfig } from "../../config/model/config.ts";
import { firstLine } from "../../config/access-material.ts";
import { readTls } from "../../config/tls-material.ts";
import { errorMessage } from "../../cluster/values/error-message.ts";
import { objectOf, parseJson } from "../../cluster/values/json.ts";
import { withoutUnsafe } from "../../cluster/values/unsafe-text.ts";
import { PgbouncerConsole } from "../../push/pgbouncer/console.ts";
import { socketProblem } from "../../push/socket-problem.ts";
import type { IntendedPause, PauseIntent } from "../intent/pause-intent.ts";
import type { Safeguard } from "../run/switchover-run.ts";
import { byPooler, writtenAnnouncement, writtenHeartbeat } from "./announcement.ts";

/** What a peer says while a run goes on. */
export interface PeerLinkEvents {
  /** It answered a heartbeat, and would take over. */
  readonly onEcho: () => void;
  /** It has taken over, and resumes everything: this run must not go on. Called once. */
  readonly onTakenOver: (by: string) => void;
}

/** How far a link is. `told`: how many targets the peer knows to be open. */
type LinkState =
  | { readonly kind: "new" }
  /** The peer may have acknowledged. */
  | { readonly kind: "announced"; readonly session: PeerSession; readonly told: number }
  /** It hears what is closed still: it must not touch that. */
  | { readonly kind: "taken_over"; readonly session: PeerSession; readonly told: number }
  | { readonly kind: "ended" };

/** The connection to a peer, with the credentials that were read when it was made. */
interface PeerSession {
  readonly client: Client;
  readonly headers: Readonly<Record<string, string>>;
}

interface PeerReply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Each request to a peer must be answered within this time, in ms. */
const requestMs = 500;
/** A peer opens consoles before it answers an announcement. */
const announceMs = 2_000;
/** The longest answer of a peer, in bytes. */
const answerMax = 65_536;

/**
 * What one run says to one peer: that it will pause databases, then heartbeats, then that nothing is paused any more.
 * There is never more than one request at a time, each has a limit, and no error leaves it.
 */
export class PeerLink implements Safeguard {
  readonly name: string;
  readonly #peer: PeerConfig;
  readonly #intent: PauseIntent;
  readonly #events: PeerLinkEvents;
  #state: LinkState = { kind: "new" };
  #last: Promise<unknown> | null = null;

  constructor(peer: PeerConfig, intent: PauseIntent, events: PeerLinkEvents) {
    this.name = peer.name;
    this.#peer = peer;
    this.#intent = intent;
    this.#events = events;
  }

  /**
   * Announces what will be paused. The peer acknowledges only if it has reached the same PgBouncers. To be called once,
   * and before anything is paused.
   * @returns `null` once it is ready to resume all targets; else why it is not, and then it watches nothing
   */
  async arm(): Promise<string | null> {
    const problem = await this.#alone(this.#announce().catch((error: unknown) => textOf(error)));
    if (problem !== null) void this.end();
    return problem;
  }

  /**
   * Sends a heartbeat, unless a request is under way.
   * @param open positions of the targets that may still be paused. They only ever get fewer
   * @param leftMs until everything has to be resumed, in ms
   */
  beat(open: readonly number[], leftMs: number): void {
    void this.sendBeat(open, leftMs);
  }

  /** As {@link beat}. Resolves when the answer was read, or is late. */
  async sendBeat(open: readonly number[], leftMs: number): Promise<void> {
    const state = this.#state;
    if ((state.kind !== "announced" && state.kind !== "taken_over") || this.#last !== null) return;
    const { session, told } = state;
    const targets = open.flatMap((at) => this.#intent.targets[at] ?? []).filter(isReachable);
    const body = writtenHeartbeat({ open: targets.length === told ? null : targets, leftMs });
    const path = `${pathOf(this.#intent)}/heartbeat`;
    const sending = send(session, { method: "POST", path, body, limitMs: requestMs }).catch(() => null);
    const reply = await this.#alone(sending);
    if (reply === null || this.#state !== state) return;
    if (reply.status === 200) {
      this.#state = { ...state, told: targets.length };
      this.#events.onEcho();
    } else if (reply.status === 410) {
      this.#state = { kind: "taken_over", session, told: targets.length };
      if (state.kind === "announced") this.#events.onTakenOver(nameIn(reply, "by") ?? this.name);
    }
  }

  /** Says that nothing of the run is paused any more: the peer touches nothing from then on. */
  disarm(): void {
    void this.end();
  }

  /** As {@link disarm}. Resolves when the connection is closed. */
  async end(): Promise<void> {
    const state = this.#state;
    this.#state = { kind: "ended" };
    if (state.kind === "new" || state.kind === "ended") return;
    await this.#last;
    const { client } = state.session;
    const path = pathOf(this.#intent);
    await send(state.session, { method: "DELETE", path, body: null, limitMs: requestMs }).catch(() => null);
    await client.destroy().catch(() => {});
  }

  async #announce(): Promise<string | null> {
    const { run, cluster, deadlineWallMs } = this.#intent;
    const targets = this.#intent.targets.filter(isReachable);
    if (targets.length === 0) return "a peer reaches no pooler, because all have the folder of a Unix socket";
    const session = openSession(this.#peer);
    this.#state = { kind: "announced", session, told: targets.length };
    const witnesses = await openWitnesses(targets);
    try {
      const poolers = byPooler(targets).map(({ pooler, databases }) => ({
        pooler,
        databases,
        console: witnesses.get(pooler)?.name ?? "",
      }));
      const deadlineMs = Math.max(1, Math.round(deadlineWallMs - Date.now()));
      const body = writtenAnnouncement({ run, cluster, deadlineMs, poolers });
      const reply = await send(session, { method: "POST", path: "/pauses", body, limitMs: announceMs });
      if (reply.status === 200 && reply.body["acknowledged"] === true) return null;
      // Who refuses watches nothing. All else has to be taken back.
      if (reply.status >= 400) {
        this.#state = { kind: "ended" };
        void session.client.destroy().catch(() => {});
      }
      return nameIn(reply, "message") ?? `it answered ${reply.status}`;
    } finally {
      for (const console of witnesses.values()) console.close();
    }
  }

  /** Runs a request that nothing else runs beside. */
  async #alone<T>(request: Promise<T>): Promise<T> {
    this.#last = request;
    try {
      return await request;
    } finally {
      this.#last = null;
    }
  }
}

/** @throws Error if a file cannot be read */
function openSession({ url, tls, tokenFile }: PeerConfig): PeerSession {
  const token = tokenFile === null ? null : firstLine(tokenFile).trim();
  return {
    client: new Client(url, {
      connect: { timeout: requestMs, ...(tls === null ? {} : readTls(tls)) },
      pipelining: 1,
      maxResponseSize: answerMax,
      headersTimeout: 0,
      bodyTimeout: 0,
    }),
    headers: {
      "content-type": "application/json",
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
  };
}

/** Another machine has no folder of this one. */
function isReachable({ console: { address } }: IntendedPause): boolean {
  return "host" in address;
}

function pathOf({ run }: PauseIntent): string {
  return `/pauses/${encodeURIComponent(run)}`;
}

/**
 * Opens a console on each pooler, by which the peer knows that it has reached the same process.
 * @throws Error if one cannot be opened; the others are closed then
 */
async function openWitnesses(targets: readonly IntendedPause[]): Promise<ReadonlyMap<string, PgbouncerConsole>> {
  const consoles = new Map(targets.map(({ pooler, console }) => [pooler, console]));
  const witnesses = new Map<string, PgbouncerConsole>();
  const problems = await Promise.all(
    [...consoles].map(async ([pooler, target]) => {
      try {
        witnesses.set(pooler, await PgbouncerConsole.open(target, announceMs));
        return [];
      } catch (error) {
        return [`pooler ${pooler}: ${errorMessage(error)}`];
      }
    }),
  );
  const [problem] = problems.flat();
  if (problem === undefined) return witnesses;
  for (const console of witnesses.values()) console.close();
  throw new Error(problem);
}

interface PeerRequest {
  readonly method: "POST" | "DELETE";
  readonly path: string;
  readonly body: string | null;
  readonly limitMs: number;
}

/** Sends a request and reads the whole answer. @throws Error if it is not there within the limit */
async function send({ client, headers }: PeerSession, { limitMs, ...request }: PeerRequest): Promise<PeerReply> {
  const signal = AbortSignal.timeout(limitMs);
  try {
    const { statusCode, body } = await client.request({ ...request, headers, signal });
    return { status: statusCode, body: objectOf(parseJson(await body.text())) };
  } catch (error) {
    throw signal.aborted ? new Error(`no answer within ${limitMs} ms`, { cause: error }) : error;
  }
}

/** A text of an answer, safe in logs. */
function nameIn({ body }: PeerReply, key: string): string | null {
  const value = body[key];
  return typeof value === "string" && value !== "" ? withoutUnsafe(value.slice(0, 500)) : null;
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { syscall }: NodeJS.ErrnoException = error;
  // A file that is missing has the same code as a socket.
  return (syscall === "connect" ? socketProblem(error) : null) ?? error.message;
}

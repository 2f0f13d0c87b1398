import { Client } from "undici";
import type { PeerConfig } from "../../config/model/config.ts";
import { readTls } from "../../config/tls-material.ts";
import { errorMessage } from "../../cluster/values/error-message.ts";
import { objectOf, parseJson } from "../../cluster/values/json.ts";
import { withoutUnsafe } from "../../cluster/values/unsafe-text.ts";
import { readRegularFile } from "../../files/regular-file.ts";
import { PgbouncerConsole } from "../../push/pgbouncer/console.ts";
import { socketProblem } from "../../push/socket-problem.ts";
import type { PauseIntent } from "../intent/pause-intent.ts";
import type { PauseTarget } from "../machine/plan.ts";
import { byPooler, writtenAnnouncement, writtenHeartbeat } from "./announcement.ts";

/** What a peer says while a run goes on. */
export interface PeerLinkEvents {
  /** It answered a heartbeat, and would take over. */
  readonly onEcho: () => void;
  /** It has taken over, and resumes everything: this run must not go on. Called once. */
  readonly onTakenOver: (by: string) => void;
}

/** How far a link is. */
type LinkState =
  | { readonly kind: "new" }
  /** The peer may have acknowledged. `told` is how many targets it knows to be open. */
  | { readonly kind: "announced"; readonly session: PeerSession; readonly told: number }
  | { readonly kind: "taken_over"; readonly session: PeerSession }
  | { readonly kind: "ended" };

/** The connection to a peer, with the credentials that were read when it was made. */
interface PeerSession {
  readonly client: Client;
  readonly headers: Readonly<Record<string, string>>;
  readonly run: string;
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
export class PeerLink {
  readonly #peer: PeerConfig;
  readonly #events: PeerLinkEvents;
  #state: LinkState = { kind: "new" };
  #last: Promise<unknown> | null = null;

  constructor(peer: PeerConfig, events: PeerLinkEvents) {
    this.#peer = peer;
    this.#events = events;
  }

  /**
   * Announces what will be paused. The peer answers yes only if it has reached the same PgBouncers. To be called once,
   * and before anything is paused.
   * @returns `null` once it is ready to resume all targets; else why it is not, and then it watches nothing
   */
  async announce(intent: PauseIntent): Promise<string | null> {
    const announcing = this.#announce(intent).catch((error: unknown) => textOf(error));
    const problem = await this.#alone(announcing);
    if (problem === null) return null;
    void this.end();
    return `peer ${this.#peer.name}: ${problem}`;
  }

  /**
   * Sends a heartbeat, unless one is under way.
   * @param open what may still be paused. It only ever gets fewer
   */
  async beat(open: readonly PauseTarget[]): Promise<void> {
    const state = this.#state;
    if (state.kind !== "announced" || this.#last !== null) return;
    const { session, told } = state;
    const body = writtenHeartbeat(open.length === told ? null : open);
    const path = `/pauses/${encodeURIComponent(session.run)}/heartbeat`;
    const sending = send(session, { method: "POST", path, body, limitMs: requestMs }).catch(() => null);
    const reply = await this.#alone(sending);
    if (reply === null || this.#state !== state) return;
    if (reply.status === 200) {
      this.#state = { ...state, told: open.length };
      this.#events.onEcho();
    } else if (reply.status === 410) {
      this.#state = { kind: "taken_over", session };
      this.#events.onTakenOver(nameIn(reply, "by") ?? this.#peer.name);
    }
  }

  /** Says that nothing of the run is paused any more. The peer touches nothing from then on. */
  async end(): Promise<void> {
    const state = this.#state;
    if (state.kind === "new" || state.kind === "ended") return;
    this.#state = { kind: "ended" };
    await this.#last;
    const { client, run } = state.session;
    const path = `/pauses/${encodeURIComponent(run)}`;
    await send(state.session, { method: "DELETE", path, body: null, limitMs: requestMs }).catch(() => null);
    await client.destroy().catch(() => {});
  }

  async #announce(intent: PauseIntent): Promise<string | null> {
    const session = openSession(this.#peer, intent.run);
    this.#state = { kind: "announced", session, told: intent.targets.length };
    const witnesses = await openWitnesses(intent);
    try {
      const poolers = byPooler(intent.targets).map(({ pooler, databases }) => ({
        pooler,
        databases,
        console: witnesses.get(pooler)?.name ?? "",
      }));
      const { run, cluster } = intent;
      const deadlineMs = Math.max(1, Math.round(intent.deadlineWallMs - Date.now()));
      const body = writtenAnnouncement({ run, cluster, deadlineMs, poolers });
      const reply = await send(session, { method: "POST", path: "/pauses", body, limitMs: announceMs });
      if (reply.status === 200 && reply.body["acknowledged"] === true) return null;
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
function openSession({ url, tls, tokenFile }: PeerConfig, run: string): PeerSession {
  const token = tokenFile === null ? null : (readRegularFile(tokenFile).split(/\r?\n/, 1)[0] ?? "").trim();
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
    run,
  };
}

/** Opens a console on each pooler, by which the peer knows that it has reached the same process. @throws ConsoleError */
async function openWitnesses({ targets }: PauseIntent): Promise<ReadonlyMap<string, PgbouncerConsole>> {
  const consoles = new Map(targets.map(({ pooler, console }) => [pooler, console]));
  const opened = await Promise.allSettled(
    [...consoles].map(async ([pooler, target]) => [pooler, await PgbouncerConsole.open(target, announceMs)] as const),
  );
  const witnesses = new Map(opened.flatMap((one) => (one.status === "fulfilled" ? [one.value] : [])));
  for (const one of opened)
    if (one.status === "rejected") {
      for (const console of witnesses.values()) console.close();
      throw one.reason;
    }
  return witnesses;
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
  return (error instanceof Error ? socketProblem(error) : null) ?? errorMessage(error);
}

import type { PeerConfig } from "../config/peer-schema.ts";
import { errorMessage } from "../../../core/cluster/values/error-message.ts";
import { PgbouncerConsole } from "../../../core/balancing/pgbouncer/console.ts";
import type { IntendedPause, PauseIntent } from "../intent/pause-intent.ts";
import { pauseName } from "../machine/plan.ts";
import type { Safeguard } from "../run/switchover-run.ts";
import { byPooler, writtenAnnouncement, writtenHeartbeat } from "./announcement.ts";
import { nameIn, openSession, type PeerSession, requestMs, send, textOf } from "./peer-session.ts";

/** What a peer says while a run goes on. */
export interface PeerLinkEvents {
  /** It answered a heartbeat, and would take over. @param sentAtMs when that was sent, in ms of `performance.now()` */
  readonly onEcho: (sentAtMs: number) => void;
  /** It has taken over, and resumes everything: this run must not go on. Called once. */
  readonly onTakenOver: (by: string) => void;
}

/** How many targets the peer knows to be open, and which of them it knows to be watched only; `null`: that is not known. */
interface Told {
  readonly open: number;
  readonly watched: string | null;
}

/** How far a link is. */
type LinkState =
  | { readonly kind: "new" }
  /** The peer may have acknowledged. */
  | { readonly kind: "announced"; readonly session: PeerSession; readonly told: Told }
  /** It hears what is closed still: it must not touch that. */
  | { readonly kind: "taken_over"; readonly session: PeerSession; readonly told: Told }
  | { readonly kind: "ended" };

/** It is not known what the peer knows. */
const nothing: Told = { open: -1, watched: null };
/** A peer opens consoles before it answers an announcement. */
const announceMs = 2_000;
/**
 * What one run says to one peer: that it will pause databases, then heartbeats, then that nothing is paused any more.
 * There is never more than one request at a time, each has a limit, and no error leaves it.
 */
export class PeerLink implements Safeguard {
  readonly name: string;
  readonly #peer: PeerConfig;
  readonly #intent: () => PauseIntent;
  readonly #events: PeerLinkEvents;
  #state: LinkState = { kind: "new" };
  #last: Promise<unknown> | null = null;
  /** Whether the switchover may be requested from now on. */
  #mayBeRequested = false;

  /** @param intent what the run may pause; it is final when the link is armed */
  constructor(peer: PeerConfig, intent: () => PauseIntent, events: PeerLinkEvents) {
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
   * Goes on for a process that has announced the run, in place of {@link arm}.
   * @param mayBeRequested whether the switchover may have been requested
   * @returns why the peer cannot be reached; `null` otherwise
   */
  join(mayBeRequested: boolean): string | null {
    this.#mayBeRequested = mayBeRequested;
    try {
      this.#state = { kind: "announced", session: openSession(this.#peer), told: nothing };
      return null;
    } catch (error) {
      return textOf(error);
    }
  }

  /** Says that the switchover is requested next. @returns why the peer does not know it; `null` once it does */
  async tell(leftMs: number): Promise<string | null> {
    this.#mayBeRequested = true;
    // The heartbeat that is under way does not say it.
    while (this.#last !== null) await this.#last.catch(() => {});
    const answer = await this.#beat([...this.#intent().targets.keys()], leftMs, null);
    if (answer === "echo") return null;
    return answer === "taken_over" ? "it has taken over" : "it has not answered";
  }

  /**
   * Sends a heartbeat, unless a request is under way.
   * @param open positions of the targets that may still be paused. They only ever get fewer
   * @param leftMs until everything has to be resumed, in ms
   * @param watched positions of those that were not paused yet
   */
  beat(open: readonly number[], leftMs: number, watched: readonly number[]): void {
    void this.sendBeat(open, leftMs, watched);
  }

  /** As {@link beat}. Resolves when the answer was read, or is late. */
  async sendBeat(open: readonly number[], leftMs: number, watched: readonly number[]): Promise<void> {
    if (this.#last === null) await this.#beat(open, leftMs, watched);
  }

  /** Whether the peer has taken over, asked now. @returns `null` if it does not say */
  async hasTakenOver(): Promise<boolean | null> {
    while (this.#last !== null) await this.#last.catch(() => {});
    const answer = await this.#beat(null, null, null);
    return answer === "echo" ? false : answer === "taken_over" ? true : null;
  }

  /** @param open positions of targets; `null`: as said before. @param watched the same */
  async #beat(
    open: readonly number[] | null,
    leftMs: number | null,
    watched: readonly number[] | null,
  ): Promise<"echo" | "taken_over" | "silent"> {
    const state = this.#state;
    if (state.kind !== "announced" && state.kind !== "taken_over") return "silent";
    const { session, told } = state;
    const intent = this.#intent();
    const reachable = (positions: readonly number[] | null): readonly IntendedPause[] | null =>
      positions?.flatMap((at) => intent.targets[at] ?? []).filter(isReachable) ?? null;
    const targets = reachable(open);
    const isSaid = targets === null || targets.length === told.open;
    const mayBeRequested = this.#mayBeRequested;
    const ofLoss = intent.finish?.start === "loss" ? reachable(watched) : null;
    const names = ofLoss?.map(pauseName).join() ?? told.watched;
    const body = writtenHeartbeat({
      open: isSaid ? null : targets,
      watched: names === told.watched ? null : ofLoss,
      leftMs,
      mayBeRequested,
    });
    const sentAtMs = performance.now();
    const path = `${pathOf(intent)}/heartbeat`;
    const sending = send(session, { method: "POST", path, body, limitMs: requestMs }).catch(() => null);
    const reply = await this.#alone(sending);
    if (reply === null || this.#state !== state) return "silent";
    const known = { open: targets?.length ?? told.open, watched: names };
    if (reply.status === 200) {
      this.#state = { ...state, told: known };
      this.#events.onEcho(sentAtMs);
      return "echo";
    }
    if (reply.status !== 410) return "silent";
    this.#state = { kind: "taken_over", session, told: known };
    if (state.kind === "announced") this.#events.onTakenOver(nameIn(reply, "by") ?? this.name);
    return "taken_over";
  }

  /** Closes the connection, and says nothing: the run goes on. */
  leave(): void {
    const state = this.#state;
    this.#state = { kind: "ended" };
    if (state.kind === "announced" || state.kind === "taken_over") void state.session.client.destroy().catch(() => {});
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
    const path = pathOf(this.#intent());
    await send(state.session, { method: "DELETE", path, body: null, limitMs: requestMs }).catch(() => null);
    await client.destroy().catch(() => {});
  }

  async #announce(): Promise<string | null> {
    const { run, cluster, deadlineWallMs, finish, ...intent } = this.#intent();
    const targets = intent.targets.filter(isReachable);
    if (targets.length === 0) return "a peer reaches no pooler, because all have the folder of a Unix socket";
    const session = openSession(this.#peer);
    const told = { open: targets.length, watched: targets.map(pauseName).join() };
    this.#state = { kind: "announced", session, told };
    const witnesses = await openWitnesses(targets);
    try {
      const poolers = byPooler(targets).map(({ pooler, databases }) => ({
        pooler,
        databases,
        console: witnesses.get(pooler)?.name ?? "",
      }));
      const deadlineMs = Math.max(1, Math.round(deadlineWallMs - Date.now()));
      const body = writtenAnnouncement({ run, cluster, deadlineMs, poolers, finish });
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

import type { Conduct, Sequence, Step, Wal } from "./format.ts";
import { statusDocument } from "../fake/node-documents.ts";

interface Line {
  readonly since: number;
  readonly at: number;
  readonly rate: number;
}

type Row = readonly [timeline: number, position: number, reason: string];

/**
 * The truth of one cluster at an instant, and the answers of its servers. Instants are seconds since the sequence's
 * start.
 */
export class World {
  readonly #sequence: Sequence;
  readonly #conduct = new Map<string, Conduct>();
  readonly #lines = new Map<string, Line>();
  #leader: string | null;
  #timeline = 1;
  #history: readonly Row[] = [];
  /** Number of status documents that each server has sent. */
  readonly #given = new Map<string, number>();
  readonly #views = new Map<string, number>();
  /** Since when the database of a server is frozen. */
  readonly #frozen = new Map<string, number>();
  /** The base address of a server, available once it listens. */
  readonly addresses = new Map<string, string>();

  constructor(sequence: Sequence) {
    this.#sequence = sequence;
    this.#leader = sequence.leader;
    this.#draw(0, { main: {}, ...sequence.wal });
    this.#set(0, sequence.start ?? {});
  }

  get servers(): readonly string[] {
    return [...this.#sequence.nodes, ...Object.keys(this.#sequence.others ?? {})];
  }

  conductOf(server: string): Conduct {
    return this.#conduct.get(server) ?? {};
  }

  apply(step: Step): void {
    this.#draw(step.at, step.wal ?? {});
    if (step.timeline !== undefined) {
      this.#history = [...this.#history, [this.#timeline, this.#at("main", step.at), "no recovery target specified"]];
      this.#timeline = step.timeline;
    }
    if (step.leader !== undefined) this.#leader = step.leader;
    this.#set(step.at, step.set ?? {});
  }

  /** The status and the document of a path at an instant. `undefined` if there is no answer. */
  answer(server: string, path: string, now: number): readonly [status: number, document?: unknown] | undefined {
    switch (path) {
      case "/leader":
        return [this.#holds(server) ? 200 : 503, this.#status(server, now)];
      case "/patroni":
        return [200, this.#status(server, now)];
      case "/cluster":
        return this.#cluster(server, now);
      case "/config":
        return [200, { ttl: 30, loop_wait: 10, retry_timeout: 10 }];
      case "/history":
        return [200, this.conductOf(server).oldHistory === true ? this.#history.slice(0, -1) : this.#history];
      case "/liveness":
        return [200];
      default:
        return [502];
    }
  }

  /** What the exporter of a server answers at an instant, as pg_exporter does. `undefined` if there is no answer. */
  exporterAnswer(server: string, path: string, now: number): readonly [status: number, text: string] | undefined {
    const { exporter } = this.conductOf(server);
    if (exporter === "hang") return undefined;
    const role = this.#role(server);
    const isReplica = role === "replica" || role === "standby_leader";
    if (path === "/up") return [200, isReplica ? "replica" : "primary"];
    const rows = [
      "pg_up 1",
      `pg_is_in_recovery ${isReplica ? 1 : 0}`,
      `pg_timestamp ${1_700_000_000 + (exporter === "frozen" ? (this.#frozen.get(server) ?? now) : now)}`,
      `pg_downstream_count{state="streaming"} ${this.#standbys(server).length}`,
    ];
    return [200, `${rows.join("\n")}\n`];
  }

  #draw(since: number, lines: Readonly<Record<string, Wal>>): void {
    for (const [name, { at, rate }] of Object.entries(lines)) {
      const known = this.#lines.get(name);
      this.#lines.set(name, {
        since,
        at: at ?? (known === undefined ? 300_000_000 : this.#at(name, since)),
        rate: rate ?? known?.rate ?? 1_000_000,
      });
    }
  }

  #set(now: number, conducts: Readonly<Record<string, Conduct | null>>): void {
    for (const [server, change] of Object.entries(conducts)) {
      const received = this.#received(server, now);
      const replayed = this.#replayed(server, now);
      const conduct = change === null ? {} : { ...this.conductOf(server), ...change };
      const wal = typeof conduct.wal === "object" && conduct.wal !== null ? received + conduct.wal.here : conduct.wal;
      const halted =
        typeof conduct.replayed === "object" && conduct.replayed !== null
          ? replayed + conduct.replayed.here
          : conduct.replayed;
      this.#conduct.set(server, { ...conduct, wal: wal ?? null, replayed: halted ?? null });
      if (change?.endsAfterViews !== undefined) this.#views.set(server, 0);
      if (change?.exporter === "frozen") this.#frozen.set(server, now);
    }
  }

  #at(line: string, now: number): number {
    const { since, at, rate } = this.#lines.get(line) ?? { since: 0, at: 0, rate: 0 };
    return Math.round(at + Math.max(0, now - since) * rate);
  }

  #received(server: string, now: number): number {
    const { wal, receiveBehind } = this.conductOf(server);
    if (typeof wal === "number") return wal;
    return this.#at(typeof wal === "string" ? wal : "main", now) - (receiveBehind ?? 0);
  }

  #replayed(server: string, now: number): number {
    const { replayed, replayBehind } = this.conductOf(server);
    return typeof replayed === "number" ? replayed : this.#received(server, now) - (replayBehind ?? 0);
  }

  #holds(server: string): boolean {
    return this.conductOf(server).lock ?? server === this.#leader;
  }

  #role(server: string): string {
    const leading = this.#sequence.standby === true ? "standby_leader" : "primary";
    return this.conductOf(server).role ?? (this.#holds(server) ? leading : "replica");
  }

  #standbys(server: string): readonly string[] {
    return this.servers.filter((other) => other !== server && this.#upstream(other) === server);
  }

  #status(server: string, now: number): unknown {
    const conduct = this.conductOf(server);
    const role = this.#role(server);
    const given = (this.#given.get(server) ?? 0) + 1;
    this.#given.set(server, given);
    const received = this.#received(server, now);
    const xlog =
      role === "primary"
        ? { location: received }
        : {
            received_location: received,
            replayed_location: this.#replayed(server, now),
            replayed_timestamp: null,
            paused: false,
          };
    const standbys = this.#standbys(server);
    const document: Record<string, unknown> = {
      ...statusDocument(this.#nameOf(server), {
        role,
        state: conduct.state ?? "running",
        timeline: conduct.timeline ?? this.#timeline,
        xlog,
      }),
      ...(standbys.length === 0 ? {} : { replication: standbys.map((name) => this.#sender(name)) }),
      patroni: this.#identity(server),
      ...conduct.fields,
    };
    const isMute = conduct.mute === true || (typeof conduct.mute === "number" && given % conduct.mute === 0);
    if (isMute) for (const field of ["xlog", "timeline", "replication", "replication_state"]) delete document[field];
    return document;
  }

  #identity(server: string): unknown {
    const { name: scope, anonymous } = this.#sequence;
    return anonymous === true ? { version: "3.0.2", scope } : { version: "4.1.4", scope, name: this.#nameOf(server) };
  }

  #upstream(server: string): string | null {
    const { attached, upstream } = this.conductOf(server);
    if (attached === false) return null;
    return upstream ?? this.#leader;
  }

  #sender(server: string): unknown {
    const address = new URL(this.addresses.get(server) ?? "http://127.0.0.1").hostname;
    const state = { state: "streaming", sync_state: "async", sync_priority: 0 };
    return { usename: "replicator", application_name: this.#nameOf(server), client_addr: address, ...state };
  }

  #cluster(server: string, now: number): readonly [status: number, document?: unknown] | undefined {
    const { view, members, endsAfterViews } = this.conductOf(server);
    if (view === "hang") return undefined;
    if (view === "fails") return [503];
    const given = (this.#views.get(server) ?? 0) + 1;
    this.#views.set(server, given);
    if (endsAfterViews === given) this.#set(now, { [server]: { api: "refused" } });
    const leader = view === "nobody" ? null : (view ?? this.#leader);
    const named = members ?? Object.fromEntries(this.#sequence.nodes.map((name) => [name, name]));
    const rows = Object.entries(named).map(([name, at]) => {
      const host = new URL(this.addresses.get(at) ?? "http://127.0.0.1").hostname;
      const leads = name === leader;
      const role = leads ? (this.#sequence.standby === true ? "standby_leader" : "leader") : "replica";
      const base = {
        name,
        role,
        state: leads ? "running" : "streaming",
        api_url: `${this.addresses.get(at)}/patroni`,
        host,
        port: 5432,
      };
      return { ...base, timeline: this.conductOf(at).timeline ?? this.#timeline, ...(leads ? {} : { lag: 0 }) };
    });
    return [200, { members: rows, scope: this.#sequence.name }];
  }

  #nameOf(server: string): string {
    return this.#sequence.others?.[server] ?? server;
  }
}

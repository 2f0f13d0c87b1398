import { callWorker } from "./replay-worker.js";

/** How fast an incident is played, as multiples of real time. */
export const speeds = [1, 4, 16, 64];
/** How often the instant moves on while it plays, in ms. */
const frameMs = 100;

/**
 * An incident for the views: what a live store holds, as it was at one instant. Time stands still in it: ages are those
 * of the instant.
 */
export class PastStore {
  isPast = true;
  state = "past";
  rows = new Map();
  followed = null;
  samples = new Map();
  events = [];
  /** The limits for lag at the shown instant, as `IncidentSight` has them (src/features/replay/core/player.ts). */
  limits = { limits: [], known_at_ms: null, is_failover_known: false };
  missed = 0;
  version = "";
  isPlaying = false;
  speed = 1;
  #opened;
  /** By node, the changes of its verdicts, oldest first. */
  #changes = new Map();
  #baseWallMs;
  #atMs;
  #listeners = new Set();
  #timer = null;
  #wanted = null;
  #isBusy = false;

  /**
   * @param opened what the worker returned for the file
   * `isFile`: whether it is a file, whose beginning belongs to what it shows, or a time of the server that is shown.
   */
  constructor(opened, { isFile, windowMs = null }) {
    this.#opened = opened;
    this.isFile = isFile;
    /** The time that was asked of the server: `{ fromMs, toMs }` since the epoch. */
    this.window = windowMs;
    // A file without a date shows the time since its beginning.
    this.isDated = opened.beganWallMs !== null;
    this.#baseWallMs = opened.beganWallMs ?? new Date().setHours(0, 0, 0, 0);
    this.fromMs = isFile ? opened.fromMs : Math.min(opened.settledMs, opened.toMs);
    this.toMs = opened.toMs;
    this.isCut = opened.isCut;
    this.#atMs = this.fromMs;
    /** All events of the incident with their instants, oldest first. */
    this.marks = opened.events.map((event) => {
      const atMs = event.at - (opened.beganWallMs ?? 0);
      return { ...event, atMs, at: new Date(this.wallMs(atMs)).toISOString() };
    });
    for (const { node, atMs, before, after, failure } of opened.changes) {
      const at = new Date(this.wallMs(Math.max(atMs, this.fromMs))).toISOString();
      const known = this.#changes.get(node) ?? [];
      this.#changes.set(node, known);
      known.push({ atMs, at, before, after, failure });
    }
  }

  /**
   * The instant at which a file opens: its first error, else its first warning, else its middle. Not before every node
   * has answered or failed: until then nodes seem silent, and the primary lost.
   */
  get openingMs() {
    const { settledMs } = this.#opened;
    const firstMs = settledMs < this.toMs ? settledMs : this.fromMs;
    const [opening] = ["error", "warning"].flatMap((severity) => {
      const found = this.marks.filter((mark) => mark.severity === severity && mark.atMs >= firstMs);
      return found.length === 0 ? [] : [Math.min(...found.map(({ atMs }) => atMs))];
    });
    return opening ?? Math.max(firstMs, (this.fromMs + this.toMs) / 2);
  }

  get title() {
    return this.#opened.title;
  }

  get why() {
    return this.#opened.why;
  }

  get cluster() {
    return this.#opened.cluster;
  }

  /** The shown instant, in ms of the file's clock. */
  get atMs() {
    return this.#atMs;
  }

  nowMs() {
    return 0;
  }

  wallMs(atMs = this.#atMs) {
    return this.#baseWallMs + atMs;
  }

  knownUntilMs() {
    return this.wallMs();
  }

  follow() {}

  stop() {}

  subscribe(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  ageOf(cluster) {
    return this.rows.get(cluster)?.ageMs ?? null;
  }

  /** Shows another instant. While one is being computed only the last wanted one is kept. */
  async show(atMs) {
    this.#atMs = Math.min(Math.max(atMs, this.fromMs), this.toMs);
    this.#wanted = this.#atMs;
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      while (this.#wanted !== null) {
        const wanted = this.#wanted;
        this.#wanted = null;
        this.#take(await callWorker("at", wanted));
      }
    } finally {
      this.#isBusy = false;
    }
  }

  play() {
    if (this.#atMs >= this.toMs) this.#atMs = this.fromMs;
    this.pause();
    this.isPlaying = true;
    let last = performance.now();
    this.#timer = setInterval(() => {
      const now = performance.now();
      const nextMs = this.#atMs + (now - last) * this.speed;
      last = now;
      if (nextMs >= this.toMs) this.pause();
      void this.show(nextMs).catch(() => this.pause());
    }, frameMs);
    this.#changed();
  }

  pause() {
    clearInterval(this.#timer);
    this.isPlaying = false;
    this.#changed();
  }

  setSpeed(speed) {
    this.speed = speed;
    this.#changed();
  }

  /** Answers what the views read from the server (`events?…`, `clusters/…/explain?…`), as of the shown instant. */
  async read(path) {
    const { pathname, searchParams } = new URL(path, "incident:/");
    const parts = pathname.split("/").filter(Boolean).map(decodeURIComponent);
    if (parts.length === 1 && parts[0] === "events") return { events: upTo(this.#atMs, this.marks), more: false };
    const [, , , node, document] = parts;
    if (document === "verdicts") return { changes: upTo(this.#atMs, this.#changes.get(node) ?? []) };
    if (document === "explain") return callWorker("explain", this.#atMs, node, searchParams.get("check"));
    if (document === "document") throw new Error("An incident file does not hold the documents of nodes.");
    throw new Error("An incident file does not hold this.");
  }

  #take({ cluster, row, ageMs, limits }) {
    this.limits = limits;
    this.followed = { cluster, receivedMs: 0 };
    this.rows = new Map([[cluster.cluster, { row, ageMs, receivedMs: 0 }]]);
    this.samples = this.#samplesSoFar();
    this.missed += 1;
    this.#changed();
  }

  #samplesSoFar() {
    return new Map(
      [...this.#opened.samples].map(([node, samples]) => [
        node,
        samples.filter(([atMs]) => atMs <= this.#atMs).map(([atMs, lag]) => [this.wallMs(atMs), lag]),
      ]),
    );
  }

  #changed() {
    for (const listener of this.#listeners) listener();
  }
}

/** What happened up to an instant. A file may hold many thousands. */
function upTo(atMs, list) {
  const later = list.findIndex((each) => each.atMs > atMs);
  return later < 0 ? list : list.slice(0, later);
}

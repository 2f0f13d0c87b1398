import { Connection } from "./connection.js";

/** How many events and lag samples are kept in the page. */
const eventsMax = 500;
const samplesMax = 1_000;

/**
 * What the server sent, for the views. Everything stays when the connection is lost, and its age goes on counting: ages
 * are counted from the instant at which a message arrived.
 */
export class LiveStore {
  isPast = false;
  /** Cluster name -> `{ row, ageMs, receivedMs }`. */
  rows = new Map();
  /** The followed cluster: `{ cluster, receivedMs }`, or null. */
  followed = null;
  /** Node name -> its lag samples `[wall ms, bytes]` since the page follows the cluster. */
  samples = new Map();
  /** The newest events, newest first. */
  events = [];
  /** connecting, live, lost, absent (the server does not have the followed cluster) or paused. */
  state = "connecting";
  /** Why the connection is lost, in words; empty if that is not known. */
  reason = "";
  /** When the last message arrived. */
  receivedMs = performance.now();
  /** Rises when events may be missing. */
  missed = 0;
  version = "";
  /** The configuration in force, as `/status` has it; null if the listener does not say. */
  config = null;
  #fresh = null;
  #connection = null;
  #only = null;
  #listeners = new Set();
  #isScheduled = false;

  /** Follows all clusters as rows, or one in full. */
  follow(only) {
    if (this.#connection !== null && this.#only === only) return;
    this.#connection?.close();
    if (this.followed?.cluster.cluster !== only) {
      this.followed = null;
      this.samples = new Map();
    }
    this.#only = only;
    this.#fresh = null;
    const query = only === null ? "" : `?cluster=${encodeURIComponent(only)}`;
    this.#connection = new Connection(query, {
      onMessage: (name, data) => this.#receive(name, data),
      onState: (state, reason) => this.#enter(state, reason),
    });
    this.#enter("connecting");
    this.#connection.open();
  }

  /** Ends the connection, while something else is shown. */
  stop() {
    this.#connection?.close();
    this.#connection = null;
  }

  /** The instant that ages count to, in ms of the page's clock. */
  nowMs() {
    return performance.now();
  }

  /** The same in ms since the epoch. */
  wallMs() {
    return Date.now();
  }

  /** Until when it is known what happened, in ms since the epoch: nothing is while nothing arrives. */
  knownUntilMs() {
    return this.state === "live" ? Date.now() : Date.now() - (performance.now() - this.receivedMs);
  }

  subscribe(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The age of a cluster's oldest report now, in ms; null if unknown. */
  ageOf(cluster) {
    const known = this.rows.get(cluster);
    if (known === undefined || known.ageMs === null) return null;
    return known.ageMs + performance.now() - known.receivedMs;
  }

  #enter(state, reason = "") {
    // An attempt that is under way does not take the reason away.
    if (this.state === state && (reason === "" || reason === this.reason)) return;
    this.reason = reason;
    this.state = state;
    this.#changed();
  }

  #receive(name, data) {
    const receivedMs = (this.receivedMs = performance.now());
    switch (name) {
      case "hello":
        this.version = data.version;
        this.config = data.config ?? null;
        this.#fresh = new Set();
        break;
      case "rows":
        this.#takeRows(data, receivedMs);
        break;
      case "ready":
        // Clusters that were not sent are no longer monitored.
        if (this.#only === null)
          for (const cluster of this.rows.keys()) if (!this.#fresh.has(cluster)) this.rows.delete(cluster);
        break;
      case "cluster":
        this.followed = { cluster: data, receivedMs: receivedMs - data.rendered_ms_ago };
        this.#takeSamples(data);
        break;
      case "event":
        this.#takeReload(data);
        if (!this.events.some(({ id }) => id === data.id)) this.events = [data, ...this.events].slice(0, eventsMax);
        break;
      case "reset":
        this.missed += 1;
        break;
    }
    // Ages count on by themselves: nothing is drawn again because one arrived.
    const isAgeOnly = name === "rows" && data.rows.length === 0;
    if (name !== "heartbeat" && !isAgeOnly) this.#changed();
  }

  #takeRows({ rows, ages }, receivedMs) {
    const byName = new Map(rows.map((row) => [row.cluster, row]));
    for (const [cluster, ageMs] of Object.entries(ages)) {
      const row = byName.get(cluster) ?? this.rows.get(cluster)?.row;
      if (row === undefined) continue;
      this.#fresh?.add(cluster);
      this.rows.set(cluster, { row, ageMs, receivedMs });
    }
  }

  /** A reload that was refused or applied: after one that was applied, the server says hello again too. */
  #takeReload({ kind, at, cause, figures }) {
    if (this.config === null) return;
    const { problems } = figures;
    if (kind === "reload_refused") this.config = { ...this.config, refused: { at, problems, first: cause } };
    if (kind === "reload_applied") this.config = { ...this.config, loaded_at: at, refused: null };
  }

  #takeSamples({ nodes, leader }) {
    const now = Date.now();
    for (const { node, lag_bytes: lag, evidence } of nodes) {
      if (node === leader) continue;
      const samples = this.samples.get(node) ?? [];
      if (now - (samples.at(-1)?.[0] ?? 0) < 500) continue;
      samples.push([now, evidence === "fresh" ? lag : null]);
      this.samples.set(node, samples.slice(-samplesMax));
    }
  }

  /** Tells the views, at most once a frame. */
  #changed() {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    requestAnimationFrame(() => {
      this.#isScheduled = false;
      for (const listener of this.#listeners) listener();
    });
  }
}

export const store = new LiveStore();

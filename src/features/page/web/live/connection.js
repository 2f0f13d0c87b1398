import { ended, refusalOf, silent, unreachable, waitMs } from "./refusal.js";

/**
 * The connection to `events/stream`. A lost connection is noticed by silence too: a proxy may keep a dead one open. A
 * page in the background gives its connection back, because browsers have few for each host. A page that the browser
 * leaves gives it back at once: a browser may keep such a page for the way back, and its streams with it.
 *
 * An EventSource does not say why it fails. So each attempt after a failure begins with `HEAD`, which opens no stream.
 */

/** A connection without a message for so many heartbeats is lost. */
const silentBeats = 2.5;
/** How long a hidden page keeps its connection, in ms. */
const hiddenMs = 20_000;

const messages = ["hello", "rows", "ready", "cluster", "event", "reset", "heartbeat", "bye"];

/**
 * Follows the stream until closed. `onMessage(name, data)` gets each message, `onState(state, reason)` live, lost,
 * absent (the server does not have the cluster) or paused.
 */
export class Connection {
  #source = null;
  /** Ends the request that asks whether the server would open the stream. */
  #probe = null;
  #timer = null;
  #hiddenTimer = null;
  #failures = 0;
  #hasBegun = false;
  /** The server asked for a pause until this instant, in ms of the page's clock. */
  #notBeforeMs = 0;
  #lastEventId = null;
  #heartbeatMs = 3_000;
  #url;
  #onMessage;
  #onState;

  constructor(query, { onMessage, onState }) {
    this.#url = new URL(`events/stream${query}`, document.baseURI);
    this.#onMessage = onMessage;
    this.#onState = onState;
  }

  open() {
    document.addEventListener("visibilitychange", this.#onVisibility);
    window.addEventListener("pagehide", this.#onLeave);
    window.addEventListener("pageshow", this.#onVisibility);
    this.#connect();
  }

  close() {
    document.removeEventListener("visibilitychange", this.#onVisibility);
    window.removeEventListener("pagehide", this.#onLeave);
    window.removeEventListener("pageshow", this.#onVisibility);
    clearTimeout(this.#hiddenTimer);
    this.#drop();
  }

  #connect() {
    this.#drop();
    const source = new EventSource(this.#address());
    this.#source = source;
    for (const name of messages)
      source.addEventListener(name, (message) => this.#source === source && this.#receive(name, message));
    source.addEventListener("error", () => this.#source === source && this.#failed());
    this.#expect();
  }

  #address() {
    const url = new URL(this.#url);
    if (this.#lastEventId !== null) url.searchParams.set("last_event_id", this.#lastEventId);
    return url;
  }

  /** Connects if the server would open the stream. */
  async #retry() {
    const probe = new AbortController();
    this.#probe = probe;
    const timer = setTimeout(() => probe.abort(), silentBeats * this.#heartbeatMs);
    const refusal = await fetch(this.#address(), {
      method: "HEAD",
      redirect: "manual",
      cache: "no-store",
      headers: { Accept: "text/event-stream" },
      signal: probe.signal,
    }).then(
      (answer) => refusalOf(answer, this.#url.searchParams.has("cluster")),
      () => unreachable,
    );
    clearTimeout(timer);
    if (this.#probe !== probe) return;
    if (refusal === null) this.#connect();
    else this.#lost(refusal);
  }

  #receive(name, message) {
    if (message.lastEventId !== "") this.#lastEventId = message.lastEventId;
    this.#hasBegun = true;
    const data = JSON.parse(message.data);
    if (name === "hello") this.#heartbeatMs = data.heartbeat_ms;
    this.#expect();
    this.#onMessage(name, data);
    if (name === "bye") return this.#lost(ended);
    if (name === "ready") {
      this.#failures = 0;
      this.#onState("live");
    }
  }

  /** Expects another message soon. */
  #expect() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#lost(silent), silentBeats * this.#heartbeatMs);
  }

  /** The stream ended. If it never began, the server is asked at once why. */
  #failed() {
    if (this.#hasBegun || this.#failures > 0) return this.#lost(ended);
    this.#failures = 1;
    this.#drop();
    return void this.#retry();
  }

  #lost(refusal) {
    this.#drop();
    this.#onState(refusal.isAbsent ? "absent" : "lost", refusal.text);
    this.#notBeforeMs = performance.now() + (refusal.leastMs ?? 0);
    this.#timer = setTimeout(() => this.#retry(), waitMs(refusal, this.#failures));
    this.#failures += 1;
  }

  #drop() {
    clearTimeout(this.#timer);
    this.#probe?.abort();
    this.#probe = null;
    this.#source?.close();
    this.#source = null;
  }

  #onLeave = () => {
    this.#drop();
    this.#onState("paused");
  };

  /** Decides anew when the page is hidden or shown, and when the browser comes back to it. */
  #onVisibility = () => {
    clearTimeout(this.#hiddenTimer);
    if (document.visibilityState === "hidden") {
      this.#hiddenTimer = setTimeout(this.#onLeave, hiddenMs);
    } else if (this.#source === null) {
      // A user who comes back may have repaired the cause, and waits no longer than the server asks for.
      this.#drop();
      this.#failures = 0;
      this.#timer = setTimeout(() => this.#retry(), Math.max(0, this.#notBeforeMs - performance.now()));
    }
  };
}

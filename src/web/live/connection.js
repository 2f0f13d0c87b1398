/**
 * The connection to `events/stream`. A lost connection is noticed by silence too: a proxy may keep a dead one open. A
 * page in the background gives its connection back, because browsers have few for each host.
 */

/** A connection without a message for so many heartbeats is lost. */
const silentBeats = 2.5;
/** How long to wait before the next attempt, in ms: longer after each failure. */
const retryMs = [500, 1_000, 2_000, 5_000];
/** How long a hidden page keeps its connection, in ms. */
const hiddenMs = 20_000;

const messages = ["hello", "rows", "ready", "cluster", "event", "reset", "heartbeat", "bye"];

/** Follows the stream until closed. `onMessage(name, data)` gets each message, `onState(state)` live, lost or paused. */
export class Connection {
  #source = null;
  #timer = null;
  #hiddenTimer = null;
  #failures = 0;
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
    this.#connect();
  }

  close() {
    document.removeEventListener("visibilitychange", this.#onVisibility);
    clearTimeout(this.#hiddenTimer);
    this.#drop();
  }

  #connect() {
    this.#drop();
    const url = new URL(this.#url);
    if (this.#lastEventId !== null) url.searchParams.set("last_event_id", this.#lastEventId);
    const source = new EventSource(url);
    this.#source = source;
    for (const name of messages)
      source.addEventListener(name, (message) => this.#source === source && this.#receive(name, message));
    source.addEventListener("error", () => this.#source === source && this.#lost());
    this.#expect();
  }

  #receive(name, message) {
    if (message.lastEventId !== "") this.#lastEventId = message.lastEventId;
    const data = JSON.parse(message.data);
    if (name === "hello") this.#heartbeatMs = data.heartbeat_ms;
    this.#expect();
    this.#onMessage(name, data);
    if (name === "bye") return this.#lost();
    if (name === "ready") {
      this.#failures = 0;
      this.#onState("live");
    }
  }

  /** Expects another message soon. */
  #expect() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#lost(), silentBeats * this.#heartbeatMs);
  }

  #lost() {
    this.#drop();
    this.#onState("lost");
    const waitMs = retryMs[Math.min(this.#failures, retryMs.length - 1)];
    this.#failures += 1;
    this.#timer = setTimeout(() => this.#connect(), waitMs * (0.75 + Math.random() / 2));
  }

  #drop() {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
  }

  #onVisibility = () => {
    clearTimeout(this.#hiddenTimer);
    if (document.visibilityState === "hidden") {
      this.#hiddenTimer = setTimeout(() => {
        this.#drop();
        this.#onState("paused");
      }, hiddenMs);
    } else if (this.#source === null) {
      this.#failures = 0;
      this.#connect();
    }
  };
}

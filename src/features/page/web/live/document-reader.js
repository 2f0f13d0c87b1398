import { durationText } from "../parts/format.js";
import { dataOf, known, loading, unknown } from "./reading.js";

/** How long an answer may take, in ms. One that hangs must not hold up the others. */
const answerMs = 15_000;
/** When a document that could not be read is asked for again, in ms, after each failure in a row. */
const againMs = [3_000, 5_000, 10_000, 20_000];

/**
 * Reads one document of the server on request, with one request at a time. Repeats a request that failed.
 */
export class DocumentReader {
  #reading = loading;
  #isBusy = false;
  #isWanted = false;
  #failures = 0;
  #timer = null;
  #abort = new AbortController();
  #read;
  #onReading;

  /**
   * @param read takes a signal, resolves with the document
   * @param onReading gets each reading (see reading.js)
   */
  constructor(read, onReading) {
    this.#read = read;
    this.#onReading = onReading;
  }

  /** Reads it again. A request that runs is finished first: a slow server would never be heard otherwise. */
  async ask() {
    this.#isWanted = true;
    if (this.#isBusy) return;
    this.#isBusy = true;
    while (this.#isWanted && !this.#abort.signal.aborted) {
      this.#isWanted = false;
      clearTimeout(this.#timer);
      const reading = await this.#read(this.#abort.signal).then(known, ({ message, status = null }) =>
        unknown(message, { status, last: dataOf(this.#reading) }),
      );
      if (!this.#abort.signal.aborted) this.#take(reading);
    }
    this.#isBusy = false;
  }

  /** Reads nothing any more. */
  close() {
    clearTimeout(this.#timer);
    this.#abort.abort();
  }

  #take(reading) {
    this.#reading = reading;
    this.#failures = reading.kind === "known" ? 0 : this.#failures + 1;
    if (this.#failures > 0)
      this.#timer = setTimeout(() => void this.ask(), againMs[Math.min(this.#failures, againMs.length) - 1]);
    this.#onReading(reading);
  }
}

/** The server renders one page of a kind at a time, so this page asks for one after the other. */
let queue = Promise.resolve();

/** Reads a document of the server after those that were asked for before. */
export function readInTurn(path, signal) {
  const read = queue.then(() => {
    signal.throwIfAborted();
    return readDocument(path, signal);
  });
  queue = read.catch(() => {});
  return read;
}

/** Reads JSON. A page that is being rendered for another client is requested again. */
async function readDocument(path, signal) {
  for (let attempt = 0; ; attempt += 1) {
    const { response, took, body } = await answerTo(path, signal);
    if (response.status === 429 && attempt < 4) {
      await new Promise((resolve) => setTimeout(resolve, 1_000 * (attempt + 1)));
      signal.throwIfAborted();
      continue;
    }
    const { status } = response;
    const said = `${requestOf(path)} answered ${status} after ${took}`;
    if (!response.ok) throw Object.assign(new Error(body?.message ? `${said}: ${body.message}` : said), { status });
    if (body === null || typeof body !== "object")
      throw Object.assign(new Error(`${said}, and not with JSON: a proxy may want a sign-in`), { status });
    return body;
  }
}

async function answerTo(path, signal) {
  const own = new AbortController();
  const onAbort = () => own.abort();
  signal.addEventListener("abort", onAbort);
  const startMs = performance.now();
  const timer = setTimeout(() => own.abort(), answerMs);
  const took = () => durationText(performance.now() - startMs);
  try {
    const headers = { Accept: "application/json" };
    const response = await fetch(new URL(path, document.baseURI), { signal: own.signal, headers });
    const text = await response.text();
    return { response, took: took(), body: parsed(text) };
  } catch {
    signal.throwIfAborted();
    throw new Error(
      own.signal.aborted
        ? `${requestOf(path)} did not answer within ${durationText(answerMs)}`
        : `${requestOf(path)} got no answer, after ${took()}: rolecall does not run, or the network fails`,
    );
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

/** A request in words, without what only selects. */
function requestOf(path) {
  return `GET /${path.replace(/\?.*/, "")}`;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

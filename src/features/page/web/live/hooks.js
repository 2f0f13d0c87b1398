import { useEffect, useLayoutEffect, useState } from "../html.js";
import { onShownChange, shownStore } from "./source.js";

/** The store that is shown. Draws again whenever it changes. */
export function useStore() {
  const [, setCount] = useState(0);
  useLayoutEffect(() => onShownChange(() => setCount((count) => count + 1)), []);
  return shownStore();
}

/** Draws again every so many ms, because ages count on. */
export function useTicks(everyMs) {
  const [, setCount] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => document.hidden || setCount((count) => count + 1), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}

/** The path after `#`, decoded, as a list: ["clusters", "demo"]. */
export function useRoute() {
  const [hash, setHash] = useState(location.hash);
  useLayoutEffect(() => {
    const onChange = () => setHash(location.hash);
    addEventListener("hashchange", onChange);
    return () => removeEventListener("hashchange", onChange);
  }, []);
  return hash.replace(/^#\/?/, "").split("/").filter(Boolean).map(decoded);
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/**
 * Reads a document of the server. `key` changes when it has to be read again; null reads nothing.
 * @returns `{ data, error }`: the last data stays while it is read again
 */
export function useDocument(path, key = "") {
  const store = shownStore();
  const [result, setResult] = useState({ path: null, data: null, error: null });
  // What was read of another store is not shown.
  useEffect(() => () => setResult({ path: null, data: null, error: null }), [store]);
  useEffect(() => {
    if (path === null) return undefined;
    const abort = new AbortController();
    const reading = store.isPast ? store.read(path) : readInTurn(path, abort.signal);
    reading.then(
      (data) => abort.signal.aborted || setResult({ path, data, error: null }),
      (error) => abort.signal.aborted || setResult((last) => ({ ...last, path, error: error.message })),
    );
    return () => abort.abort();
  }, [path, key, store, store.isPast ? store.missed : 0]);
  return result.path === path ? result : { data: null, error: null };
}

/** The server renders one page of a kind at a time, so this page asks for one after the other. */
let queue = Promise.resolve();

function readInTurn(path, signal) {
  const read = queue.then(() => (signal.aborted ? null : readDocument(path, signal)));
  queue = read.catch(() => {});
  return read;
}

/** Reads JSON. A page that is being rendered for another client is requested again. */
async function readDocument(path, signal) {
  for (let attempt = 0; ; attempt += 1) {
    const response = await fetch(new URL(path, document.baseURI), { signal, headers: { Accept: "application/json" } });
    if (response.status === 429 && attempt < 4) {
      await new Promise((resolve) => setTimeout(resolve, 1_000 * (attempt + 1)));
      signal.throwIfAborted();
      continue;
    }
    const body = await response.json().catch(() => null);
    if (!response.ok) throw new Error(body?.message ?? `The server answered ${response.status}`);
    return body;
  }
}

/** A link to a view. */
export function linkTo(...parts) {
  return `#/${parts.map(encodeURIComponent).join("/")}`;
}

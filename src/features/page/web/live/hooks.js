import { useEffect, useLayoutEffect, useRef, useState } from "../html.js";
import { DocumentReader, readInTurn } from "./document-reader.js";
import { loading } from "./reading.js";
import { onShownChange, shownStore } from "./source.js";

/** The store that is shown. Draws again whenever it changes. */
export function useStore() {
  const [, setCount] = useState(0);
  useLayoutEffect(() => onShownChange(() => setCount((count) => count + 1)), []);
  return shownStore();
}

/** Whether the screen is as narrow as that of a phone. */
export function useNarrow() {
  const narrow = matchMedia("(max-width: 700px)");
  const [isNarrow, setIsNarrow] = useState(narrow.matches);
  useLayoutEffect(() => {
    const onChange = () => setIsNarrow(narrow.matches);
    narrow.addEventListener("change", onChange);
    return () => narrow.removeEventListener("change", onChange);
  }, []);
  return isNarrow;
}

/** Draws again every so many ms while the page is in sight. @returns how often: what is read again has it in its key */
export function useTicks(everyMs) {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => document.hidden || setCount((last) => last + 1), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return count;
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
 * @returns a reading (see reading.js). What was answered stays while it is read again
 */
export function useDocument(path, key = "") {
  const store = shownStore();
  const [state, setState] = useState({ reading: loading });
  const reader = useRef(null);
  useEffect(() => {
    if (path === null) return undefined;
    const read = (signal) => (store.isPast ? store.read(path) : readInTurn(path, signal));
    const own = new DocumentReader(read, (reading) => setState({ path, store, reading }));
    reader.current = own;
    return () => {
      own.close();
      reader.current = null;
    };
  }, [path, store]);
  useEffect(() => void reader.current?.ask(), [path, store, key, store.isPast ? store.missed : 0]);
  // What was read of another store is not shown.
  return state.path === path && state.store === store ? state.reading : loading;
}

/** A link to a view. */
export function linkTo(...parts) {
  return `#/${parts.map(encodeURIComponent).join("/")}`;
}

import { store as liveStore } from "./live-store.js";

/**
 * Which store the views show: the live one, or that of an incident. Only one is shown at a time: old data and live
 * data never mix.
 */
let current = liveStore;
let unsubscribe = liveStore.subscribe(changed);
const listeners = new Set();

function changed() {
  for (const listener of listeners) listener();
}

/** The store that is shown. */
export function shownStore() {
  return current;
}

/** Shows another store; null shows the live one again. */
export function showStore(store) {
  unsubscribe();
  current = store ?? liveStore;
  unsubscribe = current.subscribe(changed);
  changed();
}

/** Calls a listener after each change of what is shown. Returns what ends it. */
export function onShownChange(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

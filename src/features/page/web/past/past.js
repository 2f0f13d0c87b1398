import { showStore, shownStore } from "../live/source.js";
import { PastStore } from "./past-store.js";
import { callWorker } from "./replay-worker.js";

/** How far an incident of the server reaches before and after the instant that is asked for, in ms. */
const reachMs = 5 * 60_000;
/** How long the server may take, in ms. */
const requestMaxMs = 60_000;

/** Whether `rolecall incident show` serves this page: then there is no present to show. */
export const isServed = new URLSearchParams(location.search).has("incident");

/** What is going on: nothing, a file that is being read, or why it could not be read. */
export const progress = { text: null, problem: null };
const listeners = new Set();

/** Calls a listener after each change of `progress`. Returns what ends it. */
export function onProgress(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function set(text, problem = null) {
  Object.assign(progress, { text, problem });
  for (const listener of listeners) listener();
}

/** Takes a message away. */
export function dismissProblem() {
  set(null);
}

let turn = 0;

/** Runs one opening. A later one supersedes it. */
async function open(text, work) {
  turn += 1;
  const own = turn;
  set(text);
  try {
    const store = await work();
    if (own !== turn) return;
    leave();
    showStore(store);
    set(null);
  } catch (error) {
    if (own === turn) set(null, error.message);
  }
}

/** Opens a file that was dropped or chosen. Nothing is requested for it. */
export function openFile(file) {
  return open(`Reading ${file.name}`, async () => {
    const store = new PastStore(await callWorker("open", file, file.name), { isFile: true });
    await store.show(store.openingMs);
    location.hash = `#/clusters/${encodeURIComponent(store.cluster)}`;
    return store;
  });
}

/** Opens the incident that `rolecall incident show` serves. */
export function openServed() {
  return open("Reading the incident", async () => {
    const response = await fetch(new URL("incident-file", document.baseURI), {
      signal: AbortSignal.timeout(requestMaxMs),
    });
    if (!response.ok) throw new Error("This server serves no incident: run rolecall incident show FILE");
    const store = new PastStore(await callWorker("open", await response.blob(), "the incident"), { isFile: true });
    await store.show(store.openingMs);
    location.hash = `#/clusters/${encodeURIComponent(store.cluster)}`;
    return store;
  });
}

/**
 * Shows a cluster of the server as it was at an instant, in ms since the epoch. The ten minutes around it can be
 * scrubbed through.
 */
export function lookBack(cluster, instantMs) {
  return open(`Reading what happened to ${cluster}`, async () => {
    const middleMs = Math.min(instantMs, Date.now() - reachMs);
    const response = await fetchIncident(cluster, middleMs);
    if (!response.ok) throw new Error(`The server answered ${response.status}`);
    const since = Date.parse(response.headers.get("x-rolecall-evidence-since") ?? "");
    const opened = await callWorker("open", await response.blob(), `the incident of ${cluster}`);
    if (opened.toMs <= opened.fromMs)
      throw new Error(
        `Nothing is kept of ${cluster} around ${new Date(instantMs).toLocaleString()}${Number.isNaN(since) ? "" : `: evidence is kept since ${new Date(since).toLocaleString()}`}`,
      );
    const windowMs = { fromMs: middleMs - reachMs, toMs: middleMs + reachMs, sinceMs: since };
    // Within the views the cluster has the name that the server gives it, whatever its scope.
    const store = new PastStore({ ...opened, cluster }, { isFile: false, windowMs });
    await store.show(instantMs - store.wallMs(0));
    return store;
  });
}

/**
 * Shows a cluster as it was at an instant, in ms since the epoch: in what is shown already if that has the instant, else
 * from the server.
 */
export async function showInstant(cluster, instantMs) {
  scrollTo(0, 0);
  const store = shownStore();
  const isShown = store.isPast && store.cluster === cluster;
  if (!isShown && isServed) return undefined;
  const atMs = isShown ? instantMs - store.wallMs(0) : NaN;
  if (!(atMs >= store.fromMs && atMs <= store.toMs)) return lookBack(cluster, instantMs);
  store.pause();
  return store.show(atMs);
}

/** One incident is rendered at a time for all clients: a busy server is asked again. */
async function fetchIncident(cluster, middleMs) {
  const path = incidentPath(cluster, middleMs);
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(new URL(path, document.baseURI), { signal: AbortSignal.timeout(requestMaxMs) });
    if (response.status !== 429 || attempt >= 5) return response;
    await new Promise((resolve) => setTimeout(resolve, 1_000 * attempt));
  }
}

/** The path of an incident file of the server. */
export function incidentPath(cluster, aroundMs) {
  return `clusters/${encodeURIComponent(cluster)}/incident?around=${new Date(aroundMs).toISOString()}`;
}

function leave() {
  const store = shownStore();
  if (store.isPast) store.pause();
}

/** Shows the present again. */
export function backToLive() {
  if (isServed) return;
  turn += 1;
  leave();
  showStore(null);
  set(null);
  // The address of an instant would not be that of what is shown.
  if (location.hash.includes("/at/")) location.hash = location.hash.replace(/\/at\/.*/, "");
}

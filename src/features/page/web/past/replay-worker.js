/** How long opening a file may take, in ms. */
const openMaxMs = 60_000;

let worker = null;
let lastId = 0;
const pending = new Map();

/** Starts the worker. It is started early, so that a file can be opened after the connection is lost. */
export function startWorker() {
  if (worker !== null) return;
  worker = new Worker(new URL("worker.js", import.meta.url));
  worker.addEventListener("message", ({ data: { id, value, problem } }) => {
    const waiting = pending.get(id);
    if (problem === undefined) waiting?.resolve(value);
    else waiting?.reject(new Error(problem));
  });
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    stopWorker("Cannot replay: the scripts of the page cannot be loaded, or memory is short");
  });
}

function stopWorker(problem) {
  worker?.terminate();
  worker = null;
  for (const { reject } of pending.values()) reject(new Error(problem));
}

/** Calls the worker. A call that takes too long ends it. */
export function callWorker(call, ...values) {
  startWorker();
  lastId += 1;
  const id = lastId;
  const timer = setTimeout(stopWorker, openMaxMs, "Cannot replay this incident: it takes longer than a minute");
  return new Promise((resolve, reject) => {
    pending.set(id, { resolve, reject });
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
    worker.postMessage({ id, call, values });
  }).finally(() => {
    clearTimeout(timer);
    pending.delete(id);
  });
}

import { useLayoutEffect, useState } from "../html.js";

/** Who uses this page, and what the listener lets an authenticated user change. */
let session = { principal: null, may: { drain: false, switchover: false } };
let isRead = false;
const listeners = new Set();

/** Who uses this page, and what may be changed. An old rolecall and a recorded incident let nobody change anything. */
export function useSession() {
  const [, setCount] = useState(0);
  useLayoutEffect(() => {
    const listener = () => setCount((count) => count + 1);
    listeners.add(listener);
    // After a failure it is asked again with the next view.
    if (!isRead)
      readSession("GET").catch(() => {
        isRead = false;
      });
    isRead = true;
    return () => listeners.delete(listener);
  }, []);
  return session;
}

/**
 * Proves who the user is. On a listener that wants a password for changes only, the browser asks for it now.
 * @throws Error with the answer of the server
 */
export function signIn() {
  return readSession("POST");
}

async function readSession(method) {
  session = await send(method, "session");
  for (const listener of listeners) listener();
}

/** How long an answer may take, in ms: a node answers a switchover when the new leader has the lock. */
const answerMs = 60_000;

/**
 * Sends a request that may change something. Its content type cannot be sent by a form of another site.
 * @returns the JSON of the answer
 * @throws Error with the message of the server, and its `status`; without one if there is no answer
 */
export function send(method, path, body) {
  return request(path, { method, body, limitMs: answerMs });
}

/** Reads within a limit in ms, otherwise as {@link send}. */
export function readWithin(limitMs, path) {
  return request(path, { method: "GET", limitMs });
}

async function request(path, { method, body, limitMs }) {
  const response = await fetch(new URL(path, document.baseURI), {
    method,
    signal: AbortSignal.timeout(limitMs),
    credentials: "same-origin",
    cache: "no-store",
    headers: { Accept: "application/json", ...(method === "GET" ? {} : { "Content-Type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const data = parsed(text);
  if (!response.ok) {
    const message = data?.message ?? (text.slice(0, 300) || `The server answered ${response.status}`);
    throw Object.assign(new Error(message), { status: response.status });
  }
  return data ?? { message: text.slice(0, 300) };
}

/** Nodes answer a switchover with a sentence, rolecall with JSON. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

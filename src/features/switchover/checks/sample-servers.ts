import { setTimeout as pause } from "node:timers/promises";
import { type ConsoleTarget, PgbouncerConsole } from "../../../core/balancing/pgbouncer/console.ts";
import { readClients, readServers, type ShownConnection } from "../../../core/balancing/pgbouncer/documents.ts";
import { errorMessage } from "../../../core/cluster/values/error-message.ts";
import type { ServerSamples } from "../preflight/probable-holders.ts";

/**
 * How many samples are taken, and how often, in ms. The last one is in another second than the first: PgBouncer shows
 * when a request began in whole seconds.
 */
const sampleCount = 11;
const everyMs = 100;
/** How long SHOW CLIENTS may take, in ms. */
const clientsMs = 200;

/**
 * Reads SHOW SERVERS again and again for one second, on a console of its own, and SHOW CLIENTS once at the end.
 * @param limitMs of the login, and of each answer
 * @param endMs when the last sample is taken at the latest, in ms of `performance.now()`
 * @returns or why there is none. Never throws
 */
export async function sampleServers(
  target: ConsoleTarget,
  limitMs: number,
  endMs: number,
): Promise<ServerSamples | Error> {
  try {
    const console = await PgbouncerConsole.open(target, limitMs);
    try {
      return await sampled(console, limitMs, endMs);
    } finally {
      console.close();
    }
  } catch (error) {
    return error instanceof Error ? error : new Error(errorMessage(error));
  }
}

async function sampled(console: PgbouncerConsole, limitMs: number, endMs: number): Promise<ServerSamples> {
  const servers: (readonly ShownConnection[])[] = [];
  const left = (): number => Math.max(1, Math.min(limitMs, endMs - performance.now()));
  const startMs = performance.now();
  let lastMs = startMs;
  for (let sample = 0; sample < sampleCount; sample += 1) {
    await pause(Math.max(0, startMs + sample * everyMs - performance.now()));
    lastMs = performance.now();
    if (lastMs >= endMs) break;
    servers.push(readServers(await console.query("SHOW SERVERS", left())));
  }
  return { servers, clients: await clientsOf(console), spanMs: lastMs - startMs };
}

/** The clients, as far as they are known soon: they only tell whose a transaction is. */
async function clientsOf(console: PgbouncerConsole): Promise<readonly ShownConnection[]> {
  try {
    return readClients(await console.query("SHOW CLIENTS", clientsMs));
  } catch {
    return [];
  }
}

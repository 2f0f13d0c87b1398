/**
 * Ports for programs that must know theirs before they start. Two test processes that run side by side never get the
 * same port: each holds a block of them while it lives.
 */
import { createServer, type Server } from "node:net";

/**
 * Below the ephemeral ports, so that no other socket takes one by chance, and below the ports of the demo and of the
 * lab of real servers.
 */
export const freePorts = { first: 12_000, end: 18_000 } as const;
const blockSize = 100;

/** The block of this process; it is held by a server on its first port. */
let block: Promise<number> | undefined;
/** The place in the block of the port that is given next. */
let next = 1;

/**
 * Gives a port of 127.0.0.1 on which nothing listens.
 * @param followed how many ports after it must be free too and are given with it
 * @throws Error if the ports of the block are in use, or all blocks are
 */
export async function freePort(followed = 0): Promise<number> {
  block ??= claim();
  const first = await block;
  for (let tries = 0; tries < blockSize; tries += 1) {
    if (next + followed >= blockSize) next = 1;
    const port = first + next;
    next += 1 + followed;
    const areFree = await Promise.all(Array.from({ length: 1 + followed }, (_, at) => isFree(port + at)));
    if (areFree.every(Boolean)) return port;
  }
  throw new Error(`Cannot give a free port: one of ${first + 1} to ${first + blockSize - 1} must be free, got none`);
}

/** Whether nothing listens on this port of 127.0.0.1. */
export async function isFree(port: number): Promise<boolean> {
  const server = await listen(port);
  if (server === null) return false;
  await new Promise((resolve) => void server.close(resolve));
  return true;
}

/** Returns those of these ports of 127.0.0.1 on which something listens. */
export async function takenOf(ports: readonly number[]): Promise<readonly number[]> {
  const taken: number[] = [];
  for (const port of ports) if (!(await isFree(port))) taken.push(port);
  return taken;
}

/** Listens on a port of 127.0.0.1 until the process ends. @returns whether the port was free */
export async function hold(port: number): Promise<boolean> {
  const server = await listen(port);
  server?.unref();
  return server !== null;
}

/** Listens on a port of 127.0.0.1. @returns null if it is in use */
function listen(port: number): Promise<Server | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(null));
    server.listen(port, "127.0.0.1", () => resolve(server));
  });
}

/** Takes a block of its own for this process. It starts at a random one: processes that follow each other differ. */
async function claim(): Promise<number> {
  const blocks = (freePorts.end - freePorts.first) / blockSize;
  const start = Math.floor(Math.random() * blocks);
  for (let tries = 0; tries < blocks; tries += 1) {
    const first = freePorts.first + ((start + tries) % blocks) * blockSize;
    if (await hold(first)) return first;
  }
  throw new Error(
    `Cannot take ports for this process: one of the ${blocks} blocks from ${freePorts.first} must be free, got none`,
  );
}

import { createServer } from "node:net";

/** How many ports are tried before any free one is taken. */
const attempts = 20;
/** The distance between two attempts: a cluster of three nodes fits between. */
const step = 10;

/** The ports to try: the usual one first, and any free port (0) last. */
function portsFrom(usual: number): readonly number[] {
  if (usual === 0) return [0];
  // Ports below the ephemeral range come first: a killed node must find its port free when it is revived.
  const nearby = Array.from({ length: attempts }, (_, index) => usual + index * step).filter((port) => port < 65_500);
  return [...nearby, 0];
}

/**
 * Opens something on the first port that is free.
 * @param open opens it on the given port; rejects with EADDRINUSE or EACCES if that cannot be used
 * @param avoided ports that are not tried: something else will take them
 * @returns what `open` returned
 */
export async function openOnFreePort<T>(
  usual: number,
  open: (port: number) => Promise<T>,
  avoided: readonly number[] = [],
): Promise<T> {
  for (const port of portsFrom(usual)) {
    if (port !== 0 && avoided.includes(port)) continue;
    try {
      return await open(port);
    } catch (error) {
      if (!isPortTaken(error) || port === 0) throw error;
    }
  }
  // The last port is 0, which ends the loop.
  return open(0);
}

/**
 * Returns a port of 127.0.0.1 that is free at present: the usual one, or one near it.
 * @param avoided a port that something else will take
 */
export function findFreePort(usual: number, avoided?: number): Promise<number> {
  if (usual === 0) return Promise.resolve(0);
  return openOnFreePort(
    usual,
    (port) =>
      new Promise((resolve, reject) => {
        const server = createServer();
        server.once("error", reject);
        server.listen({ port, host: "127.0.0.1" }, () => server.close(() => resolve(port)));
      }),
    avoided === undefined ? [] : [avoided],
  );
}

function isPortTaken(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "EADDRINUSE" || error.code === "EACCES");
}

import { get } from "node:http";
import { parseEnvoyClusters } from "./envoy-clusters.ts";
import type { RouteSource } from "../../../core/balancing/audited/route-source.ts";

/** The longest answer, in bytes: some thousand endpoints. */
const answerMax = 4 * 1024 * 1024;

/** What is read of an Envoy. */
export interface EnvoySourceSettings {
  /** The base address of its admin interface. */
  readonly admin: string;
  /** The clusters that are audited. */
  readonly clusters: readonly string[];
  /** Whether it may lack some of them: an Envoy need not have every pool. */
  readonly mayLack: boolean;
  /** How long Envoy takes to follow a change, in ms. */
  readonly delayMs: number;
  readonly limitMs: number;
}

/** Reads the endpoints of an Envoy and their connections, from its admin interface. */
export function envoySource({ admin, clusters, mayLack, delayMs, limitMs }: EnvoySourceSettings): RouteSource {
  return {
    read: async (signal) => {
      const text = await getText(`${admin}/clusters?format=json`, { limitMs, signal });
      const pools = parseEnvoyClusters(parsed(text), clusters, delayMs);
      if (!mayLack) return pools;
      const had = pools.filter(({ servers }) => servers !== null);
      if (had.length === 0) throw new Error("none of its clusters has the name of a pool");
      return had;
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("the answer must be JSON: is it Envoy's admin interface?");
  }
}

/** Requests a text on a connection of its own. @throws Error if it is too long, too late, or no 200 */
function getText(
  url: string,
  { limitMs, signal }: { readonly limitMs: number; readonly signal: AbortSignal },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => fail(`no complete answer within ${limitMs} ms`), limitMs);
    const request = get(url, { agent: false, signal, headers: { connection: "close" } }, (response) => {
      const chunks: Buffer[] = [];
      let length = 0;
      if (response.statusCode !== 200) fail(`the answer has status ${response.statusCode}`);
      response.on("data", (chunk: Buffer) => {
        length += chunk.length;
        if (length > answerMax) fail(`the answer is longer than ${answerMax} bytes`);
        else chunks.push(chunk);
      });
      response.on("error", (error) => fail(error.message));
      response.on("close", () => fail("the connection was closed without a complete answer"));
      response.on("end", () => {
        clearTimeout(late);
        resolve(Buffer.concat(chunks).toString("utf8"));
      });
    });
    request.on("error", (error) => fail(error.message));
    const fail = (problem: string): void => {
      clearTimeout(late);
      reject(new Error(problem));
      request.destroy();
    };
  });
}

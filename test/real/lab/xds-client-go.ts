/** A client of the xDS protocol in Go, over the stubs that go-control-plane generates. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { isObject } from "../../../src/core/cluster/values/json.ts";
import type { ConversationRequest } from "../../features/xds/conversation.ts";
import { until } from "../../fake/until.ts";

/** A response, as the client has read it. */
export interface GoResponse {
  /** The number of the stream, from 1. */
  readonly stream: number;
  readonly type: string;
  readonly nonce: string;
  /** The version that is in each assignment. */
  readonly pools: Readonly<Record<string, string>>;
  /** The version that the response states for each. */
  readonly versions: Readonly<Record<string, string>>;
}

const source = "test/real/lab/xds-client-go";

/**
 * Builds the client.
 * @returns its file, or why it cannot be built here
 */
export function buildGoClient(folder: string): { readonly file: string } | { readonly notRun: string } {
  const file = join(folder, "xds-client");
  const built = spawnSync("go", ["build", "-o", file, "."], { cwd: source, encoding: "utf8", timeout: 300_000 });
  if (built.error !== undefined) return { notRun: `go cannot be started: ${built.error.message}` };
  if (built.status === 0) return { file };
  const isWithoutModules = /dial tcp|proxy|lookup|i\/o timeout|missing go.sum|toolchain/.test(built.stderr);
  if (isWithoutModules) return { notRun: `the modules cannot be fetched: ${built.stderr.slice(0, 200)}` };
  throw new Error(`Cannot build ${source}: ${built.stderr}`);
}

/** The running client. */
export class GoClient {
  readonly responses: GoResponse[] = [];
  readonly #child: ChildProcess;
  #ended: string | null = null;

  /** @param address `HOST:PORT` of the server */
  constructor(file: string, address: string) {
    const child = spawn(file, [address], { stdio: ["pipe", "pipe", "pipe"] });
    this.#child = child;
    let complaint = "";
    child.stderr.on("data", (bytes: Buffer) => (complaint += bytes.toString()));
    child.once("exit", (code) => (this.#ended = `${code}: ${complaint}`));
    createInterface(child.stdout).on("line", (line) => {
      const parsed: unknown = JSON.parse(line);
      if (isObject(parsed)) this.responses.push(parsed as unknown as GoResponse);
    });
  }

  /** Opens a stream, and ends the one before. */
  open(method: string): void {
    this.#write({ open: method });
  }

  send(request: ConversationRequest): void {
    this.#write({ request });
  }

  /** Waits until it has read so many responses in all. */
  async received(count: number): Promise<void> {
    await until({ what: `response ${count} at the client`, evidence: () => this.#ended ?? "it runs" }, () =>
      this.responses.length >= count ? true : undefined,
    );
  }

  stop(): void {
    this.#child.kill("SIGKILL");
  }

  #write(line: object): void {
    this.#child.stdin?.write(`${JSON.stringify(line)}\n`);
  }
}

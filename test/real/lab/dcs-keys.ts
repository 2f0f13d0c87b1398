/** The keys of the lab's cluster in etcd, through its JSON gateway. */
import { ask } from "./ask.ts";
import { ports } from "./ports.ts";

const folder = "/service/demo/";

/** Sends one call to etcd. @throws Error for any status but 200 */
export async function callEtcd(path: string, body: object): Promise<unknown> {
  const reply = await ask({ port: ports.etcdClient, path, method: "POST", body });
  if (reply.status !== 200) throw new Error(`Cannot call ${path} of etcd: status must be 200, got ${reply.status}`);
  return JSON.parse(reply.body);
}

/** Deletes the leader key, as the end of its lease does. */
export async function deleteLeaderKey(): Promise<void> {
  await callEtcd("/v3/kv/deleterange", { key: encode(`${folder}leader`) });
}

/** Compacts etcd up to its present revision. */
export async function compact(): Promise<void> {
  const { header } = (await callEtcd("/v3/kv/range", { key: encode(`${folder}leader`) })) as {
    readonly header: { readonly revision: string };
  };
  await callEtcd("/v3/kv/compaction", { revision: header.revision, physical: true });
}

/** An event of the leader key, with the instant of the monotonic clock at which it came. */
export interface LeaderEvent {
  readonly atMs: number;
  /** `null`: the key was deleted. */
  readonly names: string | null;
}

/** Follows the leader key, with a client of its own. */
export class LeaderKey {
  readonly events: LeaderEvent[] = [];
  readonly #abort = new AbortController();
  readonly #running: Promise<void>;

  constructor() {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    try {
      const response = await fetch(`http://127.0.0.1:${ports.etcdClient}/v3/watch`, {
        method: "POST",
        body: JSON.stringify({ create_request: { key: encode(`${folder}leader`) } }),
        signal: this.#abort.signal,
      });
      let text = "";
      for await (const chunk of response.body ?? []) {
        const atMs = performance.now();
        const lines = (text + Buffer.from(chunk).toString()).split("\n");
        text = lines.pop() ?? "";
        for (const line of lines) this.events.push(...eventsIn(line, atMs));
      }
    } catch {
      // Stopped, or etcd has ended.
    }
  }
}

function eventsIn(line: string, atMs: number): readonly LeaderEvent[] {
  const { result } = JSON.parse(line) as {
    readonly result?: {
      readonly events?: readonly { readonly type?: string; readonly kv: { readonly value?: string } }[];
    };
  };
  return (result?.events ?? []).map(({ type, kv }) => ({
    atMs,
    names: type === "DELETE" ? null : Buffer.from(kv.value ?? "", "base64").toString(),
  }));
}

function encode(text: string): string {
  return Buffer.from(text).toString("base64");
}

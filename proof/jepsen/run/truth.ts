/** What the runner asks the machines through the observer: who leads, who is whole, who is fit. */
import type { LockEvent } from "../history.ts";
import {
  addressOf,
  type BalancerName,
  balancerNames,
  edgeNames,
  memberOf,
  type NodeName,
  nodeNames,
} from "../machines/addresses.ts";
import { etcdClients } from "../machines/etcd-member.ts";
import type { Observer } from "../machines/helpers.ts";

export class Truth {
  readonly #observer: Observer;

  constructor(observer: Observer) {
    this.#observer = observer;
  }

  /** The node that answers that it holds the lock; undefined if none or several do. */
  async leader(): Promise<NodeName | undefined> {
    const statuses = await Promise.all(nodeNames.map((node) => this.#status(node, "/leader")));
    const leaders = nodeNames.filter((_, at) => statuses[at] === 200);
    return leaders.length === 1 ? leaders[0] : undefined;
  }

  /** The leader, if every node runs and both others stream from it; undefined otherwise. */
  async wholeUnder(): Promise<NodeName | undefined> {
    const leader = await this.leader();
    if (leader === undefined) return undefined;
    const replicas = nodeNames.filter((node) => node !== leader);
    const healths = await Promise.all(replicas.map((node) => this.#status(node, "/replica?lag=10MB")));
    if (healths.some((status) => status !== 200)) return undefined;
    const host = addressOf(leader);
    const { text } = await this.#observer.http({ host, port: 8008, path: "/patroni", deadlineMs: 2_000 });
    return text.match(/"state": "streaming", "sync_state"/g)?.length === 2 ? leader : undefined;
  }

  /** Whether both instances of rolecall answer yes for each node in its role. */
  async isFit(leader: NodeName): Promise<boolean> {
    const checks = edgeNames.flatMap((edge) =>
      nodeNames.map((node) => {
        const route = node === leader ? "/primary" : "/replica?lag=10MB&lag_time=10s";
        return this.#status(edge, `/clusters/demo/nodes/${memberOf(node)}${route}`);
      }),
    );
    return (await Promise.all(checks)).every((status) => status === 200);
  }

  /** Whether both instances are ready. */
  async areReady(): Promise<boolean> {
    const statuses = await Promise.all(edgeNames.map((edge) => this.#status(edge, "/readyz")));
    return statuses.every((status) => status === 200);
  }

  /** Whether both HAProxy serve: a write reaches the leader, and a read a replica. */
  async isServed(leader: NodeName): Promise<boolean> {
    const leads = async (balancer: BalancerName, port: number): Promise<boolean | undefined> => {
      const place = { host: addressOf(balancer), port };
      const statement = "select host(inet_server_addr()) as address";
      const rows = await this.#observer.sql<{ readonly address: string }>(place, statement);
      return rows === null ? undefined : rows[0]?.address === addressOf(leader);
    };
    const found = await Promise.all(
      balancerNames.map(async (name) => (await leads(name, 5000)) === true && (await leads(name, 5001)) === false),
    );
    return found.every(Boolean);
  }

  /** Runs a statement at a node. */
  sql<T extends object>(node: NodeName, statement: string): Promise<readonly T[] | null> {
    return this.#observer.sql<T>({ host: addressOf(node), port: 5432 }, statement);
  }

  /** @returns what went wrong; undefined: accepted, or no answer yet */
  async switchOver(from: NodeName, to: NodeName): Promise<string | undefined> {
    const body = { leader: memberOf(from), candidate: memberOf(to) };
    const asked = { host: addressOf(from), port: 8008, path: "/switchover", body, deadlineMs: 3_000 };
    const { status, text } = await this.#observer.http(asked);
    return [0, 200, 202].includes(status) ? undefined : `${status} ${text}`;
  }

  /** Every change of the leader key since etcd began; undefined if no member gives its whole history. */
  async locks(): Promise<readonly LockEvent[] | undefined> {
    const key = Buffer.from("/service/demo/leader").toString("base64");
    for (const client of etcdClients) {
      const [host = "", port] = client.split(":");
      const place = { host, port: Number(port) };
      const now = await this.#observer.http({ ...place, path: "/v3/kv/range", body: { key }, deadlineMs: 2_000 });
      if (now.status !== 200) continue;
      const { kvs = [] } = JSON.parse(now.text) as { readonly kvs?: readonly { readonly mod_revision: string }[] };
      const body = { create_request: { key, start_revision: "1" } };
      const watch = { ...place, path: "/v3/watch", body, isStream: true, deadlineMs: 2_000 };
      const locks = locksOf((await this.#observer.http(watch)).text);
      if (locks.some(({ revision }) => revision >= Number(kvs[0]?.mod_revision ?? 1))) return locks;
    }
    return undefined;
  }

  async #status(machine: NodeName | (typeof edgeNames)[number], path: string): Promise<number> {
    const asked = { host: addressOf(machine), port: 8008, path, deadlineMs: 1_500 };
    return (await this.#observer.http(asked)).status;
  }
}

interface WatchedEvent {
  /** None: a put, as etcd leaves out what is zero. */
  readonly type?: "DELETE";
  readonly kv: { readonly mod_revision: string; readonly value?: string };
}

/** The changes in the answers of a watch: one JSON object a line. */
function locksOf(text: string): readonly LockEvent[] {
  const answers = text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { readonly result?: { readonly events?: readonly WatchedEvent[] } });
  return answers
    .flatMap(({ result }) => result?.events ?? [])
    .map(({ type, kv }) => {
      const member = Buffer.from(kv.value ?? "", "base64").toString();
      const holder = type === "DELETE" ? null : (nodeNames.find((node) => memberOf(node) === member) ?? null);
      return { type: "lock", revision: Number(kv.mod_revision), holder };
    });
}

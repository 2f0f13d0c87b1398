import { Watched } from "./watched.ts";

export const seed: string = "http://seed:8008";

export function discovering(nodes: ConstructorParameters<typeof Watched>[0] = {}): Watched {
  return new Watched({ nodes: [], ...nodes, cluster: { discover: [seed] } });
}

/** A member list, as `name address` each. */
export function list(
  watched: Watched,
  members: readonly string[],
  atMs: number,
  { scope = "demo", of = seed, leader = null, host: database = "10.0.0.9" }: Listed = {},
): void {
  const rows = members.map((text) => {
    const [name, host] = text.split(" ");
    const role = name === leader ? "leader" : "replica";
    return { name, role, api_url: `http://${host ?? name}:8008/patroni`, host: database, port: 5432 };
  });
  watched.document("cluster", { of, value: { scope, members: rows } }, atMs);
}

/** What else a list says: whose it is, and whom it names. */
export interface Listed {
  readonly scope?: string;
  readonly of?: string;
  readonly leader?: string | null;
  readonly host?: string;
}

/** So many failures that the node no longer answers; the last is at `atMs`. */
export function lose(watched: Watched, node: string, atMs: number): void {
  for (let time = 2; time >= 0; time -= 1) watched.fail(node, "timeout", atMs - time * 1_000);
}

export function nodesOf({ cluster }: Watched): readonly string[] {
  return cluster.nodes.map(({ node, report }) => `${node.name} ${node.api}${report === null ? "" : " seen"}`);
}

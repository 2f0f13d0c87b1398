import { ClusterFixture } from "./cluster-fixture.ts";

export const seedUrl: string = "http://seed:8008";

export function discoveringCluster(nodes: ConstructorParameters<typeof ClusterFixture>[0] = {}): ClusterFixture {
  return new ClusterFixture({ nodes: [], ...nodes, cluster: { discover: [seedUrl] } });
}

/** A member list, as `name address` each. */
export function applyMemberList(
  watched: ClusterFixture,
  members: readonly string[],
  atMs: number,
  { scope = "demo", of = seedUrl, leader = null, host: database = "10.0.0.9", port = 5432 }: MemberListOptions = {},
): void {
  const rows = members.map((text) => {
    const [name, host] = text.split(" ");
    const role = name === leader ? "leader" : "replica";
    return { name, role, api_url: `http://${host ?? name}:8008/patroni`, host: database, port };
  });
  watched.document("cluster", { of, value: { scope, members: rows } }, atMs);
}

/** The source of a list, the leader that it names, and the database address of all members. */
export interface MemberListOptions {
  readonly scope?: string;
  readonly of?: string;
  readonly leader?: string | null;
  readonly host?: string | null;
  readonly port?: number | null;
}

/** Records as many failures as make the node `down`; the last one at `atMs`. */
export function failUntilDown(watched: ClusterFixture, node: string, atMs: number): void {
  for (let time = 2; time >= 0; time -= 1) watched.fail(node, "timeout", atMs - time * 1_000);
}

export function describeNodes({ cluster }: ClusterFixture): readonly string[] {
  return cluster.nodes.map(({ node, report }) => `${node.name} ${node.api}${report === null ? "" : " seen"}`);
}

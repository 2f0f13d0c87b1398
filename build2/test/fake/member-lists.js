import { ClusterFixture } from "./cluster-fixture.js";
export const seedUrl = "http://seed:8008";
export function discoveringCluster(nodes = {}) {
    return new ClusterFixture({ nodes: [], ...nodes, cluster: { discover: [seedUrl] } });
}
/** A member list, as `name address` each. */
export function applyMemberList(watched, members, atMs, { scope = "demo", of = seedUrl, leader = null, host: database = "10.0.0.9" } = {}) {
    const rows = members.map((text) => {
        const [name, host] = text.split(" ");
        const role = name === leader ? "leader" : "replica";
        return { name, role, api_url: `http://${host ?? name}:8008/patroni`, host: database, port: 5432 };
    });
    watched.document("cluster", { of, value: { scope, members: rows } }, atMs);
}
/** Records as many failures as make the node `down`; the last one at `atMs`. */
export function failUntilDown(watched, node, atMs) {
    for (let time = 2; time >= 0; time -= 1)
        watched.fail(node, "timeout", atMs - time * 1_000);
}
export function describeNodes({ cluster }) {
    return cluster.nodes.map(({ node, report }) => `${node.name} ${node.api}${report === null ? "" : " seen"}`);
}
//# sourceMappingURL=member-lists.js.map
/** Nodes to probe, in a child process on the core of the load. */
import { fileURLToPath } from "node:url";
import { ChildProgram } from "./child-program.js";
/** Starts clusters of nodes. */
export async function serveNodes({ by, clusters, nodes, connections, motion = "still", }) {
    const child = await ChildProgram.start({
        command: [process.execPath, childFile(`${by}-nodes`), `${clusters}`, `${nodes}`, connections, motion],
        core: "load",
        readyMs: 30_000,
    });
    const clusterList = JSON.parse(child.line);
    return { clusters: clusterList, answers: async () => Number(await child.request("count")), stop: () => child.stop() };
}
/** The compiled file of a program in bench/children. */
export function childFile(name) {
    return fileURLToPath(new URL(`children/${name}.js`, import.meta.url));
}
//# sourceMappingURL=nodes.js.map
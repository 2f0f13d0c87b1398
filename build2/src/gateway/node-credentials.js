import { accessPathsOf, readAccess } from "../config/access-material.js";
import { WatchedFiles } from "../config/watched-files.js";
/** Without TLS files and without a password. */
export const noCredentials = { tls: {}, auth: null, hasAuth: false };
/**
 * The TLS files and passwords of all clusters. Files are read again when they change; if that fails, the last content
 * stays.
 */
export class NodeCredentialStore {
    #onReadResult;
    #known = new Map();
    #files = [];
    constructor(onReadResult) {
        this.#onReadResult = onReadResult;
    }
    /** Reads and watches the files of these clusters, and forgets all other clusters. Call again after a reload. */
    start(clusters) {
        this.stop();
        for (const name of this.#known.keys())
            if (!clusters.some((cluster) => cluster.name === name))
                this.#known.delete(name);
        for (const cluster of clusters)
            this.#watch(cluster);
    }
    get(cluster) {
        return this.#known.get(cluster) ?? noCredentials;
    }
    stop() {
        for (const files of this.#files.splice(0))
            files.close();
    }
    #watch(cluster) {
        const { name, auth, tls } = cluster;
        const hasAuth = auth !== null;
        const onChange = (credentials) => {
            this.#known.set(name, credentials);
            if (auth !== null || tls !== null)
                this.#onReadResult(name, null);
        };
        const files = new WatchedFiles(accessPathsOf(cluster), () => readNodeCredentials(cluster), {
            onChange,
            onProblem: (problem) => {
                this.#known.set(name, { ...this.get(name), hasAuth });
                this.#onReadResult(name, problem);
            },
        });
        const credentials = files.read();
        if (credentials !== null)
            onChange(credentials);
        files.start();
        this.#files.push(files);
    }
}
function readNodeCredentials(cluster) {
    const { tls, auth } = readAccess(cluster);
    return { tls, auth: auth === null ? null : `${auth.user}:${auth.password}`, hasAuth: auth !== null };
}
//# sourceMappingURL=node-credentials.js.map
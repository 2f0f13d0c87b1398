/** The DCS of the lab: one etcd on loopback, which keeps its data when it is killed. */
import { join } from "node:path";
import { ask } from "./ask.js";
import { Child } from "./child.js";
import { freeze } from "./freeze.js";
import { ports } from "./ports.js";
import { until } from "../../fake/until.js";
export class Etcd {
    #folder;
    #child;
    constructor(folder) {
        this.#folder = folder;
    }
    /** Starts it, on its old data where there are any, and waits (15 s) until it is healthy. */
    async start() {
        const client = `http://127.0.0.1:${ports.etcdClient}`;
        const peer = `http://127.0.0.1:${ports.etcdPeer}`;
        const files = ["--data-dir", join(this.#folder, "etcd")];
        const clientUrls = ["--listen-client-urls", client, "--advertise-client-urls", client];
        const peerUrls = [
            "--listen-peer-urls",
            peer,
            "--initial-advertise-peer-urls",
            peer,
            "--initial-cluster",
            `default=${peer}`,
        ];
        const child = new Child({
            name: "etcd-server",
            command: ["etcd", ...files, ...clientUrls, ...peerUrls],
            folder: this.#folder,
            asPostgres: true,
        });
        this.#child = child;
        await until({ what: "healthy etcd", seconds: 15, evidence: () => child.tail }, async () => {
            const { status, body } = await ask({ port: ports.etcdClient, path: "/health" });
            return status === 200 && body.includes("true") ? true : undefined;
        });
    }
    /** SIGSTOP: it keeps its connections and answers nothing. What it returns thaws it again. */
    freeze() {
        if (this.#child?.pid === undefined)
            throw new Error("Cannot freeze etcd: it was not started");
        return freeze(this.#child.pid);
    }
    /** SIGKILL: the DCS is gone between two instants. */
    async kill() {
        await this.#child?.stop("SIGKILL");
    }
    async stop() {
        await this.#child?.stop();
    }
}
//# sourceMappingURL=etcd.js.map
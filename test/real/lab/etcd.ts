/** The DCS of the lab: one etcd on loopback, which keeps its data when it is killed. */
import { join } from "node:path";
import { ask } from "./ask.ts";
import { Child } from "./child.ts";
import { freeze } from "./freeze.ts";
import { ports } from "./ports.ts";
import { until } from "../../fake/until.ts";

export class Etcd {
  readonly #folder: string;
  readonly #host: string;
  #child: Child | undefined;

  /** @param host an address of this machine on which it listens, too; nodes in namespaces are told that one */
  constructor(folder: string, host = "127.0.0.1") {
    this.#folder = folder;
    this.#host = host;
  }

  /** Starts it, on its old data where there are any, and waits (15 s) until it is healthy. */
  async start(): Promise<void> {
    const client = `http://127.0.0.1:${ports.etcdClient}`;
    const peer = `http://127.0.0.1:${ports.etcdPeer}`;
    const files = ["--data-dir", join(this.#folder, "etcd")];
    const told = `http://${this.#host}:${ports.etcdClient}`;
    const listening = told === client ? client : `${client},${told}`;
    const clientUrls = ["--listen-client-urls", listening, "--advertise-client-urls", told];
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
  freeze(): () => void {
    if (this.#child?.pid === undefined) throw new Error("Cannot freeze etcd: it was not started");
    return freeze(this.#child.pid);
  }

  /** SIGKILL: the DCS is gone between two instants. */
  async kill(): Promise<void> {
    await this.#child?.stop("SIGKILL");
  }

  async stop(): Promise<void> {
    await this.#child?.stop();
  }
}

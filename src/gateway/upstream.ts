import { readFileSync } from "node:fs";
import type { ClusterConfig } from "../config/model/config.ts";
import { readTls, type TlsMaterial } from "../config/tls-material.ts";
import { watchFiles } from "../config/file-watcher.ts";

/** TLS files and credentials for requests to the nodes of one cluster. */
export interface NodeConnection {
  readonly tls: TlsMaterial;
  /** `user:password` for calls that change state, or `null`. */
  readonly auth: string | null;
  /** Whether the cluster is configured with credentials, readable or not: a client's are not forwarded then. */
  readonly hasCredentials: boolean;
}

/** Called when a cluster's files were read. `problem` is a sentence, or `null`. */
export type OnUpstreamFiles = (cluster: string, problem: string | null) => void;

const nothing: NodeConnection = { tls: {}, auth: null, hasCredentials: false };

/**
 * The TLS files and passwords of all clusters. Files are read again when they change; if that fails, the last content
 * stays.
 */
export class NodeConnections {
  readonly #onFiles: OnUpstreamFiles;
  readonly #known = new Map<string, NodeConnection>();
  readonly #watches: { close(): void }[] = [];

  constructor(onFiles: OnUpstreamFiles) {
    this.#onFiles = onFiles;
  }

  /** Reads and watches the files of these clusters, and stops watching those of others. Also for a reload. */
  start(clusters: readonly ClusterConfig[]): void {
    this.stop();
    for (const name of this.#known.keys())
      if (!clusters.some((cluster) => cluster.name === name)) this.#known.delete(name);
    for (const cluster of clusters) {
      this.#read(cluster);
      const files = [cluster.tls?.ca, cluster.tls?.cert, cluster.tls?.key, cluster.auth?.passwordFile].filter(
        (file) => typeof file === "string",
      );
      if (files.length > 0) this.#watches.push(watchFiles(files, () => this.#read(cluster)));
    }
  }

  of(cluster: string): NodeConnection {
    return this.#known.get(cluster) ?? nothing;
  }

  stop(): void {
    for (const watch of this.#watches.splice(0)) watch.close();
  }

  #read(cluster: ClusterConfig): void {
    const hasCredentials = cluster.auth !== null;
    try {
      const auth = cluster.auth === null ? null : `${cluster.auth.user}:${firstLine(cluster.auth.passwordFile)}`;
      this.#known.set(cluster.name, { tls: cluster.tls === null ? {} : readTls(cluster.tls), auth, hasCredentials });
      if (cluster.auth !== null || cluster.tls !== null) this.#onFiles(cluster.name, null);
    } catch (error) {
      this.#known.set(cluster.name, { ...this.of(cluster.name), hasCredentials });
      this.#onFiles(cluster.name, error instanceof Error ? error.message : String(error));
    }
  }
}

function firstLine(file: string): string {
  return readFileSync(file, "utf8").split(/\r?\n/, 1)[0] ?? "";
}

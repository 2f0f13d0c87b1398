import { readFileSync } from "node:fs";
import type { ClusterConfig } from "../config/model/config.ts";
import { readTls, tlsPathsOf, type TlsMaterial } from "../config/tls-material.ts";
import { WatchedFiles } from "../config/watched-files.ts";

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
  readonly #files: WatchedFiles<NodeConnection>[] = [];

  constructor(onFiles: OnUpstreamFiles) {
    this.#onFiles = onFiles;
  }

  /** Reads and watches the files of these clusters, and stops watching those of others. Also for a reload. */
  start(clusters: readonly ClusterConfig[]): void {
    this.stop();
    for (const name of this.#known.keys())
      if (!clusters.some((cluster) => cluster.name === name)) this.#known.delete(name);
    for (const cluster of clusters) this.#watch(cluster);
  }

  of(cluster: string): NodeConnection {
    return this.#known.get(cluster) ?? nothing;
  }

  stop(): void {
    for (const files of this.#files.splice(0)) files.close();
  }

  #watch(cluster: ClusterConfig): void {
    const { name, auth, tls } = cluster;
    const hasCredentials = auth !== null;
    const onChange = (connection: NodeConnection): void => {
      this.#known.set(name, connection);
      if (auth !== null || tls !== null) this.#onFiles(name, null);
    };
    const files = new WatchedFiles(
      [...tlsPathsOf(tls), ...(auth === null ? [] : [auth.passwordFile])],
      () => readConnection(cluster),
      {
        onChange,
        onProblem: (problem) => {
          this.#known.set(name, { ...this.of(name), hasCredentials });
          this.#onFiles(name, problem);
        },
      },
    );
    const connection = files.read();
    if (connection !== null) onChange(connection);
    files.start();
    this.#files.push(files);
  }
}

function readConnection({ auth, tls }: ClusterConfig): NodeConnection {
  return {
    tls: tls === null ? {} : readTls(tls),
    auth: auth === null ? null : `${auth.user}:${firstLine(auth.passwordFile)}`,
    hasCredentials: auth !== null,
  };
}

function firstLine(file: string): string {
  return readFileSync(file, "utf8").split(/\r?\n/, 1)[0] ?? "";
}

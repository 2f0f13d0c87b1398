import { readFileSync } from "node:fs";
import type { ClusterConfig } from "../config/model/config.ts";
import { readTls, tlsPathsOf, type TlsMaterial } from "../config/tls-material.ts";
import { WatchedFiles } from "../config/watched-files.ts";

/** What calls to the nodes of one cluster are made with. */
export interface NodeConnection {
  readonly tls: TlsMaterial;
  /** `user:password` for calls that change something, or `null`. */
  readonly auth: string | null;
  /** Whether the cluster is configured with credentials of its own, readable or not: a client's are not passed on then. */
  readonly hasCredentials: boolean;
}

/** Told that a cluster's files were read anew; a problem is a sentence, `null` is none. */
export type OnUpstreamFiles = (cluster: string, problem: string | null) => void;

const nothing: NodeConnection = { tls: {}, auth: null, hasCredentials: false };

/** The TLS files and passwords of all clusters, read again when they change. What cannot be read keeps its last content. */
export class NodeConnections {
  readonly #onFiles: OnUpstreamFiles;
  readonly #known = new Map<string, NodeConnection>();
  readonly #files: WatchedFiles<NodeConnection>[] = [];

  constructor(onFiles: OnUpstreamFiles) {
    this.#onFiles = onFiles;
  }

  /** Goes by these clusters from now on. */
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

import type { ClusterConfig } from "../../core/config/model/config.ts";
import { accessPathsOf, readAccess } from "../../core/config/access-material.ts";
import { serverNamesOf } from "../../core/config/tls-material.ts";
import { WatchedFiles } from "../../core/config/watched-files.ts";
import { type NodeCredentials, noCredentials } from "../../core/http/forwarding/node-credentials.ts";

/** Called after each attempt to read a cluster's files. `problem` is a sentence; `null` on success. */
export type OnNodeFilesRead = (cluster: string, problem: string | null) => void;

/**
 * The TLS files and passwords of all clusters. Files are read again when they change; if that fails, the last content
 * stays.
 */
export class NodeCredentialStore {
  readonly #onReadResult: OnNodeFilesRead;
  readonly #known = new Map<string, NodeCredentials>();
  readonly #files: WatchedFiles<NodeCredentials>[] = [];

  constructor(onReadResult: OnNodeFilesRead) {
    this.#onReadResult = onReadResult;
  }

  /** Reads and watches the files of these clusters, and forgets all other clusters. Call again after a reload. */
  start(clusters: readonly ClusterConfig[]): void {
    this.stop();
    for (const name of this.#known.keys())
      if (!clusters.some((cluster) => cluster.name === name)) this.#known.delete(name);
    for (const cluster of clusters) this.#watch(cluster);
  }

  get(cluster: string): NodeCredentials {
    return this.#known.get(cluster) ?? noCredentials;
  }

  stop(): void {
    for (const files of this.#files.splice(0)) files.close();
  }

  #watch(cluster: ClusterConfig): void {
    const { name, auth, tls } = cluster;
    const hasAuth = auth !== null;
    const onChange = (credentials: NodeCredentials): void => {
      this.#known.set(name, credentials);
      if (auth !== null || tls !== null) this.#onReadResult(name, null);
    };
    const files = new WatchedFiles(accessPathsOf(cluster), () => readNodeCredentials(cluster), {
      onChange,
      onProblem: (problem) => {
        this.#known.set(name, { ...this.get(name), hasAuth });
        this.#onReadResult(name, problem);
      },
    });
    const credentials = files.read();
    if (credentials !== null) onChange(credentials);
    files.start();
    this.#files.push(files);
  }
}

function readNodeCredentials(cluster: ClusterConfig): NodeCredentials {
  const { tls, auth } = readAccess(cluster);
  return {
    tls,
    serverNames: serverNamesOf(cluster),
    auth: auth === null ? null : `${auth.user}:${auth.password}`,
    hasAuth: auth !== null,
  };
}

import type { ClusterConfig } from "../config/model/config.ts";
import { accessPathsOf, readAccess } from "../config/access-material.ts";
import { serverNamesOf, type ServerNames, type TlsMaterial } from "../config/tls-material.ts";
import { WatchedFiles } from "../config/watched-files.ts";

/** TLS files and credentials for requests to the nodes of one cluster. */
export interface NodeCredentials {
  readonly tls: TlsMaterial;
  /** The names of nodes' certificates that are not that of `tls`. */
  readonly serverNames: ServerNames;
  /** `user:password` for calls that change state, or `null`. */
  readonly auth: string | null;
  /**
   * Whether `auth` is configured, even if its file is unreadable. If so, the client's Authorization header is not
   * forwarded.
   */
  readonly hasAuth: boolean;
}

/** Called after each attempt to read a cluster's files. `problem` is a sentence; `null` on success. */
export type OnNodeFilesRead = (cluster: string, problem: string | null) => void;

/** Without TLS files and without a password. */
export const noCredentials: NodeCredentials = { tls: {}, serverNames: new Map(), auth: null, hasAuth: false };

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

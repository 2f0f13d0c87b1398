/** Where the API server of Kubernetes is, and as whom it is called. */
import { dirname, resolve } from "node:path";
import { parse } from "yaml";
import { isObject, listOf, objectOf, type JsonObject } from "../../../core/cluster/values/json.ts";
import { secretProblem } from "../../../core/cluster/values/secret-destination.ts";
import { readRegularFile } from "../../../core/files/regular-file.ts";
import { secretText } from "../../../core/config/access-material.ts";

/** What calls to an API server need. Files are read again by {@link readApiAccess}. */
export interface ApiAccess {
  /** `https://host:port`, without a path. */
  readonly origin: string;
  /** A path before all others, without a slash at its end; usually empty. */
  readonly basePath: string;
  readonly tls: {
    readonly ca?: string;
    readonly cert?: string;
    readonly key?: string;
    readonly servername?: string;
    readonly rejectUnauthorized?: false;
  };
  readonly token: string | null;
  /** The namespace of the pod or of the context. */
  readonly namespace: string;
  /** The files that it was read from: with other content it is read again. */
  readonly files: readonly string[];
}

/** How the API server is found. */
export interface ApiPlace {
  /** A kubeconfig; `null`: the service account of the pod. */
  readonly kubeconfig: string | null;
  /** Its context; `null`: the current one. */
  readonly context: string | null;
}

/** Where a pod finds its token, as kubelet mounts it. */
const accountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * Reads where the API server is, and as whom it is called.
 * @param env the variables of the process: of a pod KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT
 * @param folder where a pod finds its token
 * @throws Error that says which file or key is missing, or not supported
 */
export function readApiAccess(
  { kubeconfig, context }: ApiPlace,
  env: Readonly<Record<string, string | undefined>>,
  folder: string = accountFolder,
): ApiAccess {
  if (kubeconfig !== null) return fromKubeconfig(kubeconfig, context);
  const { KUBERNETES_SERVICE_HOST: host = "", KUBERNETES_SERVICE_PORT: port = "443" } = env;
  if (host === "")
    throw new Error(
      "Cannot find the API server: rolecall must run in a pod (KUBERNETES_SERVICE_HOST is not set), or kubernetes.kubeconfig must name a file",
    );
  const [tokenFile, caFile] = [`${folder}/token`, `${folder}/ca.crt`];
  return {
    origin: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    basePath: "",
    tls: { ca: readRegularFile(caFile) },
    token: secretText(tokenFile).trim(),
    namespace: readRegularFile(`${folder}/namespace`).trim(),
    files: [tokenFile, caFile],
  };
}

function fromKubeconfig(file: string, wanted: string | null): ApiAccess {
  const config = objectOf(parse(secretText(file), { maxAliasCount: 0 }));
  const name = wanted ?? config["current-context"];
  if (typeof name !== "string" || name === "")
    throw new Error(`Cannot use ${file}: it has no current-context; name one with kubernetes.context`);
  const entryOf = (list: string, named: unknown): JsonObject => {
    const found = listOf(config[list]).find((entry) => isObject(entry) && entry["name"] === named);
    if (!isObject(found)) throw new Error(`Cannot use ${file}: ${list} must have ${JSON.stringify(named ?? null)}`);
    return found;
  };
  const context = entryOf("contexts", name)["context"];
  const { cluster: clusterName, user: userName, namespace = "default" } = objectOf(context);
  const cluster = objectOf(entryOf("clusters", clusterName)["cluster"]);
  const user = objectOf(entryOf("users", userName)["user"]);
  for (const key of ["exec", "auth-provider", "username", "as"])
    if (user[key] !== undefined)
      throw new Error(
        `Cannot use ${file}: user ${String(userName)} has ${key}, which rolecall does not support; it must have token, tokenFile, or client-certificate and client-key`,
      );
  const files = new Set([file]);
  const contentOf = (from: JsonObject, key: string): string | undefined => {
    const { [`${key}-data`]: data, [key]: path } = from;
    if (typeof data === "string" && data !== "") return Buffer.from(data, "base64").toString();
    if (typeof path !== "string" || path === "") return undefined;
    const resolved = resolve(dirname(file), path);
    files.add(resolved);
    return secretText(resolved);
  };
  const url = urlOf(cluster["server"], file);
  const tokenFile = user["tokenFile"];
  const token =
    typeof tokenFile === "string" && tokenFile !== ""
      ? contentOf({ token: tokenFile }, "token")?.trim()
      : typeof user["token"] === "string"
        ? user["token"]
        : null;
  const [ca, cert, key] = [
    contentOf(cluster, "certificate-authority"),
    contentOf(user, "client-certificate"),
    contentOf(user, "client-key"),
  ];
  const servername = cluster["tls-server-name"];
  return {
    origin: url.origin,
    basePath: url.pathname.replace(/\/$/, ""),
    tls: {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      ...(typeof servername === "string" ? { servername } : {}),
      ...(cluster["insecure-skip-tls-verify"] === true ? { rejectUnauthorized: false as const } : {}),
    },
    token: token ?? null,
    namespace: typeof namespace === "string" ? namespace : "default",
    files: [...files],
  };
}

function urlOf(server: unknown, file: string): URL {
  const url = typeof server === "string" && URL.canParse(server) ? new URL(server) : null;
  const isOfHttp = url !== null && /^https?:$/.test(url.protocol);
  if (!isOfHttp || secretProblem("kubernetes_token", { address: url.origin, word: "configured" }) !== null)
    throw new Error(`Cannot use ${file}: server must be an https URL, got ${JSON.stringify(server ?? null)}`);
  return url;
}

/** An address of `discover` that names the pods of a cluster: `kubernetes://databases?selector=cluster-name=orders`. Pure. */

/** The pods that an address names, and where their API is. */
export interface PodSeed {
  readonly namespace: string;
  /** A label selector. */
  readonly selector: string;
  readonly port: number;
  readonly isTls: boolean;
}

/** The protocol of these addresses. */
export const podProtocol = "kubernetes:";

/** What such an address must be, for people. */
export const podSeedAllowed: string =
  "kubernetes://NAMESPACE?selector=LABELS, such as kubernetes://databases?selector=cluster-name=orders, with port=8008 and tls=false by default";

/** A namespace (RFC 1123), and the terms of a selector: `a=b`, `a!=b`, `a`, `!a`, `a in (b,c)`. */
const namespacePattern = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const selectorPattern = /^[A-Za-z0-9!(][A-Za-z0-9 ._/=!,()-]{0,510}$/;

/** Where the API of Patroni is. */
const usualPort = 8008;

/** Reads an address. @returns `null` if it is none of these */
export function parsePodSeed(text: string): PodSeed | null {
  if (!text.startsWith(`${podProtocol}//`) || !URL.canParse(text)) return null;
  const { hostname: namespace, port: written, username, password, pathname, hash, searchParams } = new URL(text);
  const isPlain = written + username + password + hash === "" && (pathname === "" || pathname === "/");
  const selector = searchParams.get("selector") ?? "";
  const [port, tls] = [searchParams.get("port") ?? String(usualPort), searchParams.get("tls") ?? "false"];
  const keys = [...searchParams.keys()];
  const areKeysKnown = keys.every((key) => ["selector", "port", "tls"].includes(key));
  const isOnce = new Set(keys).size === keys.length;
  const isPort = /^[1-9]\d{0,4}$/.test(port) && Number(port) <= 65_535;
  const isValid = isPlain && areKeysKnown && isOnce && isPort && /^(true|false)$/.test(tls);
  if (!isValid || !namespacePattern.test(namespace) || !selectorPattern.test(selector)) return null;
  return { namespace, selector, port: Number(port), isTls: tls === "true" };
}

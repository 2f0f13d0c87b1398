/**
 * The secrets that rolecall sends. `test/spec/secrets.yaml` lists where each comes from and every place that sends it.
 *
 * - `node_password`: the password of a cluster's nodes, or what a client sends along with a call to them
 * - `instance_token`: a token of another rolecall: of an upstream, a peer or a member of the fleet
 * - `etcd_password`: the password of a user of etcd, and the token that etcd gives for it
 * - `console_password`: the password of a PgBouncer's console, or of a connection as clients make it, in clear text because
 *   its login wants that
 * - `kubernetes_token`: the token of a service account, or of a kubeconfig
 * - `command_credential`: the token or the password of somebody who runs a command
 */
export type SecretKind =
  "node_password" | "instance_token" | "etcd_password" | "console_password" | "kubernetes_token" | "command_credential";

/**
 * Who says that an address is the right one.
 *
 * - `configured`: the operator, in the configuration or on the command line
 * - `proved`: what answers there: it has proved itself to this instance (rule 10)
 * - `stated`: another process, in a key of etcd or in an answer
 */
export type AddressWord = "configured" | "proved" | "stated";

/** Where a secret would go. */
export interface SecretDestination {
  /** A base address: `http://host:port` or `https://host:port`. */
  readonly address: string;
  readonly word: AddressWord;
  /** Whether the operator reaches others of its kind with TLS only. */
  readonly expectsTls?: boolean;
  /** Whether it can be this machine. Default: yes. Elsewhere `127.0.0.1` is another machine's word for itself. */
  readonly mayBeHere?: boolean;
}

/** What may happen to a secret: `never` goes in clear text, but to this machine; `stated` addresses may get it at all. */
const rules: Readonly<Record<SecretKind, { readonly inClear: "never" | "configured"; readonly mayBeStated: boolean }>> =
  {
    node_password: { inClear: "configured", mayBeStated: false },
    // Members of a fleet find each other through etcd: the certificate of what answers there proves it.
    instance_token: { inClear: "never", mayBeStated: true },
    etcd_password: { inClear: "configured", mayBeStated: false },
    console_password: { inClear: "never", mayBeStated: false },
    kubernetes_token: { inClear: "never", mayBeStated: false },
    command_credential: { inClear: "configured", mayBeStated: false },
  };

/**
 * Decides for every feature whether a secret may be sent to an address.
 * @returns what the address must be for that, as in "an address must be …"; `null` if the secret may go there
 */
export function secretProblem(
  kind: SecretKind,
  { address, word, expectsTls = false, mayBeHere = true }: SecretDestination,
): string | null {
  const { inClear, mayBeStated } = rules[kind];
  if (word === "stated" && !mayBeStated) return "configured, or must have proved itself here";
  const { protocol, hostname } = new URL(address);
  const isHere = isThisMachine(hostname);
  if (word === "stated" && isHere && !mayBeHere) return "one of another machine";
  if (protocol === "https:") return null;
  if (word !== "configured" && expectsTls) return "https";
  if (isHere || word === "proved") return null;
  return inClear === "configured" && word === "configured" ? null : "https";
}

/** @param hostname as `URL` writes it */
function isThisMachine(hostname: string): boolean {
  return /^(localhost\.?|127(\.\d{1,3}){3}|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\])$/.test(hostname);
}

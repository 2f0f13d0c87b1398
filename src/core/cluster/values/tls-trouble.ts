/** What errors of TLS mean, and what to do about each: the only table. Pure. */
import type { Failure } from "./failure.ts";

interface TlsTrouble {
  /** Codes of Node and OpenSSL. */
  readonly codes: RegExp;
  /** What is said of it: details of failures begin so. */
  readonly says: string;
  /** What to do. @param node the node whose API it is, or `the node` */
  readonly action: (node: string) => string;
}

const ofAuthority =
  /^(?:UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|CERT_UNTRUSTED|INVALID_CA)$/;
const ofName = /^(?:ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/;

const troubles: readonly TlsTrouble[] = [
  {
    codes: ofAuthority,
    says:
      "certificate not trusted, its authority is private or unknown: name the authority as tls.ca of the cluster, " +
      "or with --node-ca beside --discover",
    action: (node) =>
      `Give rolecall the authority that signed the certificate of ${node}: \`tls.ca\` of the cluster, or --node-ca FILE beside --discover`,
  },
  {
    codes: /^CERT_HAS_EXPIRED$/,
    says: "the certificate of the node has expired",
    action: (node) =>
      `Renew the certificate of ${node} (\`restapi.certfile\` of its Patroni), and reload Patroni there`,
  },
  {
    codes: /^CERT_NOT_YET_VALID$/,
    says: "the certificate of the node is not valid yet",
    action: (node) => `Compare the clocks of this machine and of ${node}; if both are right, wait until it is valid`,
  },
  {
    codes: /^CERT_REVOKED$/,
    says: "the certificate of the node is revoked",
    action: (node) =>
      `Issue a new certificate for ${node} (\`restapi.certfile\` of its Patroni), and reload Patroni there`,
  },
  {
    codes: ofName,
    says: "the certificate of the node is for another name",
    action: (node) =>
      `Issue a certificate for the address by which ${node} is reached, or set \`tls.server_name\` of the cluster to the name that it has`,
  },
  {
    codes: /ALERT_CERTIFICATE_REQUIRED$/,
    says: "the node requires a client certificate, tls.cert and tls.key",
    action: (node) => `Set \`tls.cert\` and \`tls.key\` of the cluster to a client certificate that ${node} trusts`,
  },
  {
    // With TLS 1.2 a missing client certificate is a failed handshake.
    codes: /ALERT_HANDSHAKE_FAILURE$/,
    says: "the node refuses the handshake; it may require a client certificate, tls.cert and tls.key",
    action: (node) => `Set \`tls.cert\` and \`tls.key\` of the cluster to a client certificate that ${node} trusts`,
  },
  {
    codes: /ALERT_CERTIFICATE_EXPIRED$/,
    says: "the node refuses the client certificate of tls.cert, which has expired",
    action: () =>
      "Renew the client certificate, `tls.cert` of the cluster: rolecall reads the file again when it changes",
  },
  {
    codes: /ALERT_UNKNOWN_CA$/,
    says: "the node refuses the client certificate of tls.cert, whose authority it does not know",
    action: (node) =>
      `Sign \`tls.cert\` of the cluster by an authority that ${node} trusts (\`restapi.cafile\` of its Patroni)`,
  },
  {
    codes: /ALERT_(?:BAD_CERTIFICATE|CERTIFICATE_(?:REVOKED|UNKNOWN)|UNSUPPORTED_CERTIFICATE|ACCESS_DENIED)$/,
    says: "the node refuses the client certificate of tls.cert",
    action: (node) =>
      `Compare \`tls.cert\` of the cluster with what ${node} trusts (\`restapi.cafile\` of its Patroni, and its log)`,
  },
];

/** Whether a certificate is of an authority that is not known here. @param code of Node and OpenSSL */
export function isUnknownAuthority(code: string): boolean {
  return ofAuthority.test(code);
}

/** Whether a certificate is for another name than the one that is expected. @param code of Node and OpenSSL */
export function isOtherName(code: string): boolean {
  return ofName.test(code);
}

/**
 * What an error of TLS means, in words; `null` of a code that says nothing better. OpenSSL names the alerts by their first
 * protocol, `SSLV3_ALERT_…`, since 3.5 `SSL/TLS_ALERT_…`: only the end of a name counts.
 */
export function tlsTroubleText(code: string): string | null {
  return troubles.find(({ codes }) => codes.test(code))?.says ?? null;
}

/**
 * What to do about a failure that is an error of TLS; `null` of any other failure.
 * @param node whose certificate it is
 * @param wasTrusted whether it has answered before: a certificate that changes may be that of somebody else
 */
export function tlsAction(
  failure: Pick<Failure, "detail"> | null,
  node: string,
  wasTrusted: boolean = false,
): string | null {
  if (failure === null) return null;
  // The first that fits may say the beginning of another one.
  const found = troubles.filter(({ says }) => failure.detail.startsWith(says));
  const longest = found.toSorted((one, other) => other.says.length - one.says.length)[0];
  if (longest === undefined) return null;
  return wasTrusted && longest.codes === ofAuthority ? changedAction(node) : longest.action(node);
}

function changedAction(node: string): string {
  return (
    `The certificate of ${node} was trusted before. Find out who replaced it (\`restapi.certfile\` of its Patroni), and ` +
    "restore it. Only if the change is meant, give rolecall the new authority: `tls.ca` of the cluster"
  );
}

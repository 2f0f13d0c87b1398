import type { PartialListenerAccess, PartialListener } from "../sources/partial-config.ts";
import { type ConfigIssue, type ConfigPath, valueIssue } from "../model/issue.ts";
import { isLoopback } from "../values/loopback.ts";

/** Checks the access control of each listener against its dialect and address. */
export function checkListenerAccess(listeners: readonly PartialListener[]): readonly ConfigIssue[] {
  return listeners.flatMap((listener, index) => checkAccess(listener, ["listen", index]));
}

function checkAccess({ address, dialect, access }: PartialListener, at: ConfigPath): readonly ConfigIssue[] {
  const issues: ConfigIssue[] = [];
  if (access.authUsesCertificate && !access.tlsRequestsClientCertificate) {
    issues.push(valueIssue([...at, "auth", "certificate"], true, "set only if tls.client is optional or required"));
  }
  if (access.hasHintTokens && dialect !== "admin")
    issues.push(valueIssue([...at, "hint_tokens"], "set", `left out, because the dialect is ${dialect}`));
  issues.push(...checkReadOnly(dialect, access, at), ...checkAdminAddress({ address, dialect, access }, at));
  if (!access.isManagementOn) return issues;
  if (dialect === "exporter")
    return [...issues, valueIssue([...at, "management"], "on", `off or left out, because the dialect is ${dialect}`)];
  if (dialect === "admin") return [...issues, ...checkAdminManagement(access, at)];
  // A client of this port can stop the database, so a port reachable from outside must restrict its clients.
  if (address !== undefined && !isLoopback(address) && !isRestricted(access)) {
    const allowed =
      "off on a non-loopback address, unless clients are restricted by auth, tls.client: required or allow";
    issues.push(valueIssue([...at, "management"], "on", allowed));
  }
  return issues;
}

/** An admin listener forwards switchovers only for authenticated callers: a web page at it can send them. */
function checkAdminManagement(access: PartialListenerAccess, at: ConfigPath): readonly ConfigIssue[] {
  if (access.readOnly === true)
    return [valueIssue([...at, "management"], "on", "off or left out, because read_only is true")];
  if (access.hasAuth || access.tlsRequiresClientCertificate) return [];
  const allowed = "off on an admin listener, unless clients are authenticated by auth or tls.client: required";
  return [valueIssue([...at, "management"], "on", allowed)];
}

/** Node listeners have `management` instead. */
function checkReadOnly(
  dialect: PartialListener["dialect"],
  { readOnly }: PartialListenerAccess,
  at: ConfigPath,
): readonly ConfigIssue[] {
  if (dialect !== "node" || readOnly === undefined) return [];
  const allowed = "left out, because the dialect is node: management: off refuses such requests";
  return [valueIssue([...at, "read_only"], readOnly, allowed)];
}

/** A client of an admin listener can drain every node, so one that is reachable from outside must be restricted too. */
function checkAdminAddress(
  { address, dialect, access }: Pick<PartialListener, "address" | "dialect" | "access">,
  at: ConfigPath,
): readonly ConfigIssue[] {
  if (dialect !== "admin" || address === undefined || isLoopback(address)) return [];
  // An invalid value of read_only is an issue of its own.
  if (isRestricted(access) || (access.readOnly !== undefined && access.readOnly !== false)) return [];
  const allowed =
    "a loopback address, because anyone who reaches an admin listener can drain nodes, " +
    "unless clients are restricted by auth, tls.client: required or allow, or read_only is true";
  return [valueIssue([...at, "address"], address, allowed)];
}

function isRestricted(access: PartialListenerAccess): boolean {
  return access.hasAuth || access.hasAllow || access.tlsRequiresClientCertificate;
}

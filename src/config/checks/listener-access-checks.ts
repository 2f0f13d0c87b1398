import type { PartialListenerAccess, PartialListener } from "../sources/partial-config.ts";
import { type ConfigIssue, type ConfigPath, valueIssue } from "../model/issue.ts";

/** Checks the access control of each listener against its dialect and address. */
export function checkListenerAccess(listeners: readonly PartialListener[]): readonly ConfigIssue[] {
  return listeners.flatMap((listener, index) => checkAccess(listener, ["listen", index]));
}

function checkAccess({ address, dialect, access }: PartialListener, at: ConfigPath): readonly ConfigIssue[] {
  const issues: ConfigIssue[] = [];
  if (access.authUsesCertificate && !access.tlsRequestsClientCertificate) {
    issues.push(valueIssue([...at, "auth", "certificate"], true, "set only if tls.client is optional or required"));
  }
  if (!access.isManagementOn) return issues;
  if (dialect === "admin" || dialect === "exporter")
    return [...issues, valueIssue([...at, "management"], "on", `off or left out, because the dialect is ${dialect}`)];
  // A client of this port can stop the database, so a port reachable from outside must restrict its clients.
  if (address !== undefined && !isLoopback(address) && !isRestricted(access)) {
    const allowed =
      "off on a non-loopback address, unless clients are restricted by auth, tls.client: required or allow";
    issues.push(valueIssue([...at, "management"], "on", allowed));
  }
  return issues;
}

function isRestricted(access: PartialListenerAccess): boolean {
  return access.hasAuth || access.hasAllow || access.tlsRequiresClientCertificate;
}

function isLoopback(address: string): boolean {
  return address === "localhost" || address === "::1" || /^127\.\d+\.\d+\.\d+$/.test(address);
}

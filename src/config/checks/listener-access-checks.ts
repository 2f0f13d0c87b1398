import type { PartialListenerAccess, PartialListener } from "../sources/partial-config.ts";
import { type ConfigIssue, type ConfigPath, valueIssue } from "../model/issue.ts";

/** Checks what stands at listeners' doors against the listeners themselves. */
export function checkListenerAccess(listeners: readonly PartialListener[]): readonly ConfigIssue[] {
  return listeners.flatMap((listener, index) => checkDoor(listener, ["listen", index]));
}

function checkDoor({ address, dialect, door }: PartialListener, at: ConfigPath): readonly ConfigIssue[] {
  const issues: ConfigIssue[] = [];
  if (door.wantsCertificate && !door.asksForCertificate) {
    issues.push(
      valueIssue([...at, "auth", "certificate"], true, "said together with tls.client, which is optional or required"),
    );
  }
  if (!door.hasManagement) return issues;
  if (dialect === "admin" || dialect === "exporter")
    return [...issues, valueIssue([...at, "management"], "on", `off or left out, as the dialect is ${dialect}`)];
  // Whoever reaches this port can stop the database: outside this machine somebody has to say who that may be.
  if (address !== undefined && !isLoopback(address) && !isLocked(door)) {
    const allowed =
      "off on an address outside this machine, unless auth, tls.client: required or allow says who may come in";
    issues.push(valueIssue([...at, "management"], "on", allowed));
  }
  return issues;
}

function isLocked(door: PartialListenerAccess): boolean {
  return door.hasAuth || door.hasAllow || door.requiresCertificate;
}

function isLoopback(address: string): boolean {
  return address === "localhost" || address === "::1" || /^127\.\d+\.\d+\.\d+$/.test(address);
}

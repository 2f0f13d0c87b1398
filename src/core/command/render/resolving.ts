import { isIP } from "node:net";

/** Lets HAProxy start although a host name cannot be resolved: by default it would exit. */
export function resolving(hosts: readonly string[]): string {
  return hosts.some(isName) ? " init-addr last,libc,none" : "";
}

/** Whether a host is a name, not an IP address. */
export function isName(host: string): boolean {
  return isIP(host) === 0;
}

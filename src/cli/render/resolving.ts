/** Lets HAProxy start although a host name cannot be resolved: by default it would exit. */
export function resolving(hosts: readonly string[]): string {
  return hosts.some(isName) ? " init-addr last,libc,none" : "";
}

/** Whether a host is a name, not an IP address. */
export function isName(host: string): boolean {
  return !host.includes(":") && /[a-z]/i.test(host);
}

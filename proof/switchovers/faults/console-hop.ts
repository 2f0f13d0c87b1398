/**
 * A network between rolecall and the console of one PgBouncer that can be cut: packets are dropped in both directions,
 * so both ends see silence. A namespace forwards to another one, in which HAProxy leads to the console. Needs root.
 */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Child, insideNamespace } from "../../../test/real/lab/child.ts";
import { until } from "../../../test/fake/until.ts";
import { connect } from "node:net";

const [hub, end] = ["rolecall-hub", "rolecall-end"];
const [own, ownGateway, endGateway, endAddress] = ["10.213.1.2", "10.213.1.1", "10.213.2.1", "10.213.2.2"];
const port = 6432;
const rules = [
  ["to", endAddress, "ipproto", "tcp", "dport", String(port), "blackhole"],
  ["from", endAddress, "ipproto", "tcp", "sport", String(port), "blackhole"],
];

export class ConsoleHop {
  #forwarder: Child | undefined;
  #isCut = false;

  /** Where a PgBouncer has to listen, beside 127.0.0.1. */
  readonly ownAddress = own;
  /** The console as rolecall has to be told. */
  readonly address = `${endAddress}:${port}`;

  /** Makes the network. */
  constructor() {
    removeNetwork();
    process.on("exit", removeNetwork);
    for (const name of [hub, end]) {
      ip("netns", "add", name);
      ip("-n", name, "link", "set", "lo", "up");
    }
    const [command, ...args] = insideNamespace(hub, ["sysctl", "-q", "-w", "net.ipv4.ip_forward=1"]);
    execFileSync(command, args);
    ip("link", "add", "rolecall0", "type", "veth", "peer", "name", "near", "netns", hub);
    ip("-n", hub, "link", "add", "far", "type", "veth", "peer", "name", "eth0", "netns", end);
    ip("addr", "add", `${own}/24`, "dev", "rolecall0");
    ip("-n", hub, "addr", "add", `${ownGateway}/24`, "dev", "near");
    ip("-n", hub, "addr", "add", `${endGateway}/24`, "dev", "far");
    ip("-n", end, "addr", "add", `${endAddress}/24`, "dev", "eth0");
    ip("link", "set", "rolecall0", "up");
    for (const link of ["near", "far"]) ip("-n", hub, "link", "set", link, "up");
    ip("-n", end, "link", "set", "eth0", "up");
    ip("route", "add", "10.213.2.0/24", "via", ownGateway);
    ip("-n", end, "route", "add", "default", "via", endGateway);
  }

  /** Leads to a PgBouncer from now on. */
  async lead(target: number, folder: string): Promise<void> {
    const file = join(folder, "console-hop.cfg");
    writeFileSync(
      file,
      `defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
listen console
  bind ${endAddress}:${port}
  server console ${own}:${target}
`,
    );
    const command = ["/usr/sbin/haproxy", "-db", "-f", file] as const;
    const forwarder = new Child({ name: "console-hop", command, folder, namespace: end });
    this.#forwarder = forwarder;
    await until({ what: "the way to the console", evidence: () => forwarder.tail }, accepts);
  }

  cut(): void {
    if (this.#isCut) return;
    this.#isCut = true;
    for (const rule of rules) ip("-n", hub, "rule", "add", "pref", "1000", ...rule);
  }

  restore(): void {
    if (!this.#isCut) return;
    this.#isCut = false;
    for (const rule of rules) ip("-n", hub, "rule", "del", "pref", "1000", ...rule);
  }

  /** Ends the forwarder and removes the network. */
  async stop(): Promise<void> {
    await this.#forwarder?.stop("SIGTERM", 2);
    removeNetwork();
    process.off("exit", removeNetwork);
  }
}

function accepts(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, endAddress);
    socket.once("error", () => resolve(false)).once("connect", () => resolve(true));
    socket.once("connect", () => socket.destroy());
    socket.setTimeout(500, () => socket.destroy(new Error("late")));
  });
}

function removeNetwork(): void {
  const names = ip("netns", "list")
    .split("\n")
    .map((line) => line.split(" ")[0] ?? "");
  for (const name of [hub, end]) if (names.includes(name)) ip("netns", "del", name);
  try {
    ip("link", "del", "rolecall0");
  } catch {
    // It went with its namespace.
  }
}

function ip(...args: string[]): string {
  return execFileSync("ip", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

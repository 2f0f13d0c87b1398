/**
 * A network in which packets of the nodes are dropped: each node has a namespace of its own, and one more forwards between
 * them and the machine of the poolers, rolecall and etcd. Both ends of what is cut see silence. Needs root.
 *
 * Processes of root (rolecall, and the clients' own questions) send from an address of their own, those of user postgres
 * (PgBouncer, etcd) from another one: so the ways of rolecall alone can be cut.
 */
import { execFileSync } from "node:child_process";
import { connect, createServer, type Server } from "node:net";
import { insideNamespace } from "../../../test/real/lab/child.ts";
import type { NodePlace, PatroniNode } from "../../../test/real/lab/patroni.ts";
import { lane, ports } from "../../../test/real/lab/ports.ts";

/** Labs run side by side: each lane has names and addresses of its own. */
const [hub, mainLink, net] = [`rolecall-loss${lane}`, `loss${lane}`, `10.${214 + lane}`];
const [mainGateway, poolerAddress, rolecallAddress] = [`${net}.0.1`, `${net}.0.2`, `${net}.0.3`];
const all = `${net}.0.0/16`;
const numbers = [1, 2, 3] as const;
/** The table of routes of rolecall's own address. */
const table = String(214 + lane);
/** The rule comes before the main table of routes. */
const rolecallRule = ["pref", String(1214 + lane), "uidrange", "0-0", "to", all, "lookup", table];

/** Which ways are cut: to the node, from it, or both. */
export type CutWays = "to" | "from" | "both";

export class NodeNetwork {
  readonly #forwarders: Server[] = [];
  #cuts = 0;

  /** Where etcd and the poolers are for the nodes. */
  readonly host = poolerAddress;

  /** Makes the network. @throws Error if another one is in use */
  constructor() {
    removeNetwork();
    process.on("exit", removeNetwork);
    ip("netns", "add", hub);
    ip("-n", hub, "link", "set", "lo", "up");
    // A source whose way back is cut is a valid source.
    inHub("sysctl", "-q", "-w", "net.ipv4.ip_forward=1", "net.ipv4.conf.all.rp_filter=0");
    ip("link", "add", mainLink, "type", "veth", "peer", "name", "main", "netns", hub);
    for (const address of [poolerAddress, rolecallAddress]) ip("addr", "add", `${address}/24`, "dev", mainLink);
    ip("-n", hub, "addr", "add", `${mainGateway}/24`, "dev", "main");
    ip("link", "set", mainLink, "up");
    ip("-n", hub, "link", "set", "main", "up");
    ip("route", "add", all, "via", mainGateway, "src", poolerAddress);
    ip("route", "add", all, "via", mainGateway, "src", rolecallAddress, "table", table);
    ip("rule", "add", ...rolecallRule);
    for (const number of numbers) addNode(number);
  }

  /** Where a node runs. @param disk the folder of its data */
  placeOf(number: number, disk: string): NodePlace {
    return {
      namespace: namespaceOf(number),
      host: hostOf(number),
      clients: all,
      etcd: [`${this.host}:${ports.etcdClient}`],
      disk,
      settings: {},
      ports: { api: ports.api + number - 1, database: ports.database + number - 1 },
    };
  }

  /** Leads the ports of the nodes on 127.0.0.1 to them, for what the lab itself asks. */
  async forward(nodes: readonly PatroniNode[]): Promise<void> {
    for (const { host, apiPort, databasePort } of nodes)
      for (const port of [apiPort, databasePort]) this.#forwarders.push(await forwardTo(host, port));
  }

  /** Drops every packet of a node, to it and from it. What it returns ends that. */
  cutNode({ host }: PatroniNode): () => void {
    return this.#drop([
      ["from", host],
      ["to", host],
    ]);
  }

  /** Drops packets between rolecall and these nodes only. What it returns ends that. */
  cutRolecall(nodes: readonly PatroniNode[], ways: CutWays): () => void {
    return this.#drop(
      nodes.flatMap(({ host }) => [
        ...(ways === "from" ? [] : [["from", rolecallAddress, "to", host]]),
        ...(ways === "to" ? [] : [["from", host, "to", rolecallAddress]]),
      ]),
    );
  }

  /** Ends the forwarding and removes the network. */
  stop(): void {
    for (const server of this.#forwarders) server.close();
    removeNetwork();
    process.off("exit", removeNetwork);
  }

  #drop(selectors: readonly (readonly string[])[]): () => void {
    // Each cut has rules of its own, so that cuts may overlap.
    this.#cuts += 1;
    const preference = String(1000 + this.#cuts);
    for (const selector of selectors) ip("-n", hub, "rule", "add", "pref", preference, ...selector, "blackhole");
    return () => {
      for (const selector of selectors) ip("-n", hub, "rule", "del", "pref", preference, ...selector, "blackhole");
    };
  }
}

function addNode(number: number): void {
  const [namespace, link] = [namespaceOf(number), `node${number}`];
  ip("netns", "add", namespace);
  ip("-n", namespace, "link", "set", "lo", "up");
  ip("-n", hub, "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", namespace);
  ip("-n", hub, "addr", "add", `${gatewayOf(number)}/24`, "dev", link);
  ip("-n", hub, "link", "set", link, "up");
  ip("-n", namespace, "addr", "add", `${hostOf(number)}/24`, "dev", "eth0");
  ip("-n", namespace, "link", "set", "eth0", "up");
  ip("-n", namespace, "route", "add", "default", "via", gatewayOf(number));
}

function forwardTo(host: string, port: number): Promise<Server> {
  const server = createServer((socket) => {
    const upstream = connect(port, host);
    const end = (): void => {
      socket.destroy();
      upstream.destroy();
    };
    for (const one of [socket, upstream]) one.setNoDelay(true).on("error", end).on("close", end);
    socket.pipe(upstream);
    upstream.pipe(socket);
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve(server));
  });
}

const namespaceOf = (number: number): string => `${hub}-${number}`;
const hostOf = (number: number): string => `${net}.${number}.2`;
const gatewayOf = (number: number): string => `${net}.${number}.1`;

/** Also removes what a run left that was killed. @throws Error if a process uses it */
function removeNetwork(): void {
  const names = ip("netns", "list")
    .split("\n")
    .map((line) => line.split(" ")[0] ?? "")
    .filter((name) => name === hub || numbers.some((number) => name === namespaceOf(number)));
  for (const name of names) {
    const pids = ip("netns", "pids", name).trim();
    if (pids !== "") throw new Error(`Cannot make the network: ${name} must have no process, got ${pids}`);
  }
  for (const name of names) ip("netns", "del", name);
  tryIp("rule", "del", ...rolecallRule);
  tryIp("route", "flush", "table", table);
  tryIp("link", "del", mainLink);
}

function inHub(...argv: readonly [string, ...string[]]): void {
  const [command, ...args] = insideNamespace(hub, argv);
  execFileSync(command, args);
}

function tryIp(...args: string[]): void {
  try {
    ip(...args);
  } catch {
    // It is not there.
  }
}

function ip(...args: string[]): string {
  return execFileSync("ip", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

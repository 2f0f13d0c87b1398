/**
 * The network of the test: a namespace for each machine, linked by a veth pair with a hub, which forwards. Nothing but
 * namespaces is added to the host. A partition is a rule of the hub that drops what one machine sends to another, so
 * the sender sees silence, as with a real one.
 */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { insideNamespace } from "../../../test/real/lab/child.ts";
import { reapAtExit, signal } from "../../../test/real/lab/reaper.ts";
import { addressOf, gatewayOf, type MachineName, machineNames, namespaceOf, prefix } from "./addresses.ts";

const hub = namespaceOf("hub");
const delayProgram = fileURLToPath(new URL("../../../../proof/jepsen/machines/delay.py", import.meta.url));

let cuts = 0;

/** What is sent from one machine to another. */
export interface Way {
  readonly from: MachineName;
  readonly to: MachineName;
}

/** Makes the namespaces and links. */
export function makeNetwork(): void {
  ip("netns", "add", hub);
  setUp(hub);
  for (const machine of machineNames) {
    const [namespace, link] = [namespaceOf(machine), linkOf(machine)];
    ip("netns", "add", namespace);
    ip("-n", hub, "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", namespace);
    ip("-n", hub, "addr", "add", `${gatewayOf(machine)}/24`, "dev", link);
    ip("-n", hub, "link", "set", link, "up");
    ip("-n", namespace, "addr", "add", `${addressOf(machine)}/24`, "dev", "eth0");
    ip("-n", namespace, "link", "set", "eth0", "up");
    ip("-n", namespace, "link", "set", "lo", "up");
    ip("-n", namespace, "route", "add", "default", "via", gatewayOf(machine));
  }
}

/** Drops what is sent these ways. What it returns ends that. */
export function cut(ways: readonly Way[]): () => void {
  const rules = ways.map(({ from, to }) => ["from", addressOf(from), "to", addressOf(to), "blackhole"]);
  // Each cut has rules of its own, so that cuts may overlap. They come before those of delays.
  cuts += 1;
  const preference = String(1000 + cuts);
  for (const rule of rules) ip("-n", hub, "rule", "add", "pref", preference, ...rule);
  return () => {
    for (const rule of rules) ip("-n", hub, "rule", "del", "pref", preference, ...rule);
  };
}

/** Takes the link of a machine down. What it returns brings it up again. */
export function unplug(machine: MachineName): () => void {
  ip("-n", hub, "link", "set", linkOf(machine), "down");
  return () => ip("-n", hub, "link", "set", linkOf(machine), "up");
}

/**
 * Delays every packet that a machine sends, and every one to it.
 * @param delayMs for each direction
 */
export async function slow(machine: MachineName, delayMs: number): Promise<() => void> {
  const [device, table] = [`rcj${machine}`, String(200 + machineNames.indexOf(machine))];
  ip("-n", hub, "tuntap", "add", "dev", device, "mode", "tun");
  ip("-n", hub, "link", "set", device, "up");
  const [command, ...args] = insideNamespace(hub, ["/usr/bin/python3", delayProgram, device, String(delayMs)]);
  const delayer = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  reapAtExit(() => (delayer.pid === undefined || delayer.exitCode !== null ? [] : [delayer.pid]));
  await new Promise((resolve, reject) => {
    delayer.stdout.once("data", resolve);
    delayer.once("exit", () => reject(new Error("Cannot delay packets: the delayer ended")));
  });
  ip("-n", hub, "route", "add", "default", "dev", device, "table", table);
  // What the delayer wrote back is on its way, and is not delayed again.
  const rules = [
    ["pref", "30000", "iif", device, "lookup", "main"],
    ["pref", "30001", "from", addressOf(machine), "lookup", table],
    ["pref", "30001", "to", addressOf(machine), "lookup", table],
  ];
  for (const rule of rules) ip("-n", hub, "rule", "add", ...rule);
  return () => {
    for (const rule of rules) ip("-n", hub, "rule", "del", ...rule);
    delayer.stdin.end();
    delayer.removeAllListeners("exit");
    if (delayer.pid !== undefined) signal(delayer.pid, "SIGKILL");
    ip("-n", hub, "link", "del", device);
  };
}

/**
 * Removes every namespace, process and mount of a run, by their names: at the end of a run, and before the next one if
 * a run was killed. Synchronous, as it is also called while the process ends.
 * @returns what was removed, for a message
 */
export function removeLeftovers(): readonly string[] {
  const namespaces = ip("netns", "list")
    .split("\n")
    .map((line) => line.split(" ")[0] ?? "")
    .filter((name) => name.startsWith(`${prefix}-`));
  for (const name of namespaces)
    for (const pid of ip("netns", "pids", name).split("\n").filter(Boolean)) signal(Number(pid), "SIGKILL");
  for (const name of namespaces) ip("netns", "del", name);
  const mounts = readFileSync("/proc/mounts", "utf8")
    .split("\n")
    .filter((line) => line.startsWith(`${prefix} `))
    .map((line) => line.split(" ")[1] ?? "");
  for (const mount of mounts) execFileSync("umount", ["--lazy", mount]);
  return [...namespaces, ...mounts];
}

/** What this machine lacks for the test; empty if nothing. */
export function missing(): readonly string[] {
  const isRoot = process.getuid?.() === 0;
  const programs = ["ip", "nsenter", "setpriv", "etcd", "patroni", "haproxy", "curl", "fallocate"];
  const folders = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
  const isFound = (program: string): boolean => folders.some((folder) => existsSync(`${folder}/${program}`));
  return [
    ...(isRoot ? [] : ["root"]),
    ...programs.filter((program) => !isFound(program)).map((program) => `the program ${program}`),
    ...(existsSync("/usr/lib/postgresql/15/bin/postgres") ? [] : ["PostgreSQL 15"]),
    ...(existsSync("/dev/net/tun") ? [] : ["/dev/net/tun"]),
    ...(isRoot && isFound("ip") && !canMakeNamespaces() ? ["network namespaces"] : []),
  ];
}

function canMakeNamespaces(): boolean {
  try {
    ip("netns", "add", `${prefix}-try`);
    ip("netns", "del", `${prefix}-try`);
    return true;
  } catch {
    return false;
  }
}

function setUp(namespace: string): void {
  // A source whose way back is cut is a valid source.
  const settings = ["net.ipv4.ip_forward=1", "net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.default.rp_filter=0"];
  const [command, ...args] = insideNamespace(namespace, ["sysctl", "-q", "-w", ...settings]);
  execFileSync(command, args);
  ip("-n", namespace, "link", "set", "lo", "up");
}

function linkOf(machine: MachineName): string {
  return `${prefix}-${machine}`;
}

function ip(...args: string[]): string {
  return execFileSync("ip", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

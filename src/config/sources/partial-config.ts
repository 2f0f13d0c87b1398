import type * as z from "zod";
import type { ProbeConfig, SimulatorConfig } from "../model/config.ts";
import { isMapping } from "../model/issue.ts";
import { apiAddress, exporterAddress, integer, listenAddress, name } from "../schema/value-schemas.ts";
import { probeSchema, simulatorSchema } from "../schema/schema.ts";

/**
 * What can be read of a configuration that may have problems, so that values are checked against each other even
 * while some of them are wrong. `undefined` is a value that is left out or cannot be read.
 */
export interface PartialConfig {
  readonly clusters: readonly PartialCluster[];
  readonly listen: readonly PartialListener[];
  readonly probe: PartialProbe;
  readonly simulator: SimulatorConfig | undefined;
}

export interface PartialCluster {
  readonly name: string | undefined;
  readonly hasDiscover: boolean;
  readonly nodes: readonly PartialNode[];
  readonly hasCert: boolean;
  readonly hasKey: boolean;
}

export interface PartialNode {
  readonly name: string | undefined;
  readonly api: string | undefined;
  readonly exporter: string | undefined;
  /** Whether it says where it can be asked, readable or not. */
  readonly hasAddress: boolean;
}

export interface PartialListener {
  readonly address: string | undefined;
  readonly port: number | undefined;
  readonly hasPort: boolean;
  readonly dialect: "node" | "admin" | "exporter";
  /** As written: `null` where left out, `undefined` where it cannot be read. */
  readonly cluster: string | null | undefined;
  readonly node: string | null | undefined;
  readonly wholeCluster: boolean;
  /** As written; `undefined` where left out. */
  readonly operatorPages: unknown;
  readonly door: PartialListenerAccess;
}

/** What is said of a listener's door, whether it can be read or not. */
export interface PartialListenerAccess {
  readonly hasManagement: boolean;
  readonly hasAuth: boolean;
  readonly hasAllow: boolean;
  readonly wantsCertificate: boolean;
  readonly asksForCertificate: boolean;
  readonly requiresCertificate: boolean;
}

export interface PartialProbe {
  /** With the default in the place of each value that cannot be read. */
  readonly values: ProbeConfig;
  /** The keys that are said. */
  readonly said: ReadonlySet<string>;
  /** The keys whose value cannot be read. */
  readonly broken: ReadonlySet<string>;
}

const nameLeaf = name();
const apiLeaf = apiAddress();
const exporterLeaf = exporterAddress();
const addressLeaf = listenAddress().prefault("127.0.0.1");
const portLeaf = integer(0, 65_535);
const probeSection = probeSchema();
const simulatorSection = simulatorSchema();

/** Reads what can be read of the merged configuration. Never throws. */
export function readPartialConfig(value: unknown): PartialConfig {
  const top = fieldsOf(value);
  return {
    clusters: elementsOf(top["clusters"]).map(draftCluster),
    listen: elementsOf(top["listen"]).map(draftListener),
    probe: draftProbe(fieldsOf(top["probe"])),
    simulator: readLeaf(simulatorSection, top["simulator"]),
  };
}

function draftCluster(value: unknown): PartialCluster {
  const said = fieldsOf(value);
  const tls = fieldsOf(said["tls"]);
  const nodes = elementsOf(said["nodes"]).map(draftNode);
  return {
    name: readLeaf(nameLeaf, said["name"]),
    // A value that is no list, or a cluster that is no mapping, is a problem of its own: nobody forgot to say it.
    hasDiscover:
      !isMapping(value) || (Array.isArray(said["discover"]) ? said["discover"].length > 0 : isSaid(said["discover"])),
    nodes: isSaid(said["nodes"]) && !Array.isArray(said["nodes"]) ? [unreadableNode] : nodes,
    hasCert: isSaid(tls["cert"]),
    hasKey: isSaid(tls["key"]),
  };
}

const unreadableNode: PartialNode = { name: undefined, api: undefined, exporter: undefined, hasAddress: true };

function draftNode(value: unknown): PartialNode {
  const said = fieldsOf(value);
  return {
    name: readLeaf(nameLeaf, said["name"]),
    api: readLeaf(apiLeaf, said["api"]),
    exporter: readLeaf(exporterLeaf, said["exporter"]),
    hasAddress: !isMapping(value) || isSaid(said["api"]) || isSaid(said["exporter"]),
  };
}

function draftListener(value: unknown): PartialListener {
  const said = fieldsOf(value);
  return {
    address: readLeaf(addressLeaf, said["address"]),
    port: readLeaf(portLeaf, said["port"]),
    hasPort: isSaid(said["port"]) || !isMapping(value),
    dialect: said["dialect"] === "admin" || said["dialect"] === "exporter" ? said["dialect"] : "node",
    cluster: said["cluster"] === "*" ? "*" : isSaid(said["cluster"]) ? readLeaf(nameLeaf, said["cluster"]) : null,
    node: isSaid(said["node"]) ? readLeaf(nameLeaf, said["node"]) : null,
    wholeCluster: said["whole_cluster"] === true,
    operatorPages: said["operator_pages"],
    door: draftDoor(said),
  };
}

function draftDoor(said: Readonly<Record<string, unknown>>): PartialListenerAccess {
  const { client } = fieldsOf(said["tls"]);
  return {
    hasManagement: said["management"] === true || said["management"] === "on",
    hasAuth: isSaid(said["auth"]),
    hasAllow: isSaid(said["allow"]),
    wantsCertificate: fieldsOf(said["auth"])["certificate"] === true,
    asksForCertificate: isSaid(client) && client !== "off",
    requiresCertificate: client === "required",
  };
}

function draftProbe(said: Readonly<Record<string, unknown>>): PartialProbe {
  const issues = probeSection.safeParse(said).error?.issues ?? [];
  const broken = new Set(
    issues.flatMap((issue) => (issue.code === "unrecognized_keys" ? issue.keys : issue.path.map(String))),
  );
  const readable = Object.fromEntries(Object.entries(said).filter(([key]) => !broken.has(key)));
  return { values: probeSection.parse(readable), said: new Set(Object.keys(said)), broken };
}

function readLeaf<T>(schema: z.ZodType<T>, value: unknown): T | undefined {
  const read = schema.safeParse(value);
  return read.success ? read.data : undefined;
}

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isMapping(value) ? value : {};
}

function elementsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, 1000) : [];
}

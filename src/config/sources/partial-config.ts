import type { ListenerConfig, ProbeConfig } from "../model/config.ts";
import type { SimulatorConfig } from "../model/simulator-config.ts";
import { isMapping } from "../model/issue.ts";
import { elementsOf, fieldsOf, isPresent, readValue } from "./written-values.ts";
import { partialBalancer, type PartialBalancer } from "./partial-balancers.ts";
import { checkDefaults } from "../schema/check-defaults.ts";
import { apiAddress, exporterAddress, integer, listenAddress, name } from "../schema/value-schemas.ts";
import { ignoreParamsSchema, probeSchema, simulatorSchema } from "../schema/schema.ts";

/**
 * The readable parts of a configuration that may have errors, so that values are checked against each other although
 * some of them are invalid. `undefined` is a value that is missing or invalid.
 *
 * This module would not be needed if cross-checks waited until the configuration has no invalid values: then they could
 * run on the parsed configuration. Then a user would see clashing names, ports and durations only after fixing
 * everything else: one misspelt key would hide all of them. rolecall promises every error at once.
 */
export interface PartialConfig {
  readonly clusters: readonly PartialCluster[];
  readonly listen: readonly PartialListener[];
  readonly probe: PartialProbe;
  readonly simulator: SimulatorConfig | undefined;
  readonly balancers: readonly PartialBalancer[];
  readonly ignoreParams: readonly string[];
}

/** Which keys of a client certificate are present. */
export interface CertificateKeys {
  readonly hasCert: boolean;
  readonly hasKey: boolean;
}

export interface PartialCluster extends CertificateKeys {
  readonly name: string | undefined;
  /** `null` if missing, `undefined` if invalid. */
  readonly source: string | null | undefined;
  readonly hasDiscover: boolean;
  readonly nodes: readonly PartialNode[];
  /** The client certificate for the DCS. */
  readonly dcs: CertificateKeys;
}

export interface PartialNode {
  readonly name: string | undefined;
  readonly api: string | undefined;
  readonly exporter: string | undefined;
  /** Whether it has an address, valid or not. */
  readonly hasAddress: boolean;
}

export interface PartialListener {
  readonly address: string | undefined;
  readonly port: number | undefined;
  readonly hasPort: boolean;
  readonly dialect: ListenerConfig["dialect"];
  /** `null` if missing, `undefined` if invalid. */
  readonly cluster: string | null | undefined;
  /** `null` if missing, `undefined` if invalid. */
  readonly node: string | null | undefined;
  readonly wholeCluster: boolean;
  /** As written; `undefined` if missing. */
  readonly operatorPages: unknown;
  readonly access: PartialListenerAccess;
  /** The keys that only one dialect has, as far as they are present, as written. */
  readonly dialectKeys: ReadonlyMap<string, unknown>;
  /** Default parameters of checks, as a query; empty if missing or invalid. */
  readonly defaults: string;
}

/** Whether management is on, and which parts of a listener's access control are configured, valid or not. */
export interface PartialListenerAccess {
  readonly isManagementOn: boolean;
  /** As written; `undefined` if missing. */
  readonly readOnly: unknown;
  readonly hasAuth: boolean;
  readonly hasHintTokens: boolean;
  readonly hasAllow: boolean;
  readonly authUsesCertificate: boolean;
  readonly tlsRequestsClientCertificate: boolean;
  readonly tlsRequiresClientCertificate: boolean;
}

export interface PartialProbe {
  /** With the default in place of each invalid or missing value. */
  readonly values: ProbeConfig;
  /** The keys that are present. */
  readonly present: ReadonlySet<string>;
  /** The keys whose value is invalid. */
  readonly invalid: ReadonlySet<string>;
}

const nameSchema = name();
const apiSchema = apiAddress();
const exporterSchema = exporterAddress();
const addressSchema = listenAddress().prefault("127.0.0.1");
const portSchema = integer(0, 65_535);
const defaultsSchema = checkDefaults();
const probeSection = probeSchema();
const ignoreParamsList = ignoreParamsSchema();
const simulatorSection = simulatorSchema();

/** Reads the valid parts of the merged configuration. Never throws. */
export function readPartialConfig(value: unknown): PartialConfig {
  const top = fieldsOf(value);
  return {
    clusters: elementsOf(top["clusters"]).map(partialCluster),
    listen: elementsOf(top["listen"]).map(partialListener),
    probe: partialProbe(fieldsOf(top["probe"])),
    simulator: readValue(simulatorSection, top["simulator"]),
    balancers: elementsOf(top["balancers"]).map(partialBalancer),
    ignoreParams: readValue(ignoreParamsList, top["ignore_params"]) ?? [],
  };
}

function partialCluster(value: unknown): PartialCluster {
  const written = fieldsOf(value);
  const tls = fieldsOf(written["tls"]);
  const nodes = elementsOf(written["nodes"]).map(partialNode);
  return {
    name: readValue(nameSchema, written["name"]),
    source: isPresent(written["source"]) ? readValue(nameSchema, written["source"]) : null,
    // If `discover` is no list, or the cluster is no mapping, the schema reports that. So it counts as present here.
    hasDiscover:
      !isMapping(value) ||
      (Array.isArray(written["discover"]) ? written["discover"].length > 0 : isPresent(written["discover"])),
    nodes: isPresent(written["nodes"]) && !Array.isArray(written["nodes"]) ? [invalidNode] : nodes,
    ...certificateKeys(tls),
    dcs: certificateKeys(fieldsOf(fieldsOf(written["dcs"])["tls"])),
  };
}

function certificateKeys(tls: ReturnType<typeof fieldsOf>): CertificateKeys {
  return { hasCert: isPresent(tls["cert"]), hasKey: isPresent(tls["key"]) };
}

const invalidNode: PartialNode = { name: undefined, api: undefined, exporter: undefined, hasAddress: true };

function partialNode(value: unknown): PartialNode {
  const written = fieldsOf(value);
  return {
    name: readValue(nameSchema, written["name"]),
    api: readValue(apiSchema, written["api"]),
    exporter: readValue(exporterSchema, written["exporter"]),
    hasAddress: !isMapping(value) || isPresent(written["api"]) || isPresent(written["exporter"]),
  };
}

function partialListener(value: unknown): PartialListener {
  const written = fieldsOf(value);
  return {
    address: readValue(addressSchema, written["address"]),
    port: readValue(portSchema, written["port"]),
    hasPort: isPresent(written["port"]) || !isMapping(value),
    dialect: dialectOf(written["dialect"]),
    cluster:
      written["cluster"] === "*"
        ? "*"
        : isPresent(written["cluster"])
          ? readValue(nameSchema, written["cluster"])
          : null,
    node: isPresent(written["node"]) ? readValue(nameSchema, written["node"]) : null,
    wholeCluster: written["whole_cluster"] === true,
    operatorPages: written["operator_pages"],
    access: partialAccess(written),
    dialectKeys: new Map(Object.entries(written).filter(([key, found]) => dialectKeys.has(key) && isPresent(found))),
    defaults: isPresent(written["defaults"]) ? (readValue(defaultsSchema, written["defaults"]) ?? "") : "",
  };
}

/** The keys of agent listeners, and those that they do not have. */
const dialectKeys: ReadonlySet<string> = new Set([
  "check",
  "weight",
  "drain_by",
  "management",
  "read_only",
  "tls",
  "auth",
  "proxy_protocol",
  "trusted_origins",
]);

function dialectOf(written: unknown): PartialListener["dialect"] {
  return written === "admin" || written === "exporter" || written === "agent" ? written : "node";
}

function partialAccess(written: Readonly<Record<string, unknown>>): PartialListenerAccess {
  const { client } = fieldsOf(written["tls"]);
  return {
    isManagementOn: written["management"] === true || written["management"] === "on",
    readOnly: written["read_only"] ?? undefined,
    hasAuth: isPresent(written["auth"]),
    hasHintTokens: isPresent(written["hint_tokens"]),
    hasAllow: isPresent(written["allow"]),
    authUsesCertificate: fieldsOf(written["auth"])["certificate"] === true,
    tlsRequestsClientCertificate: isPresent(client) && client !== "off",
    tlsRequiresClientCertificate: client === "required",
  };
}

function partialProbe(written: Readonly<Record<string, unknown>>): PartialProbe {
  const issues = probeSection.safeParse(written).error?.issues ?? [];
  const invalid = new Set(
    issues.flatMap((issue) => (issue.code === "unrecognized_keys" ? issue.keys : issue.path.map(String))),
  );
  const valid = Object.fromEntries(Object.entries(written).filter(([key]) => !invalid.has(key)));
  return { values: probeSection.parse(valid), present: new Set(Object.keys(written)), invalid };
}

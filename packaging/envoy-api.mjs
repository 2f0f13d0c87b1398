/**
 * Takes the messages that an xDS server needs, and of these the fields that it reads or writes, from Envoy's definitions
 * in the package @grpc/grpc-js-xds: `node packaging/envoy-api.mjs FILE` writes them as a module. A decoder skips fields
 * that it does not know, so nothing that a client sends is read in vain.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import protobuf from "protobufjs";

const definitions = resolve("node_modules/@grpc/grpc-js-xds/deps");
const roots = [
  ...["envoy-api", "googleapis", "protoc-gen-validate", "xds"].map((name) => join(definitions, name)),
  resolve("node_modules/protobufjs"),
];
/** Names of packages. */
const discovery = "envoy.service.discovery.v3";
const core = "envoy.config.core.v3";
const endpoint = "envoy.config.endpoint.v3";

/** What is taken of each message. */
const fields = {
  [`${discovery}.DiscoveryRequest`]: [
    "version_info",
    "node",
    "resource_names",
    "type_url",
    "response_nonce",
    "error_detail",
  ],
  [`${discovery}.DiscoveryResponse`]: ["version_info", "resources", "type_url", "nonce", "control_plane"],
  [`${discovery}.DeltaDiscoveryRequest`]: [
    "node",
    "type_url",
    "resource_names_subscribe",
    "resource_names_unsubscribe",
    "initial_resource_versions",
    "response_nonce",
    "error_detail",
  ],
  [`${discovery}.DeltaDiscoveryResponse`]: ["system_version_info", "resources", "type_url", "nonce", "control_plane"],
  [`${discovery}.Resource`]: ["name", "version", "resource"],
  [`${core}.Node`]: ["id", "cluster", "locality", "user_agent_name", "user_agent_build_version"],
  [`${core}.BuildVersion`]: ["version"],
  "envoy.type.v3.SemanticVersion": ["major_number", "minor_number", "patch"],
  [`${core}.Locality`]: ["zone"],
  [`${core}.ControlPlane`]: ["identifier"],
  [`${core}.Address`]: ["socket_address"],
  [`${core}.SocketAddress`]: ["address", "port_value"],
  "google.rpc.Status": ["code", "message"],
  "google.protobuf.Any": ["type_url", "value"],
  "google.protobuf.UInt32Value": ["value"],
  "google.protobuf.Duration": ["seconds", "nanos"],
  [`${endpoint}.ClusterLoadAssignment`]: ["cluster_name", "endpoints", "policy"],
  [`${endpoint}.ClusterLoadAssignment.Policy`]: ["overprovisioning_factor", "endpoint_stale_after"],
  [`${endpoint}.LocalityLbEndpoints`]: ["locality", "lb_endpoints", "priority"],
  [`${endpoint}.LbEndpoint`]: ["endpoint", "health_status", "load_balancing_weight"],
  [`${endpoint}.Endpoint`]: ["address", "health_check_config", "hostname"],
  [`${endpoint}.Endpoint.HealthCheckConfig`]: ["hostname", "address"],
};
const enums = [`${core}.HealthStatus`];

/** Returns the definitions in the form that protobufjs loads. */
export function envoyApi() {
  const root = new protobuf.Root();
  root.resolvePath = (_, target) =>
    roots.map((folder) => join(folder, target)).find((file) => existsSync(file)) ?? target;
  const files = ["service/discovery/v3/discovery", "config/endpoint/v3/endpoint"].map((name) => `envoy/${name}.proto`);
  root.loadSync(files, { keepCase: true }).resolveAll();
  const taken = new protobuf.Root();
  for (const [name, names] of Object.entries(fields)) put(taken, name, partOf(root.lookupType(name), names));
  for (const name of enums) put(taken, name, { values: root.lookupEnum(name).values });
  // Loading checks that every type of a field is among what was taken.
  return protobuf.Root.fromJSON(taken.toJSON()).resolveAll() && taken.toJSON();
}

function partOf(type, names) {
  const rows = names.map((name) => {
    const { id, repeated, map, keyType, resolvedType, type: scalar } = type.fields[name];
    const of = resolvedType === null ? scalar : resolvedType.fullName.slice(1);
    return [name, { ...(map ? { keyType } : {}), ...(repeated ? { rule: "repeated" } : {}), type: of, id }];
  });
  return { fields: Object.fromEntries(rows) };
}

function put(root, fullName, json) {
  const path = fullName.split(".");
  const name = path.pop();
  const parent = root.lookup(path.join("."), [protobuf.Type]) ?? root.define(path);
  parent.add("values" in json ? protobuf.Enum.fromJSON(name, json) : protobuf.Type.fromJSON(name, json));
}

/** The module, as it is committed. */
export function envoyApiModule() {
  return `/** What the xDS server needs of Envoy's API. packaging/envoy-api.mjs takes it from Envoy's definitions. */
// prettier-ignore
export const envoyApi: { readonly nested: Record<string, object> } = ${JSON.stringify(envoyApi())};
`;
}

const [, script = "", file] = process.argv;
if (import.meta.url === pathToFileURL(script).href && file !== undefined) writeFileSync(file, envoyApiModule());

import { isMapping } from "../model/issue.js";
import { elementsOf, fieldsOf, isPresent, readValue } from "./written-values.js";
import { partialBalancer } from "./partial-balancers.js";
import { apiAddress, exporterAddress, integer, listenAddress, name } from "../schema/value-schemas.js";
import { ignoreParamsSchema, probeSchema, simulatorSchema } from "../schema/schema.js";
const nameSchema = name();
const apiSchema = apiAddress();
const exporterSchema = exporterAddress();
const addressSchema = listenAddress().prefault("127.0.0.1");
const portSchema = integer(0, 65_535);
const probeSection = probeSchema();
const ignoreParamsList = ignoreParamsSchema();
const simulatorSection = simulatorSchema();
/** Reads the valid parts of the merged configuration. Never throws. */
export function readPartialConfig(value) {
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
function partialCluster(value) {
    const written = fieldsOf(value);
    const tls = fieldsOf(written["tls"]);
    const nodes = elementsOf(written["nodes"]).map(partialNode);
    return {
        name: readValue(nameSchema, written["name"]),
        // If `discover` is no list, or the cluster is no mapping, the schema reports that. So it counts as present here.
        hasDiscover: !isMapping(value) ||
            (Array.isArray(written["discover"]) ? written["discover"].length > 0 : isPresent(written["discover"])),
        nodes: isPresent(written["nodes"]) && !Array.isArray(written["nodes"]) ? [invalidNode] : nodes,
        ...certificateKeys(tls),
        dcs: certificateKeys(fieldsOf(fieldsOf(written["dcs"])["tls"])),
    };
}
function certificateKeys(tls) {
    return { hasCert: isPresent(tls["cert"]), hasKey: isPresent(tls["key"]) };
}
const invalidNode = { name: undefined, api: undefined, exporter: undefined, hasAddress: true };
function partialNode(value) {
    const written = fieldsOf(value);
    return {
        name: readValue(nameSchema, written["name"]),
        api: readValue(apiSchema, written["api"]),
        exporter: readValue(exporterSchema, written["exporter"]),
        hasAddress: !isMapping(value) || isPresent(written["api"]) || isPresent(written["exporter"]),
    };
}
function partialListener(value) {
    const written = fieldsOf(value);
    return {
        address: readValue(addressSchema, written["address"]),
        port: readValue(portSchema, written["port"]),
        hasPort: isPresent(written["port"]) || !isMapping(value),
        dialect: dialectOf(written["dialect"]),
        cluster: written["cluster"] === "*"
            ? "*"
            : isPresent(written["cluster"])
                ? readValue(nameSchema, written["cluster"])
                : null,
        node: isPresent(written["node"]) ? readValue(nameSchema, written["node"]) : null,
        wholeCluster: written["whole_cluster"] === true,
        operatorPages: written["operator_pages"],
        access: partialAccess(written),
        dialectKeys: new Map(Object.entries(written).filter(([key, found]) => dialectKeys.has(key) && isPresent(found))),
    };
}
/** The keys of agent listeners, and those that they do not have. */
const dialectKeys = new Set([
    "check",
    "weight",
    "drain_by",
    "management",
    "read_only",
    "tls",
    "auth",
    "trusted_origins",
]);
function dialectOf(written) {
    return written === "admin" || written === "exporter" || written === "agent" ? written : "node";
}
function partialAccess(written) {
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
function partialProbe(written) {
    const issues = probeSection.safeParse(written).error?.issues ?? [];
    const invalid = new Set(issues.flatMap((issue) => (issue.code === "unrecognized_keys" ? issue.keys : issue.path.map(String))));
    const valid = Object.fromEntries(Object.entries(written).filter(([key]) => !invalid.has(key)));
    return { values: probeSection.parse(valid), present: new Set(Object.keys(written)), invalid };
}
//# sourceMappingURL=partial-config.js.map
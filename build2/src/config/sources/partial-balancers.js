import { name } from "../schema/value-schemas.js";
import { elementsOf, fieldsOf, isPresent, readValue, textOf } from "./written-values.js";
const nameSchema = name();
/** Reads the parts of a balancer that are valid. */
export function partialBalancer(value) {
    const written = fieldsOf(value);
    const haproxy = fieldsOf(written["haproxy"]);
    return {
        name: written["name"] ?? undefined,
        socket: haproxy["socket"],
        backends: elementsOf(haproxy["backends"]).map(partialBackend),
    };
}
function partialBackend(value) {
    const { name: backend, cluster, check, servers } = fieldsOf(value);
    return {
        name: textOf(backend),
        cluster: isPresent(cluster) ? readValue(nameSchema, cluster) : null,
        check: textOf(check),
        servers: Object.entries(fieldsOf(servers)).flatMap(([server, node]) => typeof node === "string" ? [[server, node]] : []),
    };
}
//# sourceMappingURL=partial-balancers.js.map
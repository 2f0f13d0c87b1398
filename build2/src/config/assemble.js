import { resolve } from "node:path";
import { mergeGuards } from "./schema/cluster-schema.js";
import { unrestrictedAccess } from "./model/listener-access-config.js";
import { formatRuntimeAddress } from "./values/address.js";
import { parseCheckText } from "./values/check-text.js";
const healthListener = {
    address: "127.0.0.1",
    port: 8008,
    dialect: "node",
    cluster: null,
    node: null,
    wholeCluster: false,
    operatorPages: false,
    access: unrestrictedAccess,
    defaults: "",
    agent: null,
};
/** Health checks, and a listener for operators. */
const defaultListeners = [
    healthListener,
    { ...healthListener, port: 9108, dialect: "admin" },
];
/**
 * Completes a checked configuration: fills in scopes, guards, listeners and absolute paths. The result is deeply
 * frozen.
 */
export function assembleConfig(shape, origin) {
    const { guards: guardsShape, clusters, listen, balancers, simulator, history, ...complete } = shape;
    const stateFile = shape.stateFile === null ? null : resolve(origin.stateFolder, shape.stateFile);
    const guards = mergeGuards(guardsShape);
    const onlyClusterName = clusters.length === 1 ? (clusters[0]?.name ?? null) : null;
    const config = {
        ...complete,
        clusters: clusters.map((cluster) => buildCluster(cluster, guards, origin)),
        listen: (listen ?? defaultListeners).map((listener) => buildListener(listener, onlyClusterName, origin)),
        balancers: balancers.map((balancer) => buildBalancer(balancer, onlyClusterName, shape)),
        stateFile,
        history: buildHistory(history, stateFile, origin),
    };
    return freeze({ config, simulator });
}
function buildHistory({ isEnabled, directory, sizeMax, ageMaxMs }, stateFile, { historyFolder }) {
    const besideState = stateFile === null ? null : `${stateFile}.history`;
    const place = directory === null ? besideState : resolve(historyFolder, directory);
    return isEnabled && place !== null ? { directory: place, sizeMax, ageMaxMs } : null;
}
function buildCluster(shape, guards, { folder, learnsScope }) {
    const { name, tls, auth, dcs } = shape;
    return {
        ...shape,
        scope: shape.scope ?? (learnsScope ? null : name),
        ...accessIn(folder, { tls, auth }),
        dcs: dcs === null ? null : { ...dcs, ...accessIn(folder, dcs) },
        guards: mergeGuards(shape.guards, guards),
    };
}
/** The TLS files and the password file with absolute paths. */
function accessIn(folder, { tls, auth }) {
    const absolute = (file) => (file === null ? null : resolve(folder, file));
    return {
        tls: tls === null ? null : { ...tls, ca: absolute(tls.ca), cert: absolute(tls.cert), key: absolute(tls.key) },
        auth: auth === null ? null : { ...auth, passwordFile: resolve(folder, auth.passwordFile) },
    };
}
function buildListener(shape, only, { folder }) {
    const listener = { ...shape, access: buildAccess(shape.access, folder) };
    if (listener.cluster === "*")
        return { ...listener, cluster: null };
    return listener.dialect === "admin" ? listener : { ...listener, cluster: listener.cluster ?? only };
}
function buildBalancer({ name, haproxy }, only, shape) {
    const rules = { ignoreParams: shape.ignoreParams, intervalMs: shape.probe.intervalMs };
    const buildBackend = ({ cluster, check, ...backend }) => {
        const parsed = parseCheckText(check, rules);
        const named = cluster ?? only;
        // checkBalancers has refused both.
        return parsed.ok && named !== null ? [{ ...backend, cluster: named, check: parsed.check }] : [];
    };
    return {
        name: name ?? formatRuntimeAddress(haproxy.socket),
        haproxy: { ...haproxy, backends: haproxy.backends.flatMap(buildBackend) },
    };
}
function buildAccess(access, folder) {
    const { tls, auth } = access;
    return {
        ...access,
        tls: tls === null
            ? null
            : {
                ...tls,
                cert: resolve(folder, tls.cert),
                key: resolve(folder, tls.key),
                ca: tls.ca === null ? null : resolve(folder, tls.ca),
            },
        auth: auth === null ? null : { ...auth, bearer: auth.bearer.map((file) => resolve(folder, file)) },
        hintTokens: access.hintTokens.map((file) => resolve(folder, file)),
    };
}
function freeze(value) {
    if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
        Object.freeze(value);
        for (const inner of Object.values(value))
            freeze(inner);
    }
    return value;
}
//# sourceMappingURL=assemble.js.map
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { unrestrictedAccess } from "../../src/config/model/listener-access-config.js";
import { FastPathControl } from "../../src/http/fast-path/fast-path-control.js";
import { Listener } from "../../src/http/listener/listener.js";
import { NodeApi } from "../../src/http/node-api/node-api.js";
import { exchange } from "./raw-client.js";
import { storeFixture } from "./store-fixture.js";
const events = {
    onError: (error) => {
        throw error;
    },
    onRejected: () => { },
    onFiles: () => { },
};
export async function openTwoPaths(access = unrestrictedAccess) {
    const cluster = storeFixture();
    const { idleTimeoutMs } = access.limits;
    const cache = new NodeApi(cluster.routingContext, cluster.apiContext()).cached(idleTimeoutMs);
    const offReasons = [];
    const control = new FastPathControl({ mode: () => "force", onOff: (reason) => offReasons.push(reason) });
    const handlerWith = (parts) => {
        const api = new NodeApi(cluster.routingContext, cluster.apiContext());
        return Object.assign((request) => api.handle(request), parts);
    };
    const [fast, ordinary] = [
        new Listener(handlerWith({ cached: cache }), access, events),
        new Listener(handlerWith({}), access, events),
    ];
    const target = { address: "127.0.0.1", port: 0 };
    const [fastPort, ordinaryPort] = [await fast.open(target), await ordinary.open(target)];
    await fast.startFastPath(control);
    return {
        cluster,
        cache,
        fastPort,
        ordinaryPort,
        counts: () => control.monitor.counts,
        offReasons,
        close: async () => void (await Promise.all([fast.close(0), ordinary.close(0)])),
    };
}
/** Fails unless both listeners write the same bytes for `pieces` and leave the connection in the same state. */
export async function assertAlike({ fastPort, ordinaryPort }, pieces) {
    const bytes = pieces.map((piece) => Buffer.from(piece, "latin1"));
    const [fast, ordinary] = await Promise.all([exchange(fastPort, bytes), exchange(ordinaryPort, bytes)]);
    if (!isDeepStrictEqual(fast, ordinary) && !isCutShort(pieces, fast, ordinary))
        assert.deepEqual(fast, ordinary);
}
/**
 * The one known difference: if invalid bytes follow a whole request in one packet, node:http ends the connection on
 * both paths, but its bare 400, and answers before it that were not sent yet, may be missing on one of them. No answer
 * differs, and no request that comes alone is concerned.
 */
function isCutShort(pieces, fast, ordinary) {
    const text = pieces.join("");
    const isAlone = text.indexOf("\r\n\r\n") + 4 >= text.length;
    if (isAlone || fast.fate !== "closed" || ordinary.fate !== "closed")
        return false;
    const [one, other] = [fast.bytes.replace(bareRefusal, ""), ordinary.bytes.replace(bareRefusal, "")];
    return one.startsWith(other) || other.startsWith(one);
}
const bareRefusal = /HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n\r\n$/;
//# sourceMappingURL=two-paths.js.map
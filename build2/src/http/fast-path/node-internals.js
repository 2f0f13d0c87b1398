const handleMethods = ["readStart", "readStop", "writeBuffer", "useUserBuffer", "setNoDelay", "getpeername", "close"];
const stateIndexes = ["kReadBytesOrError", "kArrayBufferOffset", "kLastWriteWasAsync"];
/** @returns the internals, or in `problem` what this Node lacks of them */
export function findNodeInternals() {
    if (process.platform === "win32")
        return { problem: "handles of TCP connections differ on Windows" };
    if (!hasBinding(process))
        return { problem: "process.binding does not exist" };
    try {
        const stream = process.binding("stream_wrap");
        if (!isStreamBinding(stream))
            return { problem: "process.binding('stream_wrap') is not as expected" };
        if (!isTcpBinding(process.binding("tcp_wrap")))
            return { problem: "process.binding('tcp_wrap') is not as expected" };
        return stream;
    }
    catch (error) {
        return { problem: `process.binding throws: ${String(error)}` };
    }
}
/** The handle under a server or a socket; `undefined` before it has one and after it was closed. */
export function handleUnder(owner) {
    // oxlint-disable-next-line no-underscore-dangle -- Node's name
    return "_handle" in owner ? (owner._handle ?? undefined) : undefined;
}
function hasBinding(value) {
    return "binding" in value && typeof value.binding === "function";
}
function isStreamBinding(value) {
    if (!isObject(value) || !("WriteWrap" in value) || !("streamBaseState" in value))
        return false;
    if (typeof value.WriteWrap !== "function" || !(value.streamBaseState instanceof Int32Array))
        return false;
    return stateIndexes.every((name) => typeof Reflect.get(value, name) === "number");
}
function isTcpBinding(value) {
    if (!isObject(value) || !("TCP" in value) || typeof value.TCP !== "function")
        return false;
    const methods = value.TCP.prototype;
    return isObject(methods) && handleMethods.every((name) => typeof Reflect.get(methods, name) === "function");
}
function isObject(value) {
    return typeof value === "object" && value !== null;
}
//# sourceMappingURL=node-internals.js.map
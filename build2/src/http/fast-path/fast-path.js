import { FastConnections } from "./fast-connections.js";
export function createFastPath(context) {
    return new ListenerFastPath(context);
}
class ListenerFastPath {
    #context;
    #limits;
    #state = "off";
    #connections = null;
    constructor(context) {
        this.#context = context;
        this.#limits = context.limits;
    }
    async start(server) {
        if (this.#state !== "off" || this.#context.cached() === null)
            return;
        this.#state = "starting";
        const { control, ...context } = this.#context;
        const io = await control.prove();
        if (this.#isClosed())
            return;
        this.#state = "off";
        if (io === null)
            return;
        const connections = new FastConnections({ ...context, io, monitor: control.monitor, limits: this.#limits });
        if (!connections.attach(server)) {
            control.stayOff("a listener has no TCP handle");
            return;
        }
        this.#connections = connections;
        this.#state = "on";
    }
    limitTo(limits) {
        this.#limits = limits;
        this.#connections?.limitTo(limits);
    }
    close() {
        this.#state = "closed";
        this.#connections?.close();
    }
    #isClosed() {
        return this.#state === "closed";
    }
}
//# sourceMappingURL=fast-path.js.map
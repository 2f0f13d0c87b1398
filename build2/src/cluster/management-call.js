/** The rules of every call, by name. */
export const callRules = new Map([
    ["config", { methods: ["PATCH", "PUT"], to: "any", roleChangingMethods: ["PATCH", "PUT"] }],
    ["switchover", { methods: ["POST", "DELETE"], to: "any", roleChangingMethods: ["POST"] }],
    ["failover", { methods: ["POST"], to: "any", roleChangingMethods: ["POST"] }],
    ["restart", { methods: ["POST", "DELETE"], to: "node", roleChangingMethods: ["POST"] }],
    ["reload", { methods: ["POST"], to: "node", roleChangingMethods: [] }],
    ["reinitialize", { methods: ["POST"], to: "node", roleChangingMethods: ["POST"] }],
]);
/** Returns the call with this name; `undefined` if there is none. */
export function callNamed(name) {
    for (const known of callRules.keys())
        if (known === name)
            return known;
    return undefined;
}
//# sourceMappingURL=management-call.js.map
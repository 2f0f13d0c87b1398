/** Returns the outcome of a call that is answered at once. */
export function reply(status, text) {
    return { kind: "reply", reply: { status, text } };
}
//# sourceMappingURL=outcome.js.map
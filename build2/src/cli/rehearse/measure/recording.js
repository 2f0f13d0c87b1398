/** What distinguishes the primaries of the pool: a promotion always begins a timeline. */
export function serverKey({ address, timeline }) {
    return `${address} ${timeline ?? "in recovery"}`;
}
//# sourceMappingURL=recording.js.map
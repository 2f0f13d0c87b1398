/** Formats a WAL position as `X/X` in hexadecimal: 67108944 is `0/4000050` (PostgreSQL, pg_lsn). */
export function formatSimulatedLsn(position) {
    const high = Math.floor(position / 2 ** 32);
    const low = position % 2 ** 32;
    return `${high.toString(16).toUpperCase()}/${low.toString(16).toUpperCase()}`;
}
/** Rounds a position of the model, which may be fractional, down to PostgreSQL's eight-byte record boundary. */
export function reportedLsn(position) {
    return Math.floor(position / 8) * 8;
}
//# sourceMappingURL=lsn.js.map
/** Rounds a position of the model, which may be fractional, down to PostgreSQL's eight-byte record boundary. */
export function reportedLsn(position: number): number {
  return Math.floor(position / 8) * 8;
}

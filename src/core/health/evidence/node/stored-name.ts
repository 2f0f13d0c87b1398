/**
 * Whether a row of a sender list has a node's name, as PostgreSQL stores an `application_name`: at most 63 bytes, and
 * characters other than printable ASCII altered (`pg_clean_ascii`): each byte is `?` before PostgreSQL 16, and `\xc3`
 * since.
 * @param row the name in the list
 */
export function isStoredAs(name: string, row: string): boolean {
  if (name === row) return true;
  // Most rows are other plain names.
  if (row.length < bytesMax && !row.includes("?") && !row.includes("\\x")) return false;
  const bytes = new TextEncoder().encode(name).subarray(0, bytesMax);
  return (
    row === written(bytes, () => "?") || row === written(bytes, (byte) => `\\x${byte.toString(16).padStart(2, "0")}`)
  );
}

/** NAMEDATALEN - 1 of PostgreSQL. */
const bytesMax = 63;

function written(bytes: Uint8Array, altered: (byte: number) => string): string {
  const text = [...bytes].map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : altered(byte)));
  return text.join("").slice(0, bytesMax);
}

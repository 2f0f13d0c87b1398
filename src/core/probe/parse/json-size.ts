/** How many members of objects, and separated values, a JSON text has or may have. */
export interface JsonLimits {
  readonly members: number;
  readonly separators: number;
}

/** A text of at most this many bytes is not examined: it is parsed fast, whatever it contains. */
const smallMax = 8 * 1024;
const [quote, backslash, colon, comma] = [0x22, 0x5c, 0x3a, 0x2c];

/**
 * Whether a JSON text has more members or values than its limits allow. Parsing takes time by their number rather than
 * by bytes: a member of a large object costs as much as a hundred characters of a string. Examining costs little.
 */
export function exceedsLimits(text: Buffer, { members, separators }: JsonLimits): boolean {
  if (text.length <= smallMax) return false;
  const found = countTokens(text);
  return found.members > members || found.separators > separators;
}

/** Counts the members of objects, and the separated values, of a JSON text, without parsing it. */
export function countTokens(text: Buffer): JsonLimits {
  const { length } = text;
  let [colons, commas] = [0, 0];
  for (let at = 0; at < length; at += 1) {
    const byte = text[at];
    if (byte === quote) at = endOfString(text, at + 1, length);
    else if (byte === colon) colons += 1;
    else if (byte === comma) commas += 1;
  }
  return { members: colons, separators: commas };
}

/** A string of at most this many bytes is looked through here: a call into the runtime costs more. */
const shortMax = 64;

/** @param from the position after the opening quote @returns the position of the closing quote, or the text's length */
function endOfString(text: Buffer, from: number, length: number): number {
  for (let at = from; at < from + shortMax; at += 1) {
    const byte = text[at];
    if (byte === quote) return at;
    if (byte === backslash) at += 1;
  }
  for (let end = text.indexOf(quote, from); end !== -1; end = text.indexOf(quote, end + 1))
    if (!isEscaped(text, end)) return end;
  return length;
}

function isEscaped(text: Buffer, at: number): boolean {
  let before = at;
  while (text[before - 1] === backslash) before -= 1;
  return (at - before) % 2 === 1;
}

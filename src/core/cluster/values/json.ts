/** A JSON object with unchecked members. */
export type JsonObject = { readonly [key: string]: unknown };

/** Parses JSON text. Returns `undefined` if it is invalid. Never throws. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Writes JSON as nodes do (Python's `json.dumps`): a space after each colon and each comma. Checks that search a body
 * for `"role": "primary"` find it then.
 * @param written the text that the value was parsed from, where it is known: returned if it is the result
 * @throws Error if the value is nested too deeply
 */
export function nodeJson(value: unknown, written?: string): string {
  if (written !== undefined && written !== "" && isSpacedOut(JSON.stringify(value), written)) return written;
  // Strings have no raw line breaks, so that each one is JSON.stringify's own.
  return JSON.stringify(value, null, 1).replaceAll(/,\n */g, ", ").replaceAll(/\n */g, "");
}

/** Whether a text is this compact JSON with a space after each colon and each comma outside of strings. */
function isSpacedOut(compact: string, text: string): boolean {
  let at = 0;
  let isInString = false;
  for (let next = 0; next < compact.length; next += 1) {
    const char = compact[next];
    if (text[at++] !== char) return false;
    if (char === '"') isInString = !isInString;
    else if (char === "\\" && text[at++] !== compact[++next]) return false;
    else if (!isInString && (char === "," || char === ":") && text[at++] !== " ") return false;
  }
  return at === text.length;
}

/**
 * Adds a member at the end of a JSON object.
 * @param object an object as {@link nodeJson} writes it
 * @param key a name that needs no escaping; one that the object does not have yet
 * @param value the member's value as JSON text
 */
export function withMember(object: string, key: string, value: string): string {
  return object === "{}" ? `{"${key}": ${value}}` : `${object.slice(0, -1)}, "${key}": ${value}}`;
}

/** Whether a value is an object, and neither `null` nor an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns a string of at most `longest` printable characters, safe in headers and logs; else `null`. */
export function nameOf(value: unknown, longest = 256): string | null {
  if (typeof value !== "string" || value.length > longest) return null;
  return plain.test(value) || !(control.test(value) || hasHalfCharacter(value)) ? value : null;
}

/** Names are mostly such: a look that costs little. */
const plain = /^[ -~]*$/;
// oxlint-disable-next-line no-control-regex -- control characters are what it rejects
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** Whether a text has a surrogate without its other half. */
export function hasHalfCharacter(text: string): boolean {
  return !plain.test(text) && /\p{Cs}/u.test(text);
}

/** Returns a whole number from 0 to 2^53 - 1; else `null`. */
export function countOf(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** Returns a list as it is, and an empty list for every other value. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns an object as it is, and an empty object for every other value. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** A JSON value, as `JSON.parse` returns it. */
export type SimulatorJson = null | boolean | number | string | readonly SimulatorJson[] | SimulatorObject;

/** A JSON object: a node's document, its configuration, or the body of a management call. */
export interface SimulatorObject {
  readonly [key: string]: SimulatorJson;
}

/** Returns whether a parsed JSON value is an object (neither null nor an array). */
export function isJsonObject(value: unknown): value is SimulatorObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

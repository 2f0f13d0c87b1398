/**
 * Copies a message as a worker receives it: of plain objects, lists, maps, sets and primitive values. It does for these
 * what `structuredClone` does, several times as fast.
 * @throws Error for anything that a message must not contain, such as a function or an object of a class
 */
export function copiedMessage<T>(message: T): T {
  return copyOf(message) as T;
}

function copyOf(value: unknown): unknown {
  if (typeof value === "function" || typeof value === "symbol")
    throw new Error(`Cannot copy a message: it must hold data only, got a ${typeof value}`);
  if (typeof value !== "object" || value === null) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Map.prototype) return copyOfMap(value as ReadonlyMap<unknown, unknown>);
  if (prototype === Set.prototype) return new Set([...(value as ReadonlySet<unknown>)].map(copyOf));
  if (prototype === Array.prototype) return (value as readonly unknown[]).map(copyOf);
  if (prototype !== Object.prototype && prototype !== null)
    throw new Error(`Cannot copy a message: it must hold plain objects, got a ${value.constructor.name}`);
  const copy: Record<string, unknown> = {};
  for (const key in value) copy[key] = copyOf((value as Record<string, unknown>)[key]);
  return copy;
}

function copyOfMap(map: ReadonlyMap<unknown, unknown>): Map<unknown, unknown> {
  const copy = new Map<unknown, unknown>();
  for (const [key, value] of map) copy.set(copyOf(key), copyOf(value));
  return copy;
}

/** What {@link inTime} returns if a promise takes too long. */
export const late: unique symbol = Symbol("late");

/**
 * Waits for a promise.
 * @param limitMs the longest wait, in ms
 * @returns {@link late} if it takes longer
 * @throws its error
 */
export async function inTime<Value>(promise: Promise<Value>, limitMs: number): Promise<Value | typeof late> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<typeof late>((resolve) => {
    timer = setTimeout(() => resolve(late), limitMs);
  });
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}

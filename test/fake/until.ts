import { setTimeout } from "node:timers/promises";

/** Waits until `holds` does, looking often; fails after ten seconds, with what it waited for. */
export async function until(holds: () => Promise<boolean>, withinMs = 10_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > deadline)
      throw new Error(`Cannot go on as this must come to hold within ${withinMs} ms: ${holds.toString()}`);
    await setTimeout(10);
  }
}

import { Counter, type Registry } from "prom-client";

/** A value of a counter that is kept elsewhere. */
export interface CounterReading<Label extends string> {
  readonly labels: Readonly<Record<Label, string>>;
  readonly value: number;
}

/** Name, help text and labels of a mirrored counter. */
interface MirroredCounterOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Label[];
  readonly registers: Registry[];
}

/**
 * A counter whose value is kept elsewhere. Each scrape adds what was counted since the last one, so the counter never
 * decreases, not even when a worker exits before its last report.
 * @param read gives the values at a scrape; those with equal labels are added up
 */
export function mirrorCounter<Label extends string>(
  options: MirroredCounterOptions<Label>,
  read: () => Iterable<CounterReading<Label>>,
): Counter<Label> {
  const mirrored = new Map<string, number>();
  return new Counter<Label>({
    ...options,
    collect() {
      for (const [key, { labels, value }] of addUp(read())) {
        const known = mirrored.get(key) ?? 0;
        if (value <= known) continue;
        this.inc({ ...labels }, value - known);
        mirrored.set(key, value);
      }
    },
  });
}

function addUp<Label extends string>(
  readings: Iterable<CounterReading<Label>>,
): ReadonlyMap<string, CounterReading<Label>> {
  const sums = new Map<string, CounterReading<Label>>();
  for (const { labels, value } of readings) {
    const key = JSON.stringify(labels);
    sums.set(key, { labels, value: value + (sums.get(key)?.value ?? 0) });
  }
  return sums;
}

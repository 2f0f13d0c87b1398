/** One sample of a metrics page. NaN and infinities are omitted. */
export interface Sample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  /** Always finite. */
  readonly value: number;
}

/** The samples of a page by metric name. */
export class Samples {
  readonly #byName = new Map<string, Sample[]>();
  readonly size: number;

  constructor(samples: readonly Sample[]) {
    this.size = samples.length;
    for (const sample of samples) {
      const known = this.#byName.get(sample.name);
      if (known === undefined) this.#byName.set(sample.name, [sample]);
      else known.push(sample);
    }
  }

  /** Returns the samples of the first of the names that has any. */
  all(...names: readonly string[]): readonly Sample[] {
    for (const name of names) {
      const samples = this.#byName.get(name);
      if (samples !== undefined) return samples;
    }
    return [];
  }

  /**
   * Returns the value of the first of the names that has any; `null` if its samples differ: the page covers several
   * databases.
   */
  value(...names: readonly string[]): number | null {
    const [first, ...others] = this.all(...names);
    return first === undefined || others.some(({ value }) => value !== first.value) ? null : first.value;
  }
}

/** Returns the value of a counter of bytes or rows; `null` for what is none. */
export function toNonNegativeInteger(value: number | null): number | null {
  return value !== null && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

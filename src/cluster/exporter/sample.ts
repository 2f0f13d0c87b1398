/** One sample of a page of metrics. NaN and infinities are no samples: what is not known is absent. */
export interface Sample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  /** Always finite. */
  readonly value: number;
}

/** The samples of a page by metric name, to be asked for one at a time. */
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

  /** All samples of the first of the names that has any. */
  all(...names: readonly string[]): readonly Sample[] {
    for (const name of names) {
      const samples = this.#byName.get(name);
      if (samples !== undefined) return samples;
    }
    return [];
  }

  /** The one value of the first of the names that has any; `null` where samples disagree: a page of several databases speaks for none. */
  value(...names: readonly string[]): number | null {
    const [first, ...others] = this.all(...names);
    return first === undefined || others.some(({ value }) => value !== first.value) ? null : first.value;
  }
}

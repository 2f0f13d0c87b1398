/** Samples with equal labels are added up. A value alone has no label. `null`: there is no sample. */
export type MetricSamples = number | null | Iterable<readonly [Readonly<Record<string, string>>, number]>;

/** A metric that is read at a scrape. */
export interface BroughtMetric {
  readonly type: "counter" | "gauge";
  readonly name: string;
  readonly help: string;
  readonly read: () => MetricSamples;
}

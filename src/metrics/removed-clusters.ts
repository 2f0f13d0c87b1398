/** A metric of prom-client that has a label `cluster`. */
export interface ClusterMetric {
  get(): Promise<{ readonly values: readonly { readonly labels: Readonly<Record<string, string | number>> }[] }>;
  remove(labels: Record<string, string | number>): void;
}

/**
 * Removes the samples of clusters that a reload has removed. They would stay until the process ends.
 * @param metrics each has a label `cluster`. It may be empty for what belongs to no cluster: such samples stay
 * @param clusters the names of the present clusters
 */
export async function forgetRemovedClusters(
  metrics: readonly ClusterMetric[],
  clusters: ReadonlySet<string>,
): Promise<void> {
  for (const metric of metrics) {
    const { values } = await metric.get();
    for (const { labels } of values) {
      // prom-client adds `le` to the buckets of a histogram. It is no label of the series.
      const { le: _, ...seriesLabels } = labels;
      const cluster = String(seriesLabels["cluster"]);
      if (cluster !== "" && !clusters.has(cluster)) metric.remove(seriesLabels);
    }
  }
}

/**
 * What a hint of a coming change did. `begun`: a burst of probes began. `running`: such a burst runs already.
 * `writable`: the node that it names is known to be writable. `spent`: hints have used up their share of the budget of
 * bursts. `unknown`: the cluster or node is not probed.
 */
export type HintEffect = "begun" | "running" | "writable" | "spent" | "unknown";

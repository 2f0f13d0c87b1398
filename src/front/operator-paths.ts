/** What a person may ask of a cluster or a node, as the last part of a path. */
export const operatorQuestions = ["explain", "verdicts", "incident"] as const;

/** The paths that operators ask, for documentation and messages. */
export const operatorPaths: readonly string[] = ["status", ...operatorQuestions].map((path) => `/${path}`);

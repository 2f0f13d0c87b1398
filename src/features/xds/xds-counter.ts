/** Counts what Envoys get, by listener. */
export interface XdsCounter {
  set(name: "xdsStreams", labels: { readonly listener: string }, value: number): void;
  /** Counts the responses, and those that were refused. */
  count(name: "xdsResponses" | "xdsRefusals", labels: { readonly listener: string }): void;
}

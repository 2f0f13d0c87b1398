/** The answer to another rolecall that asks whether its run of a cluster may begin. */
export type ClaimAnswer =
  | {
      readonly kind: "granted";
      /** For how long after it was asked, in ms, unless it is asked again. */
      readonly leaseMs: number;
      /** Whether the one who answers has the one who asks among its peers; `null`: that could not be found out. */
      readonly isMutual: boolean | null;
    }
  | {
      readonly kind: "denied";
      /** Who or what holds the cluster. */
      readonly why: string;
      /** The highest number that is known here: a claim must have a higher one. */
      readonly generation: number;
      /** Whether a higher number is all that is missing. */
      readonly isBehind: boolean;
    };

/** Who was asked is silent, or cannot be reached. */
export interface NoAnswer {
  readonly kind: "silent";
  readonly why: string;
}

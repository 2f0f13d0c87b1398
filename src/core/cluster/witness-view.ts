import type { LeftOut, Member } from "./documents/cluster-document.ts";

/** Who leads according to one node's cluster document. */
export interface WitnessView {
  /**
   * The leader's member name, from the document or from the known node at the leader's API address; `null` if nobody
   * leads.
   */
  readonly leader: string | null;
  /** The name of that node; the member name if no node is known by it; `null` if nobody leads. */
  readonly names: string | null;
  /** The leader's timeline; `null` if the document has none. */
  readonly timeline: number | null;
  readonly sentAtMs: number;
  /** The WAL that the witness had received by its last report, in bytes; `null` if unknown. */
  readonly received: number | null;
  /** Whether that is more than when the witness's view before this one was recorded. */
  readonly isReceiving: boolean;
  /** When it was recorded, in ms of rolecall's clock. The document was true at some instant between the two. */
  readonly answeredAtMs: number;
  /**
   * When the latest successive views of the node that name the same were requested, this one last. Failed requests
   * between them do not matter. Only the newest are kept.
   */
  readonly repeatedAtMs: readonly number[];
  /** The API address of the named node in the document; `null` if it has none. */
  readonly namesAt: string | null;
  /** Member name -> its row in the document. The positions in it come from the DCS, and may be one loop_wait old. */
  readonly members: ReadonlyMap<string, Member>;
  /** The names of members that the document lists without a usable address. */
  readonly unaddressed: ReadonlySet<string>;
  /** What the document lists and is not taken as it is, these members among them. */
  readonly leftOut: readonly LeftOut[];
  /** Whether the document may lack members: then it omits nobody. */
  readonly isPartial: boolean;
}

/**
 * Who of several rolecalls writes the slices of a Service. Pure. They see different networks, and must neither fight nor
 * leave a Service to one that cannot see (docs/kubernetes-services.md).
 */
import type { ServiceContent, SliceContent, Unready } from "./service-content.ts";

/** What is published of a Service. */
export interface PublishedService {
  readonly slices: readonly SliceContent[];
  readonly unready: Unready;
  /** Whether somebody has changed what rolecall states beside addresses. */
  readonly isAltered: boolean;
  /** The rolecall that has written it; `null`: that one has resigned, or it is not known. */
  readonly writer: string | null;
}

/** What one rolecall knows when it decides. */
export interface TurnInputs {
  /** The name of this rolecall among those that write. */
  readonly me: string;
  /**
   * What this rolecall says: `starting`: nothing yet, as it has not judged; `blind`: nothing any more, as it has lost its
   * evidence.
   */
  readonly mine: ServiceContent | "starting" | "blind";
  /** `null`: nothing is published. */
  readonly published: PublishedService | null;
  /** Whether the writer of what is published renews its Lease. */
  readonly writerLives: boolean;
}

/**
 * What follows.
 *
 * - `write`: this rolecall writes what it says
 * - `resign`: it leaves the Service to others, and says so
 * - `silent`: it says nothing
 * - `agreed`: what is published is what it says; any rolecall may have written it
 * - `left`: another one that lives has published something else
 */
export type Turn = "write" | "resign" | "silent" | "agreed" | "left";

/**
 * Decides whether this rolecall writes a Service now.
 *
 * - What is published already is not written again, whoever has written it: at rest, and when a writer dies, nothing is.
 * - The writer writes; another one only if the writer has resigned, or does not renew its Lease.
 * - But nobody is ready in what a living writer has published because it cannot reach a member: who has a yes writes, and
 *   is the writer from now on. A no for which there is evidence is never overruled.
 * - Who has lost its evidence resigns, so that another one can write. What is published stays.
 */
export function turnOf({ me, mine, published, writerLives }: TurnInputs): Turn {
  if (mine === "starting") return "silent";
  if (mine === "blind") return published?.writer === me ? "resign" : "silent";
  if (published !== null && isSaid(mine, published)) return "agreed";
  if (published === null || published.writer === null || published.writer === me || !writerLives) return "write";
  return published.unready === "unreached" && mine.unready === null ? "write" : "left";
}

/** Whether what is published says what a rolecall says. Slices without endpoints say nothing. */
function isSaid(mine: ServiceContent, published: PublishedService): boolean {
  if (published.isAltered) return false;
  const [said, wanted] = [published.slices, mine.slices].map((slices) =>
    JSON.stringify(slices.filter(({ endpoints }) => endpoints.length > 0).map(contentKey)),
  );
  return said === wanted && published.unready === mine.unready;
}

/** Whether two slices say the same. */
export function isSliceSaid(one: SliceContent, other: SliceContent): boolean {
  return JSON.stringify(contentKey(one)) === JSON.stringify(contentKey(other));
}

function contentKey({ family, port, portName, endpoints }: SliceContent): readonly unknown[] {
  return [
    family,
    port,
    portName,
    endpoints.map(({ ip, isReady, isServing, zone, pod }) => [
      ip,
      isReady,
      isServing,
      zone,
      pod === null ? null : [pod.namespace, pod.name, pod.uid, pod.nodeName],
    ]),
  ];
}

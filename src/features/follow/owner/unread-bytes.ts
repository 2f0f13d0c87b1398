import { type FeedStream, unread } from "./feed-stream.ts";

/** How many bytes wait for followers. */
export function waitingOf(streams: readonly FeedStream[]): number {
  return streams.reduce((sum, { waiting }) => sum + waiting, 0);
}

/** Disconnects those who leave most unread, while too much waits for all, or for those with one credential. */
export function limitUnread(streams: readonly FeedStream[]): void {
  const all = waitingOf(streams);
  if (all <= Math.min(unread.principal, unread.all)) return;
  const principals = new Set(streams.map(({ about }) => about.principal));
  for (const principal of principals)
    endWorst(
      streams.filter(({ about }) => about.principal === principal),
      unread.principal,
    );
  endWorst(streams, unread.all);
}

function endWorst(streams: readonly FeedStream[], most: number): void {
  let left = waitingOf(streams);
  for (const stream of streams.toSorted((one, other) => other.waiting - one.waiting)) {
    if (left <= most) return;
    left -= stream.waiting;
    stream.end("unread");
  }
}

import type { Request } from "../message/request.ts";
import { parseRequestTarget } from "../message/request-target.ts";

const feedPaths = ["feed", "feed/clusters", "feed/echo", "feed/drain"] as const;

/** A path that other instances take outcomes by. */
export type FeedPath = (typeof feedPaths)[number];

/**
 * Which path of a feed a request is for. Authorization and routing both use this function, so that no spelling of another
 * path passes with the token of a follower.
 */
export function feedPathOf({ target }: Pick<Request, "target">): FeedPath | null {
  const parsed = parseRequestTarget(target);
  if ("problem" in parsed || parsed.cluster !== null || parsed.node !== null) return null;
  return feedPaths.find((path) => path === parsed.path) ?? null;
}

import { isObject, listOf, type JsonObject } from "../../core/cluster/values/json.ts";
import { fetchClusterExplanation, type ExplainedTarget } from "../explain/explanations.ts";
import { replyMessage, type RolecallClient } from "../../core/command/client/rolecall-client.ts";
import { CommandError } from "../../core/command/framework/command-error.ts";
import { pause } from "../status/watch/refresh.ts";
import { areSameNodes, fitNodesAfter, type FitNode, type WatchedNode } from "./fit-nodes.ts";

/** What a feed follows, and who hears of it. */
export interface FitNodesFeed {
  readonly server: RolecallClient;
  readonly target: ExplainedTarget;
  /** Whether the route of the check is one that at most one node passes. */
  readonly isSole: boolean;
  readonly signal: AbortSignal;
  /** Called with the first fit nodes, and whenever they change. */
  readonly onNodes: (nodes: readonly FitNode[]) => void;
  /** Called with why the last nodes stay, and with `null` when nothing is in the way any more. */
  readonly onObstacle: (why: string | null) => void;
}

/** Verdicts change with time alone too: the longest time between two looks, in ms. */
const lookMs = 1_000;
/** The shortest time between two looks, in ms: during a burst the cluster changes with each probe. */
const restMs = 20;

/**
 * Follows the nodes that are fit for a check, until the signal is aborted. The server says at once that the cluster has
 * changed (`GET /snapshot?after=…&wait=…`). A server that does not answer is asked again each second.
 * @throws CommandError if the first answer of the server refuses the cluster or the check
 */
export async function followFitNodes(feed: FitNodesFeed): Promise<void> {
  const { server, signal, onNodes, onObstacle } = feed;
  let known: readonly FitNode[] = [];
  let after: string | null = null;
  let hasAnswered = false;
  while (!signal.aborted) {
    try {
      after = await nextSnapshot(feed, after);
      const change = fitNodesAfter(known, await judgedNodes(feed), feed.isSole);
      hasAnswered = true;
      onObstacle("unchanged" in change ? change.unchanged : null);
      if ("nodes" in change && !areSameNodes(change.nodes, known)) onNodes((known = change.nodes));
      await pause(restMs, [signal]);
    } catch (error) {
      if (signal.aborted) return;
      const isRefusal = error instanceof CommandError && (error.rule === "RC001" || error.rule === "RC031");
      if (!(error instanceof CommandError) || (isRefusal && !hasAnswered)) throw error;
      after = null;
      onObstacle(`${error.message} (${server.url})`);
      await pause(lookMs, [signal]);
    }
  }
}

/** Waits for a change of the cluster after a snapshot. @param after its name; `null`: does not wait */
async function nextSnapshot({ server, target }: FitNodesFeed, after: string | null): Promise<string | null> {
  const waitMs = Math.floor(Math.min(lookMs, server.timeoutMs / 2));
  const query = new URLSearchParams({
    cluster: target.cluster,
    ...(after === null ? {} : { after, wait: `${waitMs}ms` }),
  });
  const path = `/snapshot?${query.toString()}`;
  const reply = await server.get(path);
  if (reply.status === 400) throw new CommandError("RC001", replyMessage(reply));
  const { snapshot } = server.objectOf(path, reply);
  return typeof snapshot === "string" ? snapshot : null;
}

async function judgedNodes({ server, target }: FitNodesFeed): Promise<readonly WatchedNode[]> {
  const { nodes } = await fetchClusterExplanation(server, target);
  const { clusters } = await server.getObject(`/clusters/${encodeURIComponent(target.cluster)}/status`);
  const rows = listOf(clusters)
    .filter(isObject)
    .filter(({ cluster }) => cluster === target.cluster)
    .flatMap(({ nodes: listed }) => listOf(listed).filter(isObject));
  return nodes.map(({ node, fit, reason, isKnown = true }) => ({
    node,
    fit: fit === true,
    reason,
    isKnown,
    database: databaseOf(rows, node),
  }));
}

function databaseOf(rows: readonly JsonObject[], node: string): string | null {
  const database = rows.find((row) => row["node"] === node)?.["database"];
  return typeof database === "string" ? database : null;
}

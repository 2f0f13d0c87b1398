import type { Config } from "../../core/config/model/config.ts";
import type { LocalNodeFinder } from "../../core/probe/client/node-finder.ts";
import { localPodFinder } from "../../features/kubernetes/discovery/local-pod-finder.ts";

/** What finds the nodes of an address of `discover`, for processes that open no features: commands and the guardian. */
export const localNodeFinders: readonly ((config: Config) => LocalNodeFinder)[] = [localPodFinder];

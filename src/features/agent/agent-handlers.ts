import type { Config, ListenerConfig } from "../../core/config/model/config.ts";
import { companionNames, lagTimeMsMin } from "../../core/config/values/check-text.ts";
import type { LineHandler } from "../../core/http/message/handler.ts";
import { AgentResponder, type AgentSettings, type AgentSources } from "./agent.ts";

/** One agent listener, and the configuration that it belongs to. */
export interface AgentListener {
  readonly listener: ListenerConfig;
  readonly config: Config;
  /** Identifies the listener over reloads. */
  readonly key: string;
}

/** What all agents answer from. */
export interface AgentHandlersSources extends AgentSources {
  /** Whether this process has been late for so long that it counts as gone (rule 16). */
  readonly isWithdrawn: () => boolean;
}

/** The agents of all agent listeners. They keep what they remember over reloads. */
export class AgentHandlers {
  readonly #sources: AgentHandlersSources;
  readonly #agents = new Map<string, AgentResponder>();

  constructor(sources: AgentHandlersSources) {
    this.#sources = sources;
  }

  /** The handler of a listener under its present configuration. */
  handlerFor({ listener, config, key }: AgentListener): LineHandler {
    const settings = settingsOf(listener, config);
    let agent = this.#agents.get(key);
    if (agent === undefined) this.#agents.set(key, (agent = new AgentResponder(settings, this.#sources)));
    else agent.configure(settings);
    const known = agent;
    return (line, peer) => (this.#sources.isWithdrawn() ? false : known.answer(line, peer));
  }

  /** Drops the agents of listeners that are no longer open. */
  keepOnly(keys: ReadonlySet<string>): void {
    for (const key of this.#agents.keys()) if (!keys.has(key)) this.#agents.delete(key);
  }
}

function settingsOf({ cluster, node, defaults, agent }: ListenerConfig, config: Config): AgentSettings {
  if (agent === null) throw new Error("Cannot answer agent checks: the dialect of the listener must be agent");
  const { clusters, ignoreParams, probe } = config;
  return {
    agent,
    scope: {
      cluster,
      node,
      clusters: clusters.map(({ name }) => name),
      companions: companionNames(clusters),
      check: agent.check,
      rules: { ignoreParams, ignoresUnknown: false, defaults, lagTimeMsMin: lagTimeMsMin(probe.intervalMs) },
    },
  };
}

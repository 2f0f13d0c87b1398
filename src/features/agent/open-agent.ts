import type { Host, ListenerInForce, Opened } from "../../core/feature/feature.ts";
import type { Scope } from "../../core/feature/scope.ts";
import type { ConnectionHandler } from "../../core/http/listener/listener-set.ts";
import { LineConversations } from "../../core/http/listener/line-conversations.ts";
import { AgentHandlers } from "./agent-handlers.ts";

/** The agents of a process. */
export interface RunningAgents extends Opened {
  /** What speaks with the HAProxies of a listener under its present configuration. */
  readonly serve: (listener: ListenerInForce) => ConnectionHandler;
}

/** What the agents need of their host. */
type AgentHost = Pick<Host, "snapshot" | "policy" | "observe" | "metrics" | "isWithdrawn" | "contained">;

/** Answers the agent checks of each listener until the scope ends. What is remembered stays over reloads. */
export function openAgent(host: AgentHost, scope: Pick<Scope, "hold">): RunningAgents {
  let phase: "serving" | "draining" = "serving";
  const agents = new AgentHandlers({
    snapshot: host.snapshot,
    policy: host.policy,
    now: host.observe,
    isStopping: () => phase === "draining",
    isWithdrawn: host.isWithdrawn,
    onAnswer: (answer) => host.metrics.count("agentAnswers", { answer }),
  });
  const conversations = new Map<string, LineConversations>();
  scope.hold("the conversations", () => conversations.forEach((one) => one.end()));
  return {
    configure: () => {},
    serve(listener) {
      const handler = agents.handlerFor(listener);
      const known = conversations.get(listener.key);
      const served = known ?? new LineConversations(handler, (error) => host.contained(error, {}));
      if (known === undefined) conversations.set(listener.key, served);
      else served.handleBy(handler);
      return (connection) => served.converse(connection);
    },
    listening(keys) {
      agents.keepOnly(keys);
      // Its listener closes the connections that it still has.
      for (const key of conversations.keys()) if (!keys.has(key)) conversations.delete(key);
    },
    draining() {
      phase = "draining";
    },
  };
}

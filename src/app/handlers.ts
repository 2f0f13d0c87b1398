import type { Clock } from "../state/clock.ts";
import type { EventLog } from "../events/event-log.ts";
import type { Config, ListenerConfig } from "../config/model/config.ts";
import type { Drains } from "../state/drains.ts";
import { exporterHandler } from "./exporter-handler.ts";
import { answerAdminRequest } from "../http/admin-api/admin-api.ts";
import type { JudgeInputs } from "../http/node-api/answer.ts";
import type { ListenerHandler } from "../http/message/handler.ts";
import { scopeOf, nodeHandler } from "../http/node-api/node-handler.ts";
import { answerDiagnostics } from "../http/diagnostics/diagnostics-api.ts";
import type { DiagnosticsSources } from "../http/diagnostics/diagnostics-sources.ts";
import type { PageGate } from "../http/pages/page-gate.ts";
import type { AnswerCounter } from "../http/message/answer-counter.ts";
import type { Gatehouse } from "./gatehouse.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Store } from "../state/store.ts";

/** What the handlers of this process's listeners are wired to. */
export interface HandlerContext {
  readonly store: Store;
  readonly clock: Pick<Clock, "now" | "wall">;
  readonly eventLog: EventLog;
  readonly gatehouse: Gatehouse;
  readonly metrics: Metrics;
  readonly drains: Drains;
  readonly counter: AnswerCounter;
  /** Limits pages over all listeners of this process, those that workers relay too. */
  readonly gate: PageGate;
  /** Why this process should not be sent traffic, or `null`. */
  readonly unready: () => string | null;
  /** Reads the configuration again. @returns why it came to nothing, or `null` */
  readonly reload: () => Promise<string | null>;
  /** The file that the configuration came from, or `null`. */
  readonly file: () => string | null;
}

/** The handler of one listener, by what it speaks. */
export function handlerFor(listener: ListenerConfig, config: Config, context: HandlerContext): ListenerHandler {
  const { store, clock, metrics, gatehouse, drains, counter, unready } = context;
  const operator = diagnosticsSources(context);
  const scope = scopeOf(listener, config);
  if (listener.dialect === "admin") {
    const page = (): ReturnType<Metrics["render"]> => metrics.render();
    const sources = { scope, unready, operator, metrics: page, drains, snapshots: gatehouse.snapshots };
    return (call) => answerAdminRequest(call, sources);
  }
  const { policy, snapshot, now } = operator;
  const inputs = (): JudgeInputs => ({ snapshot: store.current, policy, nowMs: clock.now(), unready });
  const onAnswer = (route: string, status: number): void => counter.count(route, status);
  const counted = { ...operator, onAnswer: (status: number): void => onAnswer("operator", status) };
  if (listener.dialect === "exporter")
    return exporterHandler(listener, {
      config,
      metrics,
      gate: context.gate,
      file: context.file(),
      inputs,
      onAnswer,
      reload: context.reload,
    });
  return nodeHandler(listener, config, {
    inputs,
    snapshot,
    now,
    operator: (call) => answerDiagnostics(call, scope, counted),
    passthrough: gatehouse.gateway,
    onAnswer,
  });
}

function diagnosticsSources({ store, clock, eventLog, gate }: HandlerContext): DiagnosticsSources {
  return {
    gate,
    snapshot: () => store.current,
    policy: (cluster) => store.settings(cluster),
    now: () => clock.now(),
    wall: () => clock.wall(),
    changes: (cluster, node) => eventLog.changes(cluster, node),
    recorded: (cluster, fromWallMs, toWallMs) => eventLog.recorded(cluster, fromWallMs, toWallMs),
    accused: (cluster, wallMs) => eventLog.accused(cluster, wallMs),
  };
}

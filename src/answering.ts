import type { Clock } from "./clock.ts";
import type { Chronicle } from "./chronicle.ts";
import type { Config, ListenerConfig } from "./config/config.ts";
import type { Drains } from "./drains.ts";
import { exporterHandler } from "./exporter-door.ts";
import { answerAdmin } from "./front/admin-dialect.ts";
import type { Evidence } from "./front/answer.ts";
import type { Handler } from "./front/listener.ts";
import { boundOf, nodeHandler } from "./front/node-handler.ts";
import { answerOperator, type OperatorSources } from "./front/operator.ts";
import type { PageGate } from "./front/page-gate.ts";
import type { Tally } from "./front/tally.ts";
import type { Gatehouse } from "./gatehouse.ts";
import type { Metrics } from "./metrics/metrics.ts";
import type { Store } from "./store.ts";

/** What the handlers of this process's listeners are wired to. */
export interface AnsweringContext {
  readonly store: Store;
  readonly clock: Pick<Clock, "now" | "wall">;
  readonly chronicle: Chronicle;
  readonly gatehouse: Gatehouse;
  readonly metrics: Metrics;
  readonly drains: Drains;
  readonly tally: Tally;
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
export function handlerFor(listener: ListenerConfig, config: Config, context: AnsweringContext): Handler {
  const { store, clock, metrics, gatehouse, drains, tally, unready } = context;
  const operator = operatorSources(context);
  const bound = boundOf(listener, config);
  if (listener.dialect === "admin") {
    const page = (): ReturnType<Metrics["render"]> => metrics.render();
    const sources = { bound, unready, operator, metrics: page, drains, snapshots: gatehouse.snapshots };
    return (request, message) => answerAdmin(request, message, sources);
  }
  const { settings, snapshot, now } = operator;
  const evidence = (): Evidence => ({ snapshot: store.current, settings, nowMs: clock.now(), unready });
  const onAnswer = (route: string, status: number): void => tally.count(route, status);
  const counted = { ...operator, onAnswer: (status: number): void => onAnswer("operator", status) };
  if (listener.dialect === "exporter")
    return exporterHandler(listener, {
      config,
      metrics,
      gate: context.gate,
      file: context.file(),
      evidence,
      onAnswer,
      reload: context.reload,
    });
  return nodeHandler(listener, config, {
    evidence,
    snapshot,
    now,
    operator: (request) => answerOperator(request, bound, counted),
    passage: gatehouse.gateway,
    onAnswer,
  });
}

function operatorSources({ store, clock, chronicle, gate }: AnsweringContext): OperatorSources {
  return {
    gate,
    snapshot: () => store.current,
    settings: (cluster) => store.settings(cluster),
    now: () => clock.now(),
    wall: () => clock.wall(),
    changes: (cluster, node) => chronicle.changes(cluster, node),
    recorded: (cluster, fromWallMs, toWallMs) => chronicle.recorded(cluster, fromWallMs, toWallMs),
    accused: (cluster, wallMs) => chronicle.accused(cluster, wallMs),
  };
}

import type { Config, ListenerConfig } from "../config/model/config.ts";
import type { Snapshot } from "../cluster/snapshot.ts";
import type { HealthPolicy } from "../health/health-policy.ts";
import type { RequestHandler } from "../http/message/handler.ts";
import type { Reply } from "../http/message/reply.ts";
import type { Request } from "../http/message/request.ts";
import type { JudgeInputs } from "../http/node-api/answer.ts";
import type { OnAnswer } from "../http/node-api/node-api.ts";
import type { PageGate } from "../http/pages/page-gate.ts";
import type { Metrics } from "../metrics/metrics.ts";

/** One listener and the configuration that it belongs to. */
export interface ListenerInConfig {
  readonly listener: ListenerConfig;
  readonly config: Config;
}

/** What is answered from memory, in the main process and in workers. */
export interface ApiSources {
  readonly inputs: () => JudgeInputs;
  readonly snapshot: () => Snapshot;
  readonly policy: (cluster: string) => HealthPolicy | undefined;
  /** In ms of rolecall's clock. */
  readonly now: () => number;
  readonly onAnswer: OnAnswer;
}

/** What only the main process has. */
export interface ApiContext {
  /** Limits pages over all listeners of this process. */
  readonly gate: PageGate;
  readonly metrics: Pick<Metrics, "render" | "probeStats">;
  /** Reads the configuration again. @returns why it was refused, or `null` */
  readonly reload: () => Promise<string | null>;
  /** The file that the configuration came from, or `null`. */
  readonly configFile: string | null;
}

/** A page that costs more than a check. */
export interface CostlyPage {
  /** One of a few names. */
  readonly name: string;
  /** How many renderings may run at a time. */
  readonly runningMax: number;
}

/** An API of a feature on listeners of one dialect, over HTTP. Workers answer on them too: they open no features. */
export interface ListenerApi {
  readonly dialect: ListenerConfig["dialect"];
  /** Whether a request changes state although its method is safe. */
  readonly changesState: (request: Request, config: Config) => boolean;
  /** The costly page that a request asks for: workers limit those too, before the main process renders them. */
  readonly pageOf: (request: Request, config: Config) => CostlyPage | null;
  /** Loads what answers from memory, in each process that answers on a listener of this dialect. */
  readonly loadMemory: () => Promise<AnswersFromMemory>;
  /** Loads what answers all else, in the main process, on the first such request. */
  readonly loadRest: () => Promise<AnswersRest>;
}

/** @returns answers a request on a listener; `null`: it cannot */
export type AnswersFromMemory = (listener: ListenerInConfig, sources: ApiSources) => (request: Request) => Reply | null;

/** @returns answers what is not answered from memory */
export type AnswersRest = (listener: ListenerInConfig, sources: ApiSources, context: ApiContext) => RequestHandler;

import { Counter, type Registry } from "prom-client";

/** Metrics of agent listeners. */
export class AgentMetrics {
  readonly #answers: Counter<"answer">;

  constructor(registers: Registry[]) {
    this.#answers = new Counter({
      name: "rolecall_agent_answers_total",
      help: "Answers to HAProxy's agent checks: use, drain, checks (left to the health checks), unknown (no server named).",
      labelNames: ["answer"],
      registers,
    });
  }

  /** Counts an answer. */
  answered(answer: string): void {
    this.#answers.inc({ answer });
  }
}

import { Counter } from "prom-client";
/** Metrics of agent listeners. */
export class AgentMetrics {
    #answers;
    constructor(registers) {
        this.#answers = new Counter({
            name: "rolecall_agent_answers_total",
            help: "Answers to HAProxy's agent checks: use, drain, checks (left to the health checks), unknown (no server named).",
            labelNames: ["answer"],
            registers,
        });
    }
    /** Counts an answer. */
    answered(answer) {
        this.#answers.inc({ answer });
    }
}
//# sourceMappingURL=agent-metrics.js.map
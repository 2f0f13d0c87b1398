/** The most different problems of one balancer that are remembered: more than a configuration has servers. */
const problemsMax = 20_000;
/** Logs the problems of one balancer: each once, until it is over. */
export class BalancerProblems {
    #log;
    #balancer;
    #open = new Map();
    constructor(log, balancer) {
        this.#log = log;
        this.#balancer = balancer;
    }
    /** Logs a problem, unless it is known. @param subject what has the problem, such as a server */
    report(subject, problem) {
        if (this.#open.get(subject) === problem || this.#open.size >= problemsMax)
            return;
        this.#open.set(subject, problem);
        this.#log.warn({ balancer: this.#balancer, subject, problem }, "balancer not updated");
    }
    /** Logs that a problem is over, if there was one. */
    resolve(subject) {
        if (this.#open.delete(subject))
            this.#log.info({ balancer: this.#balancer, subject }, "balancer problem resolved");
    }
}
//# sourceMappingURL=balancer-problems.js.map
import { connect } from "node:net";
import { type Answered, checks, problemWith } from "./answers.ts";
import { CheckClient, type Connection } from "./check-client.ts";
import type { Clusters } from "./clusters.ts";
import type { Ports } from "./configuration.ts";

/** How often each client asks, in ms: 10 clients ask about 200 times a second together. */
const everyMs = 50;
/** Waiting for a processor for longer than this within 15 s, in ms, excuses a no for lack of fresh evidence. */
const excusingMs = 500;
/** How many wrong answers are recorded in full. */
const recordedMax = 2_000;
/** How many answers in a row keep their snapshot, to find two primaries in one. */
const snapshotsKept = 2_000;

/** The health checks of a soak. Every answer is held against the truth. */
export class Load {
  readonly counts = {
    answers: 0,
    yes: 0,
    unanswered: 0,
    agentAnswers: 0,
    late: 0,
    unexplainedLosses: 0,
    wrong: 0,
    excused: 0,
  };
  readonly #clients: readonly CheckClient[];
  readonly #clusters: Clusters;
  readonly #onProblem: (problem: object) => void;
  readonly #primaries = new Map<string, string>();
  readonly #timers: readonly NodeJS.Timeout[];
  readonly #pending: Answered[] = [];
  #turn = 0;

  /**
   * @param isCut whether connections may be lost now: a worker was killed, or listeners change
   * @param onProblem called with each wrong answer and each loss that nothing explains
   */
  constructor(clusters: Clusters, ports: Ports, isCut: () => boolean, onProblem: (problem: object) => void) {
    this.#clusters = clusters;
    this.#onProblem = onProblem;
    const kept = (port: number): Connection => ({ port, isTls: false, isClosing: false });
    const connections: readonly Connection[] = [
      kept(ports.fast),
      kept(ports.fast),
      kept(ports.fast),
      kept(ports.fast),
      { ...kept(ports.fast), isClosing: true },
      kept(ports.ordinary),
      kept(ports.ordinary),
      { ...kept(ports.ordinary), isClosing: true },
      { ...kept(ports.tls), isTls: true },
      { ...kept(ports.tls), isTls: true },
    ];
    this.#clients = connections.map(
      (how) =>
        new CheckClient(
          how,
          (answer) => void this.#pending.push(answer),
          (why) => {
            const isStarved = clusters.lostMs(performance.now()) > excusingMs;
            this.counts[why === "late" ? "late" : "unanswered"] += 1;
            if (isCut() || (why === "late" && isStarved)) return;
            this.counts.unexplainedLosses += 1;
            onProblem({ kind: "loss", why, how });
          },
        ),
    );
    this.#timers = [
      ...this.#clients.map((client) => setInterval(() => this.#ask(client), everyMs)),
      setInterval(() => this.#askAgent(ports.agent), 500),
    ];
  }

  /** Holds what was answered before the last look at the truth against it. */
  judgePending(): void {
    for (const answer of this.#pending.splice(0)) this.#judge(answer);
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
    for (const client of this.#clients) client.stop();
  }

  /** Asks about the clusters that are always configured, each node and check in turn. */
  #ask(client: CheckClient): void {
    const turn = (this.#turn += 1);
    const check = checks[turn % checks.length] ?? "/primary";
    const round = Math.floor(turn / checks.length);
    client.ask({ cluster: `c${round % 3}`, node: `pg${(Math.floor(round / 3) % 3) + 1}`, check });
  }

  #judge(answer: Answered): void {
    this.counts.answers += 1;
    if (answer.status === 200) this.counts.yes += 1;
    const record = this.#clusters.recordOf(answer.cluster);
    if (record === undefined) return;
    const lostMs = this.#clusters.lostMs(performance.now());
    const problem = problemWith(answer, record) ?? this.#secondPrimary(answer);
    if (problem === null) return;
    // Without the processor no evidence is fresh: a no is right then.
    if (
      lostMs > excusingMs &&
      answer.status !== 200 &&
      /^(?:stale|blind|down|unknown|lag_unknown)$/.test(answer.reason ?? "")
    ) {
      this.counts.excused += 1;
      return;
    }
    this.counts.wrong += 1;
    if (this.counts.wrong > recordedMax) return;
    const truth = record.looks.at(-1);
    this.#onProblem({
      kind: "wrong",
      problem,
      lostMs,
      ...answer,
      truth: { ...truth, nodes: [...(truth?.nodes ?? [])] },
    });
  }

  /** One snapshot has one primary for each cluster. */
  #secondPrimary({ cluster, node, check, status, word }: Answered): string | null {
    if (check !== "/primary" || status !== 200 || word === null) return null;
    const key = `${cluster} ${word.snapshot}`;
    const other = this.#primaries.get(key);
    this.#primaries.set(key, node);
    if (this.#primaries.size > snapshotsKept) {
      const [oldest = ""] = this.#primaries.keys();
      this.#primaries.delete(oldest);
    }
    return other === undefined || other === node ? null : `${other} was the primary of the same snapshot`;
  }

  /** An agent check of HAProxy. */
  #askAgent(port: number): void {
    const node = `c0/pg${(this.#turn % 3) + 1}`;
    const socket = connect({ port, host: "127.0.0.1" });
    let text = "";
    socket.setEncoding("utf8").setTimeout(5_000, () => socket.destroy());
    socket.on("connect", () => socket.write(`${node}\n`)).on("error", () => {});
    socket.on("data", (piece: unknown) => (text += String(piece)));
    socket.on("close", () => {
      if (/^(?:up|down|drain|ready|\d+%)/.test(text)) this.counts.agentAnswers += 1;
      else if (text !== "" && !text.startsWith("#")) this.#onProblem({ kind: "agent", text });
    });
  }
}

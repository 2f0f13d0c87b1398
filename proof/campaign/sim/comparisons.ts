import type { Violation } from "../oracle/scene.ts";
import type { Said } from "../rolecall/asker.ts";
import { Agreement, pushedChecks } from "./agreement.ts";
import type { SubjectLife } from "./subject-life.ts";
import type { VirtualAsker } from "./virtual-asker.ts";
import type { SeenTime } from "./virtual-time.ts";

/** How long a pushed state may be behind, in virtual ms: the resolution of a timer. */
const pushLateMs = 2;
/** In how many rounds one answer is compared with what other parts of rolecall give. */
const agreeEvery = 3;

/** What the comparisons of a run depend on. */
export interface ComparisonsContext {
  readonly life: Pick<SubjectLife, "subject" | "isDown">;
  readonly asker: VirtualAsker;
  readonly time: SeenTime;
  readonly cluster: string;
  readonly armed: Map<string, number>;
  readonly onViolation: (violation: Violation) => void;
}

/** Compares some answers of a run with what the other parts of rolecall give. */
export class Comparisons {
  readonly #context: ComparisonsContext;
  readonly #agreement: Agreement;
  #turn = 0;

  constructor(context: ComparisonsContext) {
    this.#context = context;
    this.#agreement = new Agreement(() => context.life.subject, context.armed);
  }

  /** Takes the answers of a round. `isSoon`: much may have changed just before. */
  async compare(answers: readonly Said[], isSoon: boolean): Promise<void> {
    this.#turn += 1;
    if (!isSoon && this.#turn % agreeEvery !== 0) return;
    const answer = answers[(isSoon ? this.#turn : this.#turn / agreeEvery) % answers.length];
    if (answer === undefined || answer.node === null || answer.method === "HEAD") return;
    const { asker, life, time, onViolation } = this.#context;
    const head = (): Said => asker.askNow({ ...answer, method: "HEAD" });
    for (const violation of await this.#agreement.compare(answer, head)) onViolation(violation);
    const node = answer.node;
    const check = pushedChecks[this.#turn % pushedChecks.length] ?? "/primary";
    if (this.#pushed(node, check) === null) return;
    const { subject } = life;
    const { sequence } = subject;
    time.after("delivery", pushLateMs, () => {
      const isSame = subject === life.subject && !life.isDown && sequence === subject.sequence;
      const again = isSame ? this.#pushed(node, check) : null;
      if (again !== null) onViolation(again);
    });
  }

  #pushed(node: string, check: string): Violation | null {
    const path = `/clusters/${this.#context.cluster}/nodes/${node}${check}`;
    return this.#agreement.pushed(this.#context.asker.askNow({ method: "GET", path, node, check }));
  }
}

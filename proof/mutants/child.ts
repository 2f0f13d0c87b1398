/** The process that runs tests: it loads them once and then runs those that the parent names, one mutant at a time. */
import { register } from "node:module";
import { configureGlobal } from "fast-check";
import { loadTests, registered, runTest, type RegisteredTest } from "./harness.ts";
import type { Answer, Order, TestRecord } from "./protocol.ts";

/** How long a test without a known duration may take, in ms. */
const measuredMaxMs = 10_000;

/**
 * Tests that take longer are measured once, in ms. They are left out by default. One that cannot run again, and is
 * measured once only, would count as a kill of any mutant.
 */
const againMs = 1_000;
/** Tests whose timeout is longer may depend on the machine's load: their failure has to repeat itself. */
const repeatedMs = 2_000;

let active = -1;
/** The mutant that was active while the tests were loaded: then it stays active. */
let whenLoaded = -1;
let reached = new Uint8Array(0);
let onCrash: ((error: unknown) => void) | null = null;

Object.assign(globalThis, {
  mutant: (number: number): boolean => {
    reached[number] = 1;
    return number === active;
  },
});
// A shrunk counterexample is of no use here, and random seeds would make results random.
configureGlobal({ seed: 1, endOnFailure: true });
for (const event of ["uncaughtException", "unhandledRejection"])
  process.on(event, (error: unknown) => onCrash?.(error));
process.on("disconnect", () => process.exit(0));

function answer(message: Answer): void {
  process.send?.(message);
}

function takeReached(): readonly number[] {
  const numbers = [...reached.keys()].filter((number) => reached[number] === 1);
  reached.fill(0);
  return numbers;
}

async function failureOf(test: RegisteredTest, timeoutMs: number): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const stopped = new Promise<never>((_, reject) => {
    onCrash = reject;
    timer = setTimeout(() => reject(new Error(`no end after ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    await Promise.race([runTest(test), stopped]);
    return null;
  } catch (error) {
    return error ?? new Error("rejected without a reason");
  } finally {
    clearTimeout(timer);
    onCrash = null;
  }
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 300);
}

async function load({ places, files, mutants, active: first }: Extract<Order, { kind: "load" }>): Promise<void> {
  register("./hooks.js", import.meta.url, { data: places });
  reached = new Uint8Array(mutants);
  active = first;
  whenLoaded = first;
  let problem: string | null = null;
  for (const file of files) {
    answer({ kind: "running", id: file });
    try {
      await loadTests(file.slice(file.indexOf("/build/test/") + "/build/test/".length), () => import(file));
    } catch (error) {
      problem ??= `${file}: ${messageOf(error)}`;
    }
  }
  answer({ kind: "loaded", reached: takeReached(), problem });
}

/** Runs each quick test twice: the second run shows whether it can run again, and its duration. */
async function measure(test: RegisteredTest): Promise<TestRecord> {
  answer({ kind: "running", id: test.id });
  let startMs = performance.now();
  let failure = await failureOf(test, measuredMaxMs);
  let ms = performance.now() - startMs;
  if (failure === null && ms < againMs) {
    startMs = performance.now();
    failure = await failureOf(test, measuredMaxMs);
    ms = performance.now() - startMs;
  }
  return {
    id: test.id,
    ms: Math.ceil(ms),
    reached: takeReached(),
    problem: failure === null ? null : messageOf(failure),
  };
}

/** A kill counts if the test passes without the mutant, and a test that needs time fails with it once more. */
async function tryMutant({ mutant, tests }: Extract<Order, { kind: "try" }>): Promise<Answer> {
  for (const { id, timeoutMs } of tests) {
    const test = registered.get(id);
    if (test === undefined) continue;
    answer({ kind: "running", id });
    active = mutant;
    const failure = await failureOf(test, timeoutMs);
    active = whenLoaded;
    if (failure === null) continue;
    const killed = { kind: "tried", killedBy: id, message: messageOf(failure), isSpoilt: false } as const;
    if (whenLoaded !== -1) return killed;
    if ((await failureOf(test, timeoutMs)) !== null) return { ...killed, isSpoilt: true };
    if (timeoutMs < repeatedMs) return killed;
    active = mutant;
    const again = await failureOf(test, timeoutMs);
    active = whenLoaded;
    if (again !== null) return killed;
  }
  return { kind: "tried", killedBy: null, message: "", isSpoilt: false };
}

async function follow(order: Order): Promise<void> {
  if (order.kind === "load") return load(order);
  if (order.kind === "try") return answer(await tryMutant(order));
  const known = new Set(order.known);
  for (const test of registered.values())
    if (!known.has(test.id)) answer({ kind: "measured", test: await measure(test) });
  answer({ kind: "complete" });
}

let last: Promise<void> = Promise.resolve();
process.on("message", (order: Order) => {
  last = last.then(() => follow(order));
});

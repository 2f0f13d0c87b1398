/**
 * Takes the place of `node:test` in a process that runs the same tests many times. It registers tests when their files
 * are loaded, and runs one at a time.
 */
import { mock } from "node:test";

type Body = (context: HarnessContext) => unknown;
type Hook = (context: HarnessContext) => unknown;

/** A test of a loaded file. */
export interface RegisteredTest {
  /** The file, the suites, the title, and how many tests of this name came before. */
  readonly id: string;
  readonly suites: readonly Suite[];
  readonly body: Body;
}

interface Suite {
  readonly name: string;
  readonly before: Hook[];
  readonly after: Hook[];
  readonly beforeEach: Hook[];
  readonly afterEach: Hook[];
}

/** All tests of the files that were loaded. */
export const registered = new Map<string, RegisteredTest>();

let open: Suite[] = [];
let pending: Promise<unknown>[] = [];

function newSuite(name: string): Suite {
  return { name, before: [], after: [], beforeEach: [], afterEach: [] };
}

/** Loads a test file, whose tests are then in `registered`. */
export async function loadTests(file: string, load: () => Promise<unknown>): Promise<void> {
  open = [newSuite(file)];
  pending = [];
  await load();
  await Promise.all(pending);
}

/** What a test gets: the parts of Node's context that the tests use. */
export class HarnessContext {
  readonly name: string;
  readonly mock = Reflect.construct(mock.constructor, []) as typeof mock;
  readonly signal: AbortSignal = new AbortController().signal;
  readonly #after: Hook[] = [];
  readonly #subtests: Promise<void>[] = [];

  constructor(name: string) {
    this.name = name;
  }

  after(hook: Hook): void {
    this.#after.push(hook);
  }

  diagnostic(): void {}

  skip(): void {}

  /** Runs a subtest; its failure is the failure of the whole test. */
  test(...given: readonly unknown[]): Promise<void> {
    const { name, body, isSkipped } = readArguments(given);
    const running = isSkipped ? Promise.resolve() : runBody(new HarnessContext(name), body);
    this.#subtests.push(running);
    running.catch(() => undefined);
    return running;
  }

  /** Waits for subtests and runs the hooks, also after a failure. */
  async end(): Promise<void> {
    const results = await Promise.allSettled(this.#subtests);
    for (const hook of this.#after.toReversed()) await hook(this);
    this.mock.reset();
    this.mock.timers.reset();
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }
}

async function runBody(context: HarnessContext, body: Body): Promise<void> {
  try {
    await body(context);
  } finally {
    await context.end();
  }
}

/** Runs one test with the hooks of its suites. Rejects if the test fails. */
export async function runTest({ id, suites, body }: RegisteredTest): Promise<void> {
  const context = new HarnessContext(id);
  try {
    for (const around of suites) for (const hook of around.before) await hook(context);
    for (const around of suites) for (const hook of around.beforeEach) await hook(context);
    await runBody(context, body);
  } finally {
    for (const around of suites.toReversed()) for (const hook of around.afterEach) await hook(context);
    for (const around of suites.toReversed()) for (const hook of around.after) await hook(context);
  }
}

interface Arguments {
  readonly name: string;
  readonly body: Body;
  readonly isSkipped: boolean;
}

function readArguments(given: readonly unknown[]): Arguments {
  const name = given.find((one) => typeof one === "string") ?? "";
  const body = given.find((one) => typeof one === "function") as Body | undefined;
  const options: { readonly skip?: unknown; readonly todo?: unknown } | undefined = given.find(
    (one) => typeof one === "object" && one !== null,
  );
  const isSkipped = [options?.skip, options?.todo].some((value) => value !== undefined && value !== false);
  return { name, body: body ?? (() => undefined), isSkipped: isSkipped || body === undefined };
}

/** @see `node:test` */
export function test(...given: readonly unknown[]): Promise<void> {
  const { name, body, isSkipped } = readArguments(given);
  if (isSkipped) return Promise.resolve();
  const path = [...open.map((around) => around.name), name].join(" > ");
  let id = path;
  for (let again = 2; registered.has(id); again += 1) id = `${path} #${again}`;
  registered.set(id, { id, suites: open, body });
  return Promise.resolve();
}

/** @see `node:test` */
export function describe(...given: readonly unknown[]): Promise<void> {
  const { name, body, isSkipped } = readArguments(given);
  if (isSkipped) return Promise.resolve();
  const around = open;
  open = [...around, newSuite(name)];
  pending.push(Promise.resolve(body(new HarnessContext(name))));
  open = around;
  return Promise.resolve();
}

/** @see `node:test` */
export function it(...given: readonly unknown[]): Promise<void> {
  return test(...given);
}

/** @see `node:test` */
export function suite(...given: readonly unknown[]): Promise<void> {
  return describe(...given);
}

function addHook(kind: "before" | "after" | "beforeEach" | "afterEach", hook: Hook): void {
  open.at(-1)?.[kind].push(hook);
}

/** @see `node:test` */
export function before(hook: Hook): void {
  addHook("before", hook);
}

/** @see `node:test` */
export function after(hook: Hook): void {
  addHook("after", hook);
}

/** @see `node:test` */
export function beforeEach(hook: Hook): void {
  addHook("beforeEach", hook);
}

/** @see `node:test` */
export function afterEach(hook: Hook): void {
  addHook("afterEach", hook);
}

export { mock };

import type { TestContext } from "node:test";

/** What ends some time, and then ends what was started for it: a test, or a program. */
export type Ending = Pick<TestContext, "after">;

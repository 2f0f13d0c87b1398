import type { HookPlaces } from "./hooks.ts";

/** What a test reached when no mutant was active. */
export interface TestRecord {
  readonly id: string;
  readonly ms: number;
  /** The numbers of the mutants whose place it executed. */
  readonly reached: readonly number[];
  /** Why the test cannot be used: it fails here even without a mutant. */
  readonly problem: string | null;
}

/** What the process that runs tests is asked to do. */
export type Order =
  | {
      readonly kind: "load";
      readonly places: HookPlaces;
      /** URLs of compiled test files. */
      readonly files: readonly string[];
      readonly mutants: number;
      /** The mutant that is active from the first import on; -1 for none. */
      readonly active: number;
    }
  | {
      readonly kind: "measure";
      /** Tests that need not be measured again. */
      readonly known: readonly string[];
    }
  | { readonly kind: "try"; readonly mutant: number; readonly tests: readonly { id: string; timeoutMs: number }[] };

/** What it answers. */
export type Answer =
  | { readonly kind: "loaded"; readonly reached: readonly number[]; readonly problem: string | null }
  | { readonly kind: "measured"; readonly test: TestRecord }
  | { readonly kind: "complete" }
  | { readonly kind: "running"; readonly id: string }
  | {
      readonly kind: "tried";
      readonly killedBy: string | null;
      readonly message: string;
      /** The test also fails without the mutant now: the process has to be replaced. */
      readonly isSpoilt: boolean;
    };

/** The names that commands had in version 0.1, and those of now. They work until 2.0 (docs/cli.md). */

/** One old name. Words in capitals stand for arguments, which may stand anywhere in the line. */
export interface OldName {
  readonly was: string;
  readonly is: string;
}

export const oldNames: readonly OldName[] = [
  { was: "simulate", is: "demo cluster" },
  { was: "pools", is: "status pools" },
  { was: "verify", is: "status routes" },
  { was: "fleet drain MEMBER", is: "drain --member MEMBER" },
  { was: "fleet undrain MEMBER", is: "drain --member MEMBER --end" },
  { was: "fleet", is: "status fleet" },
  { was: "distrust NODE", is: "drain NODE --distrust" },
  { was: "trust NODE", is: "drain NODE --distrust --end" },
  { was: "undrain NODE", is: "drain NODE --end" },
  { was: "drains", is: "drain --list" },
  { was: "failover", is: "cluster failover" },
  { was: "config", is: "cluster config" },
  { was: "restart NODE", is: "node restart NODE" },
  { was: "reload NODE", is: "node reload NODE" },
  { was: "reinitialize NODE", is: "node reinitialize NODE" },
  { was: "validate FILE", is: "doctor FILE --offline" },
  { was: "contexts", is: "context list" },
  { was: "schema", is: "result schema" },
];

/**
 * What kind of cluster is modelled. `plain`: asynchronous replication. `sync` and `sync-two`: one or two synchronous
 * standbys. `quorum`: all standbys vote (Patroni 4 alone). `standby`: its leader replicates from a primary elsewhere.
 */
export type Mode = "plain" | "sync" | "sync-two" | "quorum" | "standby";

export const modes: readonly Mode[] = ["plain", "sync", "sync-two", "quorum", "standby"];

/** How many standbys of a cluster are synchronous at most. */
export const syncMax: Readonly<Record<Mode, number>> = {
  plain: 0,
  sync: 1,
  "sync-two": 2,
  quorum: Infinity,
  standby: 0,
};

/** All modes, or those of a list of names with commas. */
export function modesOf(names: string | null): readonly Mode[] {
  const wanted = names?.split(",") ?? modes;
  const unknown = wanted.find((name) => !modes.some((mode) => mode === name));
  if (unknown !== undefined)
    throw new Error(`Cannot read --modes: it must name some of ${modes.join()}, got ${unknown}`);
  return modes.filter((mode) => wanted.includes(mode));
}

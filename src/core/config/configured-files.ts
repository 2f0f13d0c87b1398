import type { Config, TlsFiles } from "./model/config.ts";

/** Files that a key names: those of TLS, or one with a secret on its first line. */
export type ConfiguredFiles =
  | { readonly key: string; readonly tls: TlsFiles | null }
  /** `null`: the key is left out. */
  | { readonly key: string; readonly secret: string | null };

/** Finds the files that the part of a feature names. */
export type FindConfiguredFiles = (config: Config) => readonly ConfiguredFiles[];

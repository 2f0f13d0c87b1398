/**
 * The dialects that features bring. A feature adds its own by declaration merging, beside its row:
 * `declare module ".../config/values/listener-dialect.ts" { interface FeatureDialects { readonly xds: true } }`.
 */
export interface FeatureDialects {}

/** What a listener speaks. */
export type DialectName = "node" | "admin" | "exporter" | "agent" | keyof FeatureDialects;

/** A dialect that a feature brings, as the configuration knows it. */
export interface ListenerDialect {
  readonly name: keyof FeatureDialects;
  /** What it is, for the reference: `Envoy's endpoint discovery (gRPC): the entries of pools`. */
  readonly meaning: string;
  /** What its listeners speak. */
  readonly protocol: "http2";
  /** The keys that only its listeners have. */
  readonly ownKeys: readonly string[];
  /** The keys of the core that its listeners lack, besides those of HTTP and of tokens. */
  readonly lacks: readonly string[];
  /** Why it lacks a key, where that says what to write: it follows "because the dialect is …". */
  readonly reasons: Readonly<Record<string, string>>;
}

import type { AlertOptions } from "./alert-options.ts";

/** One alert of the rendered rules. Its section in docs/alerts.md has its name. */
export interface AlertRule {
  readonly name: string;
  /** `critical`: needs a person at once. */
  readonly severity: "critical" | "warning";
  readonly expr: (options: AlertOptions) => string;
  /** How long the expression must hold before the alert fires (`for`); `null`: it fires at once. */
  readonly pending: string | null;
  /** One line, in the template language of Prometheus. */
  readonly summary: string;
  readonly description: string;
}

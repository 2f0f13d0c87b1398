import type { RouteAudit, RouteAuditContext } from "../audit/route-audit.ts";
import type { AuditedTarget, RouteFinding } from "../cluster/route-finding.ts";
import type { AuditedConfig, ReadAcknowledgements } from "../audit/audit-targets.ts";
import { HostAddresses } from "../push/host-addresses.ts";

/** What the audit of the routes depends on. */
export interface RouteAuditsContext extends Omit<RouteAuditContext, "resolve"> {
  /** Whether the Envoys of a listener have what they were sent. */
  readonly lackingAcknowledgements: ReadAcknowledgements;
  /** Called if what the audit needs cannot be loaded. */
  readonly onLoadError: (error: unknown) => void;
}

/** The audit of where traffic goes. Without a target nothing of it is loaded, and nothing runs. */
export class RouteAudits {
  readonly #context: RouteAuditsContext;
  #audit: RouteAudit | null = null;
  #config: AuditedConfig | null = null;
  #isLoading = false;

  constructor(context: RouteAuditsContext) {
    this.#context = context;
  }

  /** Looks at the targets of this configuration from now on. */
  configure(config: AuditedConfig): void {
    this.#config = isAudited(config) ? config : null;
    if (this.#audit !== null || this.#config === null) void this.#apply();
    else if (!this.#isLoading) void this.#load();
  }

  /** The state of a cluster may have changed. */
  clusterChanged(cluster: string): void {
    this.#audit?.clusterChanged(cluster);
  }

  /** What was found that concerns a cluster, the worst first. */
  findings(cluster: string): readonly RouteFinding[] {
    return this.#audit?.findings(cluster) ?? [];
  }

  /** What is known of each target. */
  get targets(): readonly AuditedTarget[] {
    return this.#audit?.targets ?? [];
  }

  /** How often each target is looked at, in ms; 0: nothing is looked at. */
  get intervalMs(): number {
    return this.#config?.audit.intervalMs ?? 0;
  }

  stop(): void {
    this.#config = null;
    this.#audit?.stop();
  }

  async #load(): Promise<void> {
    this.#isLoading = true;
    try {
      const { RouteAudit: Audit } = await import("../audit/route-audit.ts");
      const hosts = new HostAddresses(this.#context.now);
      this.#audit = new Audit({ ...this.#context, resolve: (host) => hosts.resolved(host) });
      await this.#apply();
    } catch (error) {
      this.#context.onLoadError(error);
    } finally {
      this.#isLoading = false;
    }
  }

  async #apply(): Promise<void> {
    const config = this.#config;
    if (config === null) return this.#audit?.configure([], 0);
    const { auditTargets } = await import("../audit/audit-targets.ts");
    if (config === this.#config) {
      const targets = auditTargets(config, this.#context.lackingAcknowledgements);
      this.#audit?.configure(targets, config.audit.intervalMs);
    }
  }
}

function isAudited({ audit, balancers, poolers, listen }: AuditedConfig): boolean {
  const targets = [...balancers, ...poolers, ...audit.envoys, ...listen.flatMap(({ xds }) => xds ?? [])];
  return audit.intervalMs > 0 && targets.length > 0;
}

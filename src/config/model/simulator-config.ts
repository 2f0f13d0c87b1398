/**
 * The `simulator` section of a configuration file: a simulated cluster to run with rolecall, as the demo does. It
 * is no part of `Config`: the service never sees it. `rolecall serve` starts the simulator before the service.
 */
export interface SimulatorConfig {
  readonly nodes: number;
  /** Port of the first node on 127.0.0.1. The others have the ports after it. */
  readonly port: number;
}

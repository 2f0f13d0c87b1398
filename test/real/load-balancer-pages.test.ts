/**
 * docs/haproxy.md and docs/envoy.md as a reader follows them: every command of the page, in order, in one folder, and
 * the output that the page shows.
 */
import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { balancerPrograms } from "./lab/balancer-programs.ts";
import { Child } from "./lab/child.ts";
import { removeAtExit } from "./lab/reaper.ts";
import { program } from "./lab/rolecall.ts";
import { takenOf } from "../fake/free-port.ts";
import { until } from "../fake/until.ts";

/** The ports that the pages name, and the defaults that they do not name. */
const portsOfPages = [5000, 5001, 8007, 8008, 8010, 8404, 9108, 9901, 18_008, 18_009, 18_010];

const programs = balancerPrograms();
for (const page of ["haproxy", "envoy"]) {
  const found = programs.find(({ kind }) => kind === page)?.found;
  const missing = found === undefined ? "no program" : "notRun" in found ? found.notRun : undefined;
  test(
    `docs/${page}.md: every command works, and prints what the page shows`,
    { timeout: 120_000 },
    async (context) => {
      if (missing !== undefined || found === undefined || "notRun" in found)
        return context.skip(`not run: ${missing ?? ""}`);
      const taken = await takenOf(portsOfPages);
      if (taken.length > 0) return context.skip(`not run: the page's ports ${taken.join(", ")} are taken`);
      const reader = new Reader({ name: page, path: found.path });
      try {
        const [production, ...trial] = blocksOf(`docs/${page}.md`);
        if (production === undefined) throw new Error(`docs/${page}.md must have sh blocks`);
        await reader.follow({ commands: [...ownCluster, ownConfiguration(page)], output: null });
        await reader.follow(production);
        await reader.stopChildren();
        for (const block of trial) await reader.follow(block);
      } finally {
        await reader.stop();
      }
    },
  );
}

/** Stands for the reader's own cluster and configuration, which the first block of a page needs. */
const ownCluster = ["rolecall demo cluster & simulator=$!", "curl -sf http://127.0.0.1:18008/leader"];

/** Writes the reader's own configuration: with what the page has shown until then. */
function ownConfiguration(page: string): string {
  const clusters = `clusters: [{ name: demo, discover: ["http://127.0.0.1:18008"] }]`;
  const pools =
    "pools: [{ name: orders-write, check: /primary }], listen: [{ port: 8008 }, { port: 8010, dialect: xds }]";
  return `echo '${page === "envoy" ? `{ ${clusters}, ${pools} }` : clusters}' > rolecall.yaml`;
}

/** A `sh` block, and the `text` block below it: the output of its last command. */
interface Block {
  readonly commands: readonly string[];
  readonly output: string | null;
}

function blocksOf(file: string): readonly Block[] {
  const fenced = [...readFileSync(file, "utf8").matchAll(/^```(\w+)\n(.*?)^```$/gms)];
  return fenced.flatMap(([, language, text = ""], at) => {
    if (language !== "sh") return [];
    const [, nextLanguage, nextText = ""] = fenced[at + 1] ?? [];
    return [{ commands: text.trim().split("\n"), output: nextLanguage === "text" ? nextText : null }];
  });
}

/** Someone who types the commands of a page into a shell. */
class Reader {
  readonly #folder = mkdtempSync(join(tmpdir(), "rolecall-page-"));
  readonly #children = new Map<string, Child>();
  readonly #pids: Record<string, string> = {};

  constructor(balancer: { readonly name: string; readonly path: string }) {
    removeAtExit(this.#folder);
    const command = join(this.#folder, "rolecall");
    writeFileSync(command, `#!/bin/sh\nexec ${process.execPath} ${program} "$@"\n`);
    chmodSync(command, 0o755);
    symlinkSync(balancer.path, join(this.#folder, balancer.name));
  }

  /** Types the commands of a block. The last one is repeated for 20 s until it prints what the page shows. */
  async follow({ commands, output }: Block): Promise<void> {
    for (const command of commands.slice(0, -1)) await this.#type(command);
    const last = commands.at(-1) ?? "";
    if (output === null) return this.#type(last);
    let printed = "";
    const wait = { what: `${last}\n${output}`, evidence: () => `printed:\n${printed}\n${this.#tails}` };
    await until(wait, async () => (printed = (await this.#run(last)).output) === output);
  }

  /** Ends what runs in the background. */
  async stopChildren(): Promise<void> {
    for (const child of this.#children.values()) await child.stop("SIGKILL");
  }

  async stop(): Promise<void> {
    await this.stopChildren();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Types one command; it has 20 s to succeed, as those before it may not be ready yet. */
  async #type(line: string): Promise<void> {
    const [, command = "", variable = ""] = /^(.*) & (\w+)=\$!$/.exec(line) ?? [];
    if (variable === "") {
      let last = "";
      const wait = { what: `success of ${line}`, evidence: () => `${last}\n${this.#tails}` };
      await until(wait, async () => {
        const { code, output } = await this.#run(line);
        last = output;
        return code === 0;
      });
      return;
    }
    const shell = ["/bin/sh", "-c", `PATH="${this.#folder}:$PATH"; exec ${command}`] as const;
    const child = new Child({ name: variable, command: shell, folder: this.#folder });
    this.#children.set(variable, child);
    this.#pids[variable] = String(child.pid);
  }

  #run(command: string): Promise<{ readonly code: number; readonly output: string }> {
    const env = { PATH: `${this.#folder}:/usr/sbin:/usr/bin:/sbin:/bin`, LANG: "C.UTF-8", ...this.#pids };
    return new Promise((resolve) => {
      execFile("/bin/sh", ["-c", command], { cwd: this.#folder, env, timeout: 20_000 }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : 1, output: error === null ? stdout : `${stdout}${stderr}` }),
      );
    });
  }

  get #tails(): string {
    return [...this.#children.values()].map(({ tail }) => tail).join("\n");
  }
}

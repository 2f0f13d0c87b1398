import { accessSync, constants, existsSync } from "node:fs";
import type { ConfiguredFiles } from "../../config/configured-files.ts";
import type { Config, TlsFiles } from "../../config/model/config.ts";
import { tlsProblems, type TlsProblem, type TlsProblemKind } from "../../config/tls-problems.ts";
import { errorMessage } from "../../cluster/values/error-message.ts";
import type { ResultBuilder } from "../result/builder.ts";
import type { RuleId } from "../result/rule-ids.ts";

const tlsRules: { readonly [kind in TlsProblemKind]: RuleId } = {
  unusable: "RC111",
  expired: "RC109",
  expiring: "RC109",
  not_yet_valid: "RC115",
  readable_by_others: "RC114",
};

/** For a file that is not there, as on the machine of a developer. */
const missingFile =
  "Create the file, or correct its name: paths are relative to the folder of the configuration. " +
  "rolecall doctor FILE --offline --no-files checks the rest without it.";

/** Reports a problem with a TLS file or certificate. @param subject what uses it: `listen[0].tls` */
export function diagnoseTls(result: ResultBuilder, problem: TlsProblem, subject: string | null): void {
  const { kind, file, message } = problem;
  result.diagnose(tlsRules[kind], {
    message: subject === null ? message : `${subject}: ${message}`,
    ...(kind === "expired" ? { severity: "error" as const } : {}),
    ...(file.startsWith("/") ? { location: { file, kind: "source" as const } } : {}),
    ...(file.startsWith("/") && !existsSync(file) ? { action: missingFile } : {}),
  });
}

/**
 * Checks the files of the listeners: certificates, keys, CA certificates (RC109, RC111, RC114, RC115), tokens
 * (RC006).
 * @returns how many listeners have TLS
 */
export function checkListenerFiles(result: ResultBuilder, { listen }: Pick<Config, "listen">): number {
  for (const [index, { access }] of listen.entries()) {
    const { tls, auth, hintTokens, pauseTokens, beforeStopTokens } = access;
    if (tls !== null)
      for (const problem of tlsProblems(tls, Date.now())) diagnoseTls(result, problem, `listen[${index}].tls`);
    checkTokenFiles(result, auth?.bearer ?? [], `listen[${index}].auth.bearer`);
    checkTokenFiles(result, hintTokens, `listen[${index}].hint_tokens`);
    checkTokenFiles(result, pauseTokens, `listen[${index}].pause_tokens`);
    for (const [at, { file }] of beforeStopTokens.entries())
      checkSecretFile(result, file, `listen[${index}].before_stop_tokens[${at}].file`);
  }
  return listen.filter(({ access }) => access.tls !== null).length;
}

function checkTokenFiles(result: ResultBuilder, files: readonly string[], key: string): void {
  for (const [at, file] of files.entries()) checkSecretFile(result, file, `${key}[${at}]`);
}

/**
 * Checks the TLS files for connections to the nodes and the DCS of each cluster. A problem with files that several
 * clusters share is one finding.
 */
export function checkClusterFiles(result: ResultBuilder, { clusters }: Pick<Config, "clusters">): void {
  const found = new Map<string, { readonly problem: TlsProblem; readonly users: string[] }>();
  for (const { name, tls, dcs } of clusters) {
    for (const [files, user] of [[tls, name] as const, [dcs?.tls ?? null, `${name} (dcs)`] as const]) {
      for (const problem of files === null ? [] : tlsProblems(files, Date.now())) {
        const key = `${problem.kind} ${problem.message}`;
        const known = found.get(key);
        if (known === undefined) found.set(key, { problem, users: [user] });
        else known.users.push(user);
      }
    }
  }
  for (const { problem, users } of found.values())
    diagnoseTls(result, problem, `${users.length === 1 ? "cluster" : "clusters"} ${users.join(", ")}`);
}

/** Checks files that the configuration names (RC006, RC109, RC111, RC114, RC115). */
export function checkNamedFiles(result: ResultBuilder, all: readonly ConfiguredFiles[]): void {
  for (const named of all)
    if ("tls" in named) checkTlsFiles(result, named.tls, named.key);
    else checkSecretFile(result, named.secret, named.key);
}

/** The files for the consoles of poolers. */
export function poolerFiles({ poolers }: Pick<Config, "poolers">): readonly ConfiguredFiles[] {
  return poolers.flatMap(({ pgbouncer: { tls, passwordFile: secret } }, index) => {
    const key = `poolers[${index}].pgbouncer`;
    return [
      { key: `${key}.tls`, tls },
      { key: `${key}.password_file`, secret },
    ];
  });
}

function checkTlsFiles(result: ResultBuilder, tls: TlsFiles | null, key: string): void {
  for (const problem of tls === null ? [] : tlsProblems(tls, Date.now())) diagnoseTls(result, problem, key);
}

function checkSecretFile(result: ResultBuilder, file: string | null, key: string): void {
  const problem = file === null ? null : readProblem(file);
  if (file !== null && problem !== null)
    result.diagnose("RC006", {
      message: `${key}: ${file} cannot be read: ${problem}`,
      location: { file, kind: "source" },
    });
}

function readProblem(file: string): string | null {
  try {
    accessSync(file, constants.R_OK);
    return null;
  } catch (error) {
    return errorMessage(error);
  }
}

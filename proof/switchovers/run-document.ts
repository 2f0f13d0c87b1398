/** A seamless switchover as a client of the admin API sees it. */
import { setTimeout as sleep } from "node:timers/promises";
import { ask, type Reply } from "../../test/real/lab/ask.ts";

/** What `GET /clusters/{cluster}/switchover/run` answers, as far as the proof reads it. */
export interface RunDocument {
  readonly run: string;
  readonly leader: string;
  readonly candidate: string | null;
  readonly started_at: string;
  readonly elapsed_ms: number;
  readonly state: string;
  readonly deadline_in_ms: number | null;
  readonly preflight: readonly { readonly level: string; readonly subject: string; readonly text: string }[];
  readonly forecast_ms: number | null;
  readonly steps: readonly { readonly step: string; readonly text: string | null; readonly after_ms: number }[];
  readonly targets: readonly {
    readonly pooler: string;
    readonly database: string;
    readonly phase: string | null;
    readonly held_ms: number | null;
  }[];
  readonly outcome: null | {
    readonly kind: string;
    readonly reason?: string;
    readonly node?: string;
    readonly status?: number;
  };
  readonly text: string | null;
}

/** What is asked for, beside `seamless`. */
export interface SwitchoverRequest {
  readonly leader?: string | null;
  readonly candidate?: string | null;
  readonly deadline?: string;
  readonly route_wait?: string;
  readonly unguarded?: boolean;
}

/** The admin listener of a rolecall: its port on 127.0.0.1 and a token. */
export interface AdminApi {
  readonly port: number;
  readonly token: string;
}

const path = "/clusters/demo/switchover";

export function postSwitchover(api: AdminApi, request: SwitchoverRequest, query = ""): Promise<Reply> {
  return call(api, `${path}${query}`, { seamless: true, ...request });
}

/** The run that runs, or ran last; `null` if there is none, or no answer. */
export async function currentRun({ port }: AdminApi): Promise<RunDocument | null> {
  const { status, body } = await ask({ port, path: `${path}/run` });
  return status === 200 ? (JSON.parse(body) as RunDocument) : null;
}

/**
 * Asks for a switchover and follows it to its end.
 * @param onState called with each document that shows another state than the one before
 * @throws Error if it does not start, or does not end within `seconds`
 */
export async function runSwitchover(
  api: AdminApi,
  request: SwitchoverRequest,
  {
    seconds = 90,
    onState = () => {},
  }: { readonly seconds?: number; readonly onState?: (run: RunDocument) => void } = {},
): Promise<RunDocument> {
  return followRun(api, await postSwitchover(api, request), { seconds, onState });
}

/** Asks for a restart of the database of a node, and follows it to its end. @throws Error as {@link runSwitchover} */
export async function runRestart(
  api: AdminApi,
  node: string,
  request: Pick<SwitchoverRequest, "deadline" | "unguarded"> & { readonly onState?: (run: RunDocument) => void },
): Promise<RunDocument> {
  const { onState = () => {}, ...body } = request;
  const to = `/clusters/demo/nodes/${node}/restart`;
  return followRun(api, await call(api, to, { seamless: true, ...body }), { seconds: 120, onState });
}

async function followRun(
  api: AdminApi,
  { status, body }: Reply,
  { seconds, onState }: { readonly seconds: number; readonly onState: (run: RunDocument) => void },
): Promise<RunDocument> {
  if (status !== 202) throw new Error(`Cannot start a run: rolecall must answer 202, got ${status} ${body}`);
  const { run } = JSON.parse(body) as { readonly run: string };
  const untilMs = performance.now() + seconds * 1_000;
  let last: RunDocument | null = null;
  for (;;) {
    const found = await currentRun(api);
    if (found?.run === run) {
      if (found.state !== last?.state) onState(found);
      last = found;
      if (found.state === "ended") return found;
    }
    if (performance.now() > untilMs)
      throw new Error(`Cannot follow the switchover: it must end within ${seconds} s, got ${JSON.stringify(last)}`);
    await sleep(20);
  }
}

function call({ port, token }: AdminApi, to: string, body: object): Promise<Reply> {
  const headers = { Authorization: `Bearer ${token}` };
  return ask({ port, path: to, method: "POST", body, headers, deadlineMs: 5_000 });
}

/** How long each step took, in ms; a step that was not taken is absent. */
export interface Shares {
  /** The checks and the intent: nobody waits. */
  readonly before: number;
  /** PAUSE, answered and read back. */
  readonly pause: number;
  /** From the request until rolecall's yes for the new primary. */
  readonly switch: number;
  readonly route: number;
  readonly resume: number;
}

/** @returns `null` unless every step was taken */
export function sharesOf({ steps }: RunDocument): Shares | null {
  const at = (name: string): number | undefined => steps.find(({ step }) => step === name)?.after_ms;
  const [armed, requested, writable] = [at("armed"), at("requested"), at("writable")];
  const [routed, resumed] = [at("routed"), at("resumed")];
  if (armed === undefined || requested === undefined || writable === undefined) return null;
  if (routed === undefined || resumed === undefined) return null;
  return {
    before: armed,
    pause: requested - armed,
    switch: writable - requested,
    route: routed - writable,
    resume: resumed - routed,
  };
}

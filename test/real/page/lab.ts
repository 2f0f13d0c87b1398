import type { TestContext } from "node:test";
import type { Browser } from "puppeteer-core";
import type { App } from "../../../src/app/app.ts";
import type { Config } from "../../../src/core/config/model/config.ts";
import type { ListenerAccess } from "../../../src/core/config/model/listener-access-config.ts";
import { unrestrictedAccess } from "../../../src/core/config/model/listener-access-config.ts";
import { startSimulator } from "../../../src/tools/simulator/simulator.ts";
import { appOf, portFor, whole, withQuickProbes } from "../../app/app-fixture.ts";
import { clusterOf, configOf, listenerOf } from "../../fake/config.ts";
import { until } from "../../fake/until.ts";
import { openPage, type WatchedPage } from "./browser.ts";

/** The page of an App over simulated clusters. */
export interface Lab extends WatchedPage {
  readonly app: App;
  /** The address of the page; ends in a slash. */
  readonly url: string;
  /** Sends a fault to the simulator of the first cluster, as `pg1/kill`. */
  readonly fault: (path: string) => Promise<void>;
}

/** What a lab may differ in. */
export interface LabOptions {
  readonly access?: Partial<ListenerAccess>;
  /** Whom the browser signs in as. */
  readonly user?: { readonly username: string; readonly password: string };
  readonly config?: Partial<Pick<Config, "pools" | "poolers" | "stateFile">>;
}

/** Opens the page of an App over simulated clusters of three nodes, one for each scope. */
export async function openLab(
  browser: Browser,
  context: TestContext,
  scopes: readonly string[],
  { access = {}, user, config = {} }: LabOptions = {},
): Promise<Lab> {
  const simulators = await Promise.all(
    scopes.map((scope) =>
      startSimulator({ nodes: 3, port: 0, scope, ttlMs: 3_000, loopWaitMs: 500, retryTimeoutMs: 500 }),
    ),
  );
  for (const simulator of simulators) context.after(() => simulator.stop());
  const clusters = simulators.map(({ nodes }, at) =>
    clusterOf({ name: scopes[at] ?? "", scope: scopes[at] ?? "", discover: nodes.map(({ url }) => url) }),
  );
  const admin = listenerOf({ dialect: "admin", access: { ...unrestrictedAccess, ...access } });
  const app = appOf(context, withQuickProbes(configOf({ clusters, listen: [admin, whole], ...config })));
  await app.start();
  const url = `http://127.0.0.1:${portFor(app, admin)}/`;
  const fault = async (path: string): Promise<void> => {
    await fetch(`${simulators[0]?.nodes[2]?.url}/sim/${path}`, { method: "POST" });
  };
  return { app, url, fault, ...(await openPage(browser, url, context, user)) };
}

/** Waits until the text of an element matches. */
export function sees({ text }: WatchedPage, selector: string, wanted: RegExp): Promise<string> {
  let last = "";
  return until({ what: `${selector}: ${String(wanted)}`, evidence: () => last }, async () => {
    last = await text(selector);
    return wanted.test(last) && last;
  });
}

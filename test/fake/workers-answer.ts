import { sendRequest } from "./http-request.ts";
import { until } from "./until.ts";

/**
 * Waits until so many workers answer. Before that the main process does.
 * @param admin the base URL of an admin listener
 */
export function workersAnswer(admin: string, count: number): Promise<boolean> {
  return until({ what: `${count} workers that answer`, seconds: 60 }, async () =>
    new RegExp(`^rolecall_workers ${count}$`, "m").test((await sendRequest(`${admin}/metrics`)).body),
  );
}

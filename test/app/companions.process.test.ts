import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../fake/until.ts";
import { appOf, limit } from "./app-fixture.ts";
import { workersAnswer } from "../fake/workers-answer.ts";

import { answerOf, pooled } from "./pooled-fixture.ts";

test("workers answer as the main process does", limit, async (context) => {
  const { poolers, configWith } = await pooled(context);
  const app = appOf(context, { ...configWith([{}]), workers: 2 });
  await app.start();
  const admin = app.listeners.find(({ config }) => config.dialect === "admin")?.port ?? 0;
  await workersAnswer(`http://127.0.0.1:${admin}`, 2);
  const path = "/nodes/pg2/replica?with=pgbouncer";
  const answers = async (): Promise<ReadonlySet<string>> =>
    new Set(await Promise.all(Array.from({ length: 8 }, () => answerOf(app, path))));
  assert.deepEqual(await answers(), new Set(["200 OK"]));
  await poolers[1].stop();
  await until("every worker refuses", async () => {
    const found = await answers();
    return found.size === 1 && found.has("503 companion pgbouncer refused");
  });
  await poolers[1].start();
  await until("no worker refuses", async () => {
    const found = await answers();
    return found.size === 1 && found.has("200 OK");
  });
});

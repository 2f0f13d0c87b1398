import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import { featureIn, type RunningFeature } from "../../../src/app/host/running-feature.ts";
import { switchover } from "../../../src/features/switchover/feature.ts";
import {
  type LoweredSetting,
  type PauseIntent,
  writtenIntents,
} from "../../../src/features/switchover/intent/pause-intent.ts";
import { configOf, listenerOf } from "../../fake/config.ts";
import { featuresContext } from "../../fake/features-context.ts";
import { FakePgbouncer } from "../../fake/fake-pgbouncer.ts";
import { PausableConsole } from "../../fake/pausable-console.ts";
import { temporaryFolder } from "../../fake/temporary-folder.ts";
import { until } from "../../fake/until.ts";

/** A process whose configuration has no pooler any more, beside a file with what an earlier process has left. */
async function started(
  context: TestContext,
  left: readonly PauseIntent[] | "no file",
  lowered: readonly LoweredSetting[] = [],
): Promise<Started> {
  const stateFile = join(temporaryFolder("left"), "state");
  if (left !== "no file") writeFileSync(`${stateFile}.pauses`, writtenIntents({ intents: left, lowered }));
  const feature = featureIn(switchover, featuresContext());
  context.after(() => feature.end());
  const configure = (): void => feature.configure(configOf({ clusters: [], stateFile }));
  configure();
  await feature.opened();
  return { feature, configure, pauses: `${stateFile}.pauses` };
}

interface Started {
  readonly feature: RunningFeature;
  readonly configure: () => void;
  readonly pauses: string;
}

async function leftAt(context: TestContext): Promise<readonly [PausableConsole, PauseIntent]> {
  const pgbouncer = await new PausableConsole(["a"]).listen(context);
  pgbouncer.paused.add("a");
  const target = { pooler: "pgb1", database: "a", console: pgbouncer.target };
  return [pgbouncer, { run: "r1", cluster: "orders", deadlineWallMs: 0, targets: [target], finish: null }];
}

describe("a configuration that does not use seamless switchovers", () => {
  test("opens nothing if no earlier process has left anything", async (context) => {
    const { feature } = await started(context, "no file");
    assert.equal(feature.state, "unused");
  });

  test("resumes what an earlier process has left, and closes after that", async (context) => {
    const [pgbouncer, intent] = await leftAt(context);
    const { feature, configure, pauses } = await started(context, [intent]);
    assert.equal(feature.state, "open");
    await until("the end of the pause", () => !pgbouncer.paused.has("a"));
    await until("an empty list", () => existsSync(pauses) && !readFileSync(pauses, "utf8").includes("pgb1"));
    await until("its end at a reload", () => {
      configure();
      return feature.state === "unused";
    });
  });

  test("sets back the login retry that an earlier process has lowered, and has not restored", async (context) => {
    const pgbouncer = await FakePgbouncer.start(context);
    pgbouncer.settings.set("server_login_retry", "0.1");
    const { pauses } = await started(context, [], [{ pooler: "pgb1", console: pgbouncer.target, before: "15" }]);
    await until("the old value", () => pgbouncer.settings.get("server_login_retry") === "15");
    await until("an empty list", () => !readFileSync(pauses, "utf8").includes("pgb1"));
  });

  test("keeps open what is not resumed yet, over reloads", async (context) => {
    const [pgbouncer, intent] = await leftAt(context);
    pgbouncer.resumeAnswer = { error: "not now" };
    const { feature, configure } = await started(context, [intent]);
    await until("two tries", () => pgbouncer.changes.length >= 2);
    configure();
    assert.equal(feature.state, "open");
    pgbouncer.resumeAnswer = null;
    await until("the end of the pause", () => !pgbouncer.paused.has("a"));
  });

  test("closes after a list without anything in it", async (context) => {
    const { feature, configure } = await started(context, []);
    configure();
    assert.equal(feature.state, "unused");
  });
});

describe("seamless switchovers are in use", () => {
  const access = listenerOf({ dialect: "admin" }).access;
  const rows = {
    "with management calls": { management: true },
    "with tokens of peers": { pauseTokens: ["/t"] },
    "with tokens of those who announce stops": { beforeStopTokens: [{ cluster: "orders", file: "/t" }] },
  };
  for (const [name, changes] of Object.entries(rows))
    test(name, () => {
      const listen = [listenerOf({ dialect: "admin", access: { ...access, ...changes } })];
      assert.equal(
        switchover.isUsed(configOf({ clusters: [], listen }), () => false),
        true,
      );
    });

  test("not with a listener alone", () => {
    const admin = configOf({ clusters: [], listen: [listenerOf({ dialect: "admin" })] });
    assert.equal(
      switchover.isUsed(admin, () => false),
      false,
    );
  });
});

/**
 * Rendered configurations of HAProxy and Envoy, run unchanged while instances of rolecall are killed, frozen and
 * restarted: none of that ends a session or sends a write to a replica.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { balancerPrograms } from "./lab/balancer-programs.ts";
import { EchoSession, landings } from "./lab/echo-database.ts";
import { until } from "../fake/until.ts";
import { RenderedLab, type RenderedBalancer } from "./lab/rendered-lab.ts";

const programs = balancerPrograms();
for (const { title, found } of programs)
  if ("notRun" in found) test(`rendered configuration, ${title}`, { skip: `not run: ${found.notRun}` }, () => {});

/** Longer than `max_age` (5.5 s): all evidence of an instance that was frozen is stale when it goes on. */
const frozenMs = 7_000;

describe("rendered configuration", { timeout: 240_000 }, () => {
  let lab: RenderedLab;

  before(async () => {
    lab = await RenderedLab.start(programs);
  });
  after(async () => {
    await lab?.stop();
  });

  test("a rolecall that is killed ends no session, and writes go to the primary alone", async () => {
    const [first] = lab.edges;
    await assertUndisturbed("pg1", async () => {
      await first.stop("SIGKILL");
      await sleep(3_000);
      first.start();
      await first.ready();
    });
  });

  test("a rolecall that is frozen until its evidence is stale ends no session", async () => {
    const [first] = lab.edges;
    await assertUndisturbed("pg1", async () => {
      const thaw = first.freeze();
      await sleep(frozenMs).finally(thaw);
      await first.ready();
    });
  });

  test("a rolecall that is restarted ends no session", async () => {
    const [first] = lab.edges;
    await assertUndisturbed("pg1", async () => {
      await first.stop("SIGTERM");
      first.start();
      await first.ready();
    });
  });

  test("a switchover sends no write to the old primary once one has reached the new primary", async () => {
    const watch = new AbortController();
    const reachedSoFar = lab.balancers.map((): (string | undefined)[] => []);
    const writes = lab.balancers.map(({ writePort }, at) => landings(writePort, watch.signal, reachedSoFar[at]));
    const sessions = await Promise.all(lab.balancers.map(openSessions));
    try {
      await lab.switchOver("pg1", "pg2");
      await lab.settled("pg2");
      const hasGoneOn = (landed: readonly (string | undefined)[]): boolean =>
        landed.filter((name) => name === "pg2").length >= 10;
      await until({ what: "ten writes through each balancer", seconds: 20 }, () => reachedSoFar.every(hasGoneOn));
    } finally {
      watch.abort();
      await Promise.all(writes);
    }
    for (const [index, { title }] of lab.balancers.entries()) {
      const landed = (await writes[index]) ?? [];
      print(`switchover, ${title}`, landed);
      const first = landed.indexOf("pg2");
      assert.deepEqual(reachedIn(landed.slice(0, first)), ["pg1"], `${title}: before the new primary was reached`);
      assert.deepEqual(reachedIn(landed.slice(first)), ["pg2"], `${title}: from then on`);
      const of = (pool: "writes" | "reads", name: string): readonly EchoSession[] =>
        (sessions[index]?.[pool] ?? []).filter(({ database }) => database === name);
      // HAProxy closes them as it marks the server down: the end of each arrives a little later.
      await until(`${title} to close the sessions of the old primary`, () =>
        of("writes", "pg1").every(({ isCut }) => isCut),
      );
      assert.ok(
        of("reads", "pg3").every(({ isCut }) => !isCut),
        `${title}: the reads of the other replica go on`,
      );
    }
    for (const { writes: ofWrites, reads } of sessions) for (const session of [...ofWrites, ...reads]) session.close();
  });

  test("without any rolecall the nodes' own checks decide, and no session ends", async () => {
    await lab.fallbackSettled("pg2");
    await assertUndisturbed("pg2", async () => {
      await Promise.all(lab.edges.map((edge) => edge.stop("SIGKILL")));
      await sleep(5_000);
      for (const edge of lab.edges) edge.start();
      for (const edge of lab.edges) await edge.ready();
    });
  });

  /** Checks that a fault of rolecall ends no session of any balancer, and that no new write reaches a replica. */
  async function assertUndisturbed(primary: string, fault: () => Promise<void>): Promise<void> {
    const sessions = await Promise.all(lab.balancers.map(openSessions));
    const watch = new AbortController();
    const writes = lab.balancers.map(({ writePort }) => landings(writePort, watch.signal));
    try {
      await fault();
      await sleep(2_500); // balancers notice that the instance is back
    } finally {
      watch.abort();
      await Promise.all(writes);
    }
    for (const [index, { title }] of lab.balancers.entries()) {
      print(title, (await writes[index]) ?? []);
      const open = sessions[index];
      const cut = [...(open?.writes ?? []), ...(open?.reads ?? [])].filter(({ isCut }) => isCut);
      assert.deepEqual(
        cut.map(({ database }) => database),
        [],
        `${title}: sessions that were cut`,
      );
      assert.deepEqual(reachedIn((await writes[index]) ?? []), [primary], `${title}: where new writes went`);
    }
    for (const { writes: ofWrites, reads } of sessions) for (const session of [...ofWrites, ...reads]) session.close();
    await lab.settled(primary);
  }
});

interface OpenSessions {
  readonly writes: readonly EchoSession[];
  readonly reads: readonly EchoSession[];
}

/** Opens four write sessions and four read sessions. */
async function openSessions({ title, writePort, readPort }: RenderedBalancer): Promise<OpenSessions> {
  const open = async (port: number): Promise<readonly EchoSession[]> => {
    const sessions: EchoSession[] = [];
    for (let count = 0; count < 4; count++) {
      const session = await EchoSession.open(port);
      assert.ok(session !== undefined, `${title}: port ${port} reaches a database`);
      sessions.push(session);
    }
    return sessions;
  };
  return { writes: await open(writePort), reads: await open(readPort) };
}

function reachedIn(landed: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(landed.filter((name) => name !== undefined))];
}

/** Prints where new write sessions went, equal ones together. */
function print(title: string, landed: readonly (string | undefined)[]): void {
  const runs: { readonly name: string; times: number }[] = [];
  for (const name of landed.map((database) => database ?? "nowhere")) {
    const last = runs.at(-1);
    if (last?.name === name) last.times += 1;
    else runs.push({ name, times: 1 });
  }
  console.log(`${title}: new writes to ${runs.map(({ name, times }) => `${name} x ${times}`).join(", ")}`);
}

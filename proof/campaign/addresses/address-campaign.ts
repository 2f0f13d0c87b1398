import { Chance } from "../chance.ts";
import type { Violation } from "../oracle/scene.ts";
import { type Profile, withTtl } from "../profile.ts";
import type { Said } from "../rolecall/asker.ts";
import { questionOf } from "../rolecall/asker.ts";
import { configurationFor } from "../sim/configuration.ts";
import { virtualMachine } from "../sim/machine.ts";
import { timedOut } from "../sim/network-failures.ts";
import { Subject } from "../sim/subject.ts";
import type { Trace } from "../sim/trace.ts";
import { VirtualAsker } from "../sim/virtual-asker.ts";
import { VirtualNetwork } from "../sim/virtual-network.ts";
import { VirtualTime } from "../sim/virtual-time.ts";
import { addressPlan, type AddressPlan, runMs } from "./address-plan.ts";
import { AddressPromises } from "./address-promises.ts";
import { AddressWorld } from "./address-world.ts";

const tickMs = 100;
/** The distance of two rounds of questions, in ms. */
const askEveryMs = 500;
const cluster = "c1";
const profile: Profile = { ...withTtl(20), slackMs: 25 };

interface AddressOptions {
  readonly armed: Map<string, number>;
  readonly trace?: Trace | null;
  readonly given?: Partial<AddressPlan>;
}

/** What one run gave. */
export interface AddressResult {
  readonly plan: AddressPlan;
  /** The first round of broken promises, and when that was. */
  readonly violations: readonly Violation[];
  readonly atMs: number;
  readonly answers: number;
}

/**
 * One run: rolecall discovers a cluster through configured addresses of which some are hostile, wrong or late, while
 * addresses change. Everything is virtual, and depends on the seed alone.
 * @param armed counts how often each promise applied
 * @param given what the run is made of, in place of what is drawn
 */
export async function addressRun(
  seed: number,
  { armed, trace = null, given = {} }: AddressOptions,
): Promise<AddressResult> {
  const chance = new Chance(Math.imul(seed, 0x9e37_79b1));
  const plan = { ...addressPlan(chance.fork(1)), ...given };
  const time = new VirtualTime();
  const world = new AddressWorld(plan, profile, chance.fork(2));
  const network = new VirtualNetwork({ time, chance: chance.fork(3), trace, addresses: world });
  // A draw without a use: a seed still means the run that it meant when it was found.
  chance.fork(4);
  const machine = virtualMachine({
    time,
    chance: chance.fork(5),
    network: { connect: resolving(network.connect, time, plan), latencyMs: () => network.latencyMs() },
  });
  const nodes = plan.seeds.map(({ origin }, at) => ({ name: `seed${at}`, api: origin }));
  const config = configurationFor(
    { watched: { name: cluster, scope: cluster, isDiscovered: true, nodes }, shape: { surviveMs: 0 } },
    profile,
    { hasDcs: false, stateFile: null },
  );
  const subject = new Subject({ config, machine, hasWorker: false, cluster, pushed: [] });
  const asker = new VirtualAsker(() => subject, time);
  const promises = new AddressPromises(world, profile, armed);
  const names = [...world.world.nodes.map(({ name }) => name), "evil"];
  let violations: readonly Violation[] = [];
  let atMs = 0;
  const every = (ms: number, run: () => void): void => {
    run();
    time.after("world", ms, () => every(ms, run));
  };
  every(tickMs, () => {
    world.tick(time.nowMs);
    network.tick();
    promises.feed(time.nowMs);
  });
  await subject.restore();
  let failure: unknown = null;
  time.after("delivery", 0, () => {
    subject.begin().then(
      () => (promises.startedMs = time.nowMs),
      (error: unknown) => (failure = error),
    );
  });
  every(askEveryMs, () => {
    if (violations.length > 0) return;
    const said: Said[] = [];
    for (const name of names)
      for (const check of ["/primary", "/replica"]) said.push(asker.askNow(questionOf(cluster, name, check)));
    if (trace !== null)
      for (const { node, check, status, word } of said)
        trace.add(time.nowMs, `${node}${check}: ${status} ${word?.reason} at ${subject.addressOf(node ?? "")}`);
    atMs = time.nowMs;
    violations = promises.judge({ nowMs: atMs, said, addressOf: (member) => subject.addressOf(member) });
  });
  while (time.nowMs < runMs && violations.length === 0) {
    await time.run(time.nowMs + 1_000);
    if (failure !== null) throw failure;
  }
  await subject.stop();
  return { plan, violations, atMs, answers: asker.asked };
}

/** The resolution of a configured name takes time, which counts towards the timeout. */
function resolving(
  connect: VirtualNetwork["connect"],
  time: VirtualTime,
  { seeds }: AddressPlan,
): VirtualNetwork["connect"] {
  return (origin, limits) => {
    const resolvedMs = seeds.find((seed) => seed.origin === origin)?.resolvedMs ?? 0;
    const rest = { ...limits, timeoutMs: Math.max(0, limits.timeoutMs - resolvedMs) };
    const connection = connect(origin, rest);
    if (resolvedMs === 0) return connection;
    return {
      get: (path) =>
        new Promise((resolve) => {
          time.after("timer", Math.min(resolvedMs, limits.timeoutMs), () => {
            if (rest.timeoutMs === 0) resolve(timedOut);
            else void connection.get(path).then(resolve);
          });
        }),
      getStreamed: (path, sink) => connection.getStreamed(path, sink),
      close: () => connection.close(),
    };
  };
}

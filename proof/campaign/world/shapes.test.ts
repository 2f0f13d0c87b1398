import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { Chance } from "../chance.ts";
import { profiles } from "../profile.ts";
import { Seat } from "../wire/seat.ts";
import { crash } from "./crash.ts";
import { type Mode, modes } from "./mode.ts";
import { World } from "./world.ts";

/** What `test/spec/campaign/vectors.yaml` holds; the comments there give the reasons. */
interface Spec {
  /** Fields of documents that the model leaves out, by their paths. */
  readonly ignored: readonly string[];
  /** Recorded documents that the model does not give: file, node, route. */
  readonly exceptions: Readonly<Record<string, string>>;
}

interface Recorded {
  readonly status?: number;
  readonly doc?: unknown;
}

type Recording = { readonly nodes: Readonly<Record<string, Readonly<Record<string, Recorded>>>> };

const spec = parse(readFileSync("test/spec/campaign/vectors.yaml", "utf8")) as Spec;
const routes = ["leader", "cluster", "history", "config"] as const;
const generations = [
  { generation: 3, version: "3.0.2" },
  { generation: 4, version: "4.1.4" },
] as const;

/** Every field of a document by its path, with its type; the elements of a list count as one. */
function fieldsOf(value: unknown, path = ""): readonly string[] {
  if (spec.ignored.includes(path)) return [];
  if (Array.isArray(value)) return [`${path}[]`, ...value.flatMap((one: unknown) => fieldsOf(one, `${path}[]`))];
  if (typeof value !== "object" || value === null) return [`${path}: ${value === null ? "null" : typeof value}`];
  return Object.entries(value).flatMap(([key, one]) => fieldsOf(one, path === "" ? key : `${path}.${key}`));
}

/** The parts of a document that count apart: a member of the cluster document each. */
function partsOf(route: string, document: unknown): readonly unknown[] {
  const members: unknown = (document as { members?: unknown }).members;
  if (route !== "cluster" || !Array.isArray(members)) return [document];
  return [{ ...(document as object), members: [] }, ...(members as unknown[]).map((member) => ({ member }))];
}

const spoken = ["role", "state"] as const;

/** The shape of each part: its fields, its role and its state, and the status of the answer. */
function shapesOf(route: string, { status, doc }: Recorded): readonly string[] {
  if (typeof doc !== "object" || doc === null) return [];
  return partsOf(route, doc).map((part) => {
    const words = (part as { member?: unknown }).member ?? part;
    const said = spoken.map((key) => (words as Readonly<Record<string, string | undefined>>)[key] ?? "-").join(" ");
    const fields = [...new Set(fieldsOf(part))].filter((field) => !field.endsWith("replayed_timestamp: string")).sort();
    return `${route} ${status} ${said} ${fields.filter((field) => !field.endsWith("timestamp: null")).join(" ")}`;
  });
}

/** What happens to a modelled cluster, by the second at which it begins. */
const events: Readonly<Record<number, (world: World, nowMs: number) => void>> = {
  5: (world) => (world.dcs.isPaused = true),
  9: (world) => (world.dcs.isPaused = false),
  10: (world) => (world.dcs.switchover = world.holding?.name === "pg2" ? "pg3" : "pg2"),
  30: (world, nowMs) => kill(world, nowMs, false),
  40: (world, nowMs) => kill(world, nowMs, true),
  60: ({ nodes }) => nodes.forEach((node) => node.crash !== null && (node.crash.isBroken = false)),
  80: ({ dcs }) => void Object.assign(dcs, { isDown: true, hasFailsafe: true }),
  95: ({ dcs }) => void (dcs.isDown = false),
  100: ({ dcs }) => void (dcs.hasFailsafe = false),
  110: ({ dcs }) => void (dcs.isDown = true),
  125: ({ dcs }) => void (dcs.isDown = false),
  140: (world) => halt(world, true),
  160: (world) => halt(world, false),
  180: ({ nodes }) => nodes.forEach((node) => (node.receiver = node.role === "replica" ? "dead" : "streaming")),
  190: ({ nodes }) => nodes.forEach((node) => (node.receiver = "streaming")),
};

function kill(world: World, nowMs: number, isBroken: boolean): void {
  crash(world.node(world.holding?.name ?? "pg1"), { nowMs, hangMs: 300, isBroken });
}

function halt(world: World, isHalted: boolean): void {
  if (isHalted) world.node(world.holding?.name ?? "pg1").isHalted = true;
  else for (const node of world.nodes) node.isHalted = false;
}

/** All shapes that the nodes of a modelled cluster answer with in 200 seconds. */
function modelled(generation: 3 | 4, mode: Mode): ReadonlySet<string> {
  const world = new World({
    scope: "demo",
    system: "1",
    profile: profiles.default,
    chance: new Chance(1),
    hosts: ["127.0.0.1", "127.0.0.2", "127.0.0.3"],
    generation,
    nowMs: 0,
    epochMs: 0,
    mode,
  });
  const seats = world.nodes.map((node) => new Seat(world, node));
  const shapes = new Set<string>();
  for (let nowMs = 0; nowMs <= 200_000; nowMs += 100) {
    if (nowMs % 1_000 === 0) events[nowMs / 1_000]?.(world, nowMs);
    world.tick(nowMs);
    for (const seat of seats)
      for (const route of routes) {
        const { status, document: doc } = seat.answer(`/${route}`, nowMs);
        for (const shape of shapesOf(route, { status, doc })) shapes.add(shape);
      }
  }
  return shapes;
}

for (const { generation, version } of generations)
  describe(`the recordings of Patroni ${version}`, () => {
    const shapes = new Set(
      modes.filter((mode) => generation === 4 || mode !== "quorum").flatMap((mode) => [...modelled(generation, mode)]),
    );
    const folder = `test/vectors/node-api/${version}`;
    for (const file of readdirSync(folder)) {
      const { nodes } = JSON.parse(readFileSync(`${folder}/${file}`, "utf8")) as Recording;
      for (const [node, answers] of Object.entries(nodes))
        for (const route of routes) {
          const name = `${version}/${file.replace(".json", "")} ${node} ${route}`;
          const missing = shapesOf(route, answers[route] ?? {}).filter((shape) => !shapes.has(shape));
          test(`${name}: the model ${name in spec.exceptions ? "does not give it" : "gives such a document"}`, () => {
            if (name in spec.exceptions) assert.notDeepEqual(missing, [], "an exception that is none");
            else assert.deepEqual(missing, []);
          });
        }
    }
  });

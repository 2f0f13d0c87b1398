import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parse } from "yaml";
import { Demo } from "./demo.ts";
import { userDocuments, type Fragment } from "./markdown.ts";

/** What is no route, and what a placeholder stands for; the comments there give the reasons. */
interface Spec {
  /** Paths of files and of other programs, as regular expressions. */
  readonly notRoutes: readonly string[];
  /** What a placeholder of a path stands for in the demo. */
  readonly placeholders: Readonly<Record<string, string>>;
}

const spec: Spec = parse(readFileSync("test/spec/docs/routes.yaml", "utf8"));
const listeners = [8008, 9108, 9630, 18_007, 18_008] as const;

/** A route that a document names. */
interface NamedRoute extends Fragment {
  readonly method: string;
  readonly path: string;
}

/** The routes in the inline code of a document: `/livez`, `GET /explain?node=…`, `POST /drains/{cluster}/{node}`. */
function routesOf(inlineCode: readonly Fragment[]): readonly NamedRoute[] {
  return inlineCode.flatMap((fragment) => {
    const [, method = "GET", path] =
      /^(?:(GET|HEAD|OPTIONS|POST|PUT|PATCH|DELETE) )?(\/\S*)$/.exec(fragment.text) ?? [];
    if (path === undefined || spec.notRoutes.some((pattern) => new RegExp(`^(?:${pattern})$`).test(path))) return [];
    return [{ ...fragment, method, path: withValues(path) }];
  });
}

function withValues(path: string): string {
  return Object.entries(spec.placeholders).reduce((text, [name, value]) => text.replaceAll(name, value), path);
}

/**
 * Whether a listener of the demo, or a simulated node, knows the route. It may refuse the call for other reasons. Calls
 * that change something are dry runs.
 */
async function isKnown(demo: Demo, { method, path }: NamedRoute): Promise<boolean> {
  const target = method === "GET" ? path : `${path}${path.includes("?") ? "&" : "?"}dry_run=1`;
  for (const port of listeners) {
    const response = await fetch(`${demo.origin(port)}${target}`, { method, signal: AbortSignal.timeout(10_000) });
    const body = await response.text();
    if (response.status !== 404 && (response.status !== 400 || method !== "GET") && !isUnknownRoute(body)) return true;
  }
  return false;
}

/** Whether the body is rolecall's answer to an unknown route. */
function isUnknownRoute(body: string): boolean {
  return body.includes("Cannot read route");
}

test("every route that a document names is a route of a listener", { timeout: 120_000 }, async (context) => {
  const demo = await Demo.start(context);
  await demo.startExporterListener(context);
  const unknown: Fragment[] = [];
  const known = new Set<string>();
  for (const { inlineCode } of userDocuments()) {
    for (const route of routesOf(inlineCode)) {
      const key = `${route.method} ${route.path}`;
      if (known.has(key)) continue;
      if (await isKnown(demo, route)) known.add(key);
      else unknown.push({ place: route.place, text: key });
    }
  }
  assert.deepEqual(unknown, []);
  assert.ok(known.size > 30, `${known.size} routes are too few to be all`);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { checkExpectations } from "../../src/features/replay/core/expectations.ts";
import { readIncident } from "./play.ts";

/** An incident file of one or more steps, each as YAML flow. */
function file(steps: readonly string[], rest = ""): string {
  return `name: a night\nwhy: a test\ncluster: { nodes: [pg1, pg2] }\n${rest}\nsteps:\n${steps.map((step) => `  - ${step}\n`).join("")}`;
}

const mistakes: readonly (readonly [string, string, RegExp])[] = [
  [
    "a key of a step",
    file(["{ at: 0s }", "{ at: 4s, node: {} }"]),
    /night\.yaml, step 2.*unknown key node: allowed is at, sent/,
  ],
  [
    "a key of a report",
    file(["{ at: 4s, nodes: { pg1: { lok: true } } }"]),
    /night\.yaml, step 1 \(at 4s\)\.nodes\.pg1: unknown key lok/,
  ],
  ["a node", file(["{ at: 0s, nodes: { pg9: {} } }"]), /step 1 .*nodes: unknown key pg9: allowed is pg1, pg2/],
  ["a key of the file", file([], "setings: {}"), /night\.yaml: unknown key setings/],
  [
    "a guard",
    file(["{ at: 0s }"], "settings: { guards: { atach_window: 1s } }"),
    /settings\.guards: unknown key atach_window/,
  ],
  [
    "a failure",
    file(["{ at: 0s, nodes: { pg1: { failure: tired } } }"]),
    /failure: it must be one of refused, timeout/,
  ],
  [
    "an exporter's word",
    file(["{ at: 0s, exporters: { pg1: { up: primry } } }"]),
    /exporters\.pg1\.up: it must be one of primary, replica, down/,
  ],
  [
    "a key of an exporter's page",
    file(["{ at: 0s, exporters: { pg1: { page: { lag: 5 } } } }"]),
    /pg1\.page: unknown key lag: allowed is family/,
  ],
  [
    "an exporter's silence",
    file(["{ at: 0s, exporters: { pg1: { page: { failure: tired } } } }"]),
    /failure: it must be one of refused/,
  ],
  [
    "a drain without an end",
    file(["{ at: 0s, drains: { pg1: { reason: disk swap } } }"]),
    /pg1\.for: it must be an instant/,
  ],
  [
    "a position",
    file(["{ at: 0s, nodes: { pg1: { position: 12MB } } }"]),
    /position: it must be a position such as 0\/5000000/,
  ],
  ["an instant", file(["{ at: 5 }"]), /step 1\.at: it must be an instant such as 0s/],
  [
    "an unquoted system identifier",
    file(["{ at: 0s, nodes: { pg1: { system: 7300000000000000001 } } }"]),
    /system: it must be text/,
  ],
  [
    "a repetition of many values",
    file([
      `{ at: 0s, until: 99s, every: 1ms, history: { switch_points: { ${Array.from({ length: 300 }, (_, at) => `${at + 1}: 0/${at + 1}`).join(", ")} } } }`,
    ]),
    /step 1: the steps of a file must have at most/,
  ],
  [
    "too many flips",
    file(["{ at: 0s }"], `flips: { ${Array.from({ length: 101 }, (_, at) => `q${at}: at most 1`).join(", ")} }`),
    /flips: it must be at most 100 entries/,
  ],
  [
    "a zone",
    file(["{ at: 0s }"]).replace("[pg1, pg2]", '[{ name: pg1, zone: "a b" }]'),
    /zone: it must be a zone of 1 to 63 letters/,
  ],
  ["an endless repetition", file(["{ at: 0s, until: 900h, every: 1ms }"]), /every: it must be a span with at most/],
];

for (const [what, text, message] of mistakes) {
  test(`reports a mistake in ${what} with its file and step`, () => {
    assert.throws(() => readIncident(text, "night.yaml"), message);
  });
}

const misasked: readonly (readonly [string, RegExp])[] = [
  ["pg9 /replica", /the node must be one of the file, got pg9/],
  ["pg1 /replicas", /the route must be one of .*, got \/replicas/],
  ["pg1 /replica?lagg=1MB", /parameter lagg must be one of/],
];

for (const [question, message] of misasked) {
  test(`an expectation about ${question} is refused rather than never checked`, () => {
    const incident = readIncident(file([`{ at: 0s, expect: { "${question}": fit } }`]), "night.yaml");
    assert.throws(() => checkExpectations(incident), message);
  });
}

test("a repeated step moves its positions on, each time or every so often", () => {
  const steps = [
    "{ at: 2s, until: 12s, every: 2s, nodes: { pg1: { lock: true, position: 0/5000000 + 1MB }, pg2: { replayed: 0/5000000 + 16MB every 5s } } }",
  ];
  const { moments } = readIncident(file(steps), "night.yaml");
  const seen = moments.map(({ atMs, outcomes }) => [
    atMs / 1000,
    ...outcomes.map((outcome) =>
      outcome.kind === "status" && "report" in outcome.result
        ? ((outcome.result.report.location ?? outcome.result.report.replayed ?? 0) - 0x5000000) / 2 ** 20
        : null,
    ),
  ]);
  assert.deepEqual(seen, [
    [2, 0, 0],
    [4, 1, 0],
    [6, 2, 0],
    [8, 3, 16],
    [10, 4, 16],
    [12, 5, 32],
  ]);
});

test("steps that overlap are played in the order of their instants", () => {
  const { moments } = readIncident(file(["{ at: 0s, until: 2s, every: 1s }", "{ at: 500ms }"]), "night.yaml");
  assert.deepEqual(
    moments.map(({ atMs }) => atMs),
    [0, 500, 1000, 2000],
  );
});

test("reports an unexpected answer with its step, its instant and the reason", () => {
  const steps = [
    "{ at: 3s, nodes: { pg1: { lock: true } }, expect: { pg1 /primary: fit, pg1 /replica: fit, /primary: fit pg2 } }",
  ];
  const { differing: found } = checkExpectations(readIncident(file(steps), "night.yaml"));
  assert.equal(found.length, 2);
  assert.match(
    found[0] ?? "",
    /^night\.yaml, step 1 \(at 3s\), 3s: pg1 \/replica must be fit, got wrong_role\npg1 is OUT/,
  );
  assert.match(found[1] ?? "", /\/primary must be fit pg2, got fit/);
});

test("reports answers that change more often than allowed", () => {
  const steps = [
    "{ at: 0s, until: 9s, every: 2s, nodes: { pg1: {} } }",
    "{ at: 1s, until: 9s, every: 2s, nodes: { pg1: { state: stopping } } }",
  ];
  const { differing: found } = checkExpectations(
    readIncident(file(steps, "flips: { pg1 /replica: at most 3 }"), "night.yaml"),
  );
  assert.deepEqual(found, ["changes of pg1 /replica must be from 0 to 3, got 9"]);
});

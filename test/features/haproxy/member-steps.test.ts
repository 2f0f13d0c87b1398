import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { busyServers, memberSteps, type MemberServer } from "../../../src/features/haproxy/member-steps.ts";
import { addedIds, type ServerState } from "../../../src/features/haproxy/server-state.ts";

const ofFile: ServerState = {
  id: 1,
  isAdded: false,
  address: { host: "10.0.0.1", port: 5432 },
  isReserved: false,
  isInMaintenance: false,
  operational: "running",
  isChecked: true,
  checkHealth: 4,
  weight: 100,
  initialWeight: 100,
};
const added: ServerState = { ...ofFile, id: addedIds.first, isAdded: true, weight: 1, initialWeight: 1 };
const fresh: ServerState = { ...added, isInMaintenance: true, isReserved: true, isChecked: false };
const leaving: ServerState = { ...added, weight: 0 };
const at = (host: string, port = 5432): MemberServer => ({ server: "s", address: { host, port } });
const here = at("10.0.0.1");
const unknown: MemberServer = { server: "s", address: null };

const set = (what: string): string => `set server b/s ${what}`;
const start = [set("state drain"), set("health down"), set("state ready"), "enable health b/s"];
const add = (address: string, id: number = addedIds.first): string =>
  `add server b/s ${address} id ${id} check inter 1s`;

/** Title, the server, the member (`null`: none), and the commands. */
const rows: readonly [string, ServerState | null, MemberServer | null, readonly string[]][] = [
  ["a member without a server", null, here, [add("10.0.0.1:5432")]],
  ["a member with an IPv6 address", null, at("fd00::1"), [add("[fd00::1]:5432")]],
  ["a member without an address", null, unknown, []],
  ["a server of the file", ofFile, here, []],
  ["a server of the file at another address", ofFile, at("10.0.0.2"), []],
  ["a server of the file without a member", ofFile, null, []],
  ["a server of the file in maintenance without a check", { ...fresh, isAdded: false }, here, []],
  ["an added server", added, here, []],
  ["an added server whose address is not known now", added, unknown, []],
  ["an added server that was not started", fresh, here, start],
  ["an added server that an operator drains", { ...added, isReserved: true }, here, []],
  [
    "an added server that an operator has in maintenance",
    { ...added, isReserved: true, isInMaintenance: true },
    here,
    [],
  ],
  ["another host", added, at("10.0.0.2"), [set("health down"), set("addr 10.0.0.2 port 5432")]],
  ["another port", added, at("10.0.0.1", 5433), [set("health down"), set("addr 10.0.0.1 port 5433")]],
  [
    "another address of a server that was not started",
    fresh,
    at("::1"),
    [set("health down"), set("addr ::1 port 5432"), ...start],
  ],
  ["an added server without a member", added, null, [set("weight 0")]],
  ["a server that leaves", leaving, null, [set("state maint"), "del server b/s"]],
  ["a server that was not started without a member", fresh, null, [set("weight 0")]],
  ["a server that leaves, whose node came back", leaving, here, [set("weight 1")]],
  [
    "a server in its last moment, whose node came back",
    { ...leaving, isInMaintenance: true, isReserved: true },
    here,
    [set("state drain"), set("health down"), set("weight 1"), set("state ready"), "enable health b/s"],
  ],
];

suite("the servers of members", () => {
  for (const [title, state, member, commands] of rows)
    test(title, () => {
      const members = member === null ? [] : [member];
      const wanted = { backend: "b", words: "check inter 1s", isComplete: true, members };
      const steps = memberSteps(wanted, new Map(state === null ? [] : [["s", state]]));
      assert.deepEqual(
        steps.flatMap((step) => step.commands),
        commands,
      );
    });

  test("no server leaves until all members are known", () => {
    const wanted = { backend: "b", words: "check", isComplete: false, members: [] };
    assert.deepEqual(memberSteps(wanted, new Map([["s", added]])), []);
  });

  test("each server gets an id that no other one has", () => {
    const members = ["s", "t", "u"].map((server) => ({ ...here, server }));
    const steps = memberSteps({ backend: "b", words: "check", isComplete: true, members }, new Map([["s", added]]));
    assert.deepEqual(
      steps.flatMap(({ commands }) => commands.map((command) => / id (\d+)/.exec(command)?.[1])),
      [String(addedIds.first + 1), String(addedIds.first + 2)],
    );
  });
});

test("show stat: a server with sessions, or with some that wait for it, is busy", () => {
  const head = "# pxname,svname,qcur,qmax,scur,smax,slim";
  assert.deepEqual([...busyServers(`${head}\nb,one,0,0,0,9,\nb,two,0,0,1,9,\nb,three,2,0,0,9,`)], ["two", "three"]);
});

const member = { zone: "a", weight: 1, version: "0.1.0", draining: null, serves: 3, stream: null };
const [one, two, three, four] = ["edge1:9443", "edge2:9443", "edge3:9443", "edge4:9443"];

/** A fleet as its first member shows it in `GET /fleet`. */
export const shownFleet = {
  name: "edges",
  member: one,
  phase: "joined",
  problem: null,
  members: [
    { ...member, id: one, url: `https://${one}`, owns: 1 },
    {
      ...member,
      id: two,
      url: `https://${two}`,
      zone: "b",
      weight: 2,
      owns: 1,
      stream: { live: true, problem: null, silent_ms: 210 },
    },
    {
      ...member,
      id: three,
      url: `https://${three}`,
      zone: null,
      owns: 1,
      stream: { live: false, problem: "connection refused", silent_ms: 4_300 },
    },
    {
      ...member,
      id: four,
      url: `https://${four}`,
      serves: 1,
      owns: 0,
      draining: { by: "ann", until: "2026-01-31T13:00:00.000Z" },
    },
  ],
  clusters: [
    {
      cluster: "demo",
      owners: [one],
      does: "owned",
      groups: [
        { differs: null, members: [one, two], owners: [one] },
        { differs: "probe.interval", members: [three], owners: [three] },
      ],
    },
    { cluster: "shop", owners: [two], does: "followed" },
    {
      cluster: "users",
      owners: [],
      does: "probed",
      groups: [
        { differs: null, members: [one, two], owners: [] },
        { differs: "probe.interval", members: [three], owners: [] },
      ],
    },
  ],
};

/** Which server of the cluster is where, by what it says (rule 10). Addresses are hosts; the one in question is `p`. */

/** A member list: member name -> its host. */
export type Lists = Readonly<Record<string, string>>;

/** What is known of the server at `p`. */
export interface Said {
  /** The name that it states; `null`: it answers without one, as nodes before version 4 do. Absent: no answer. */
  readonly states?: string | null;
  readonly scope?: string;
  /** What it states cannot be read: neither its name nor that it has none. */
  readonly isUnreadable?: boolean;
  readonly lists?: Lists;
}

export interface ServerNameRow {
  readonly given: string;
  readonly at: Said;
  /** The member whose proved node is at `p`. Default: the address is no proved node's. */
  readonly proved?: string;
  /** The lists of other servers. */
  readonly others?: readonly Lists[];
  /** The member that it is; `null` if that is unknown, `none` if it is no server of the cluster. */
  readonly name: string | null;
}

const nameless = { states: null } as const;

export const serverNameRows: readonly ServerNameRow[] = [
  { given: "it states its name", at: { states: "pg2" }, name: "pg2" },
  {
    given: "it states its name, and lists have another member there",
    at: { states: "pg2", lists: { pg3: "p" } },
    others: [{ pg3: "p" }],
    name: "pg2",
  },
  { given: "it states another name than its node's", at: { states: "pg3" }, proved: "pg2", name: "pg3" },
  { given: "its own list has one member there", at: { ...nameless, lists: { pg2: "p", pg3: "q" } }, name: "pg2" },
  {
    given: "its own list has one member there, and another list another one",
    at: { ...nameless, lists: { pg2: "p" } },
    others: [{ pg3: "p" }],
    name: "pg2",
  },
  {
    given: "its own list has nobody there, and another list a member",
    at: { ...nameless, lists: { pg2: "q" } },
    others: [{ pg2: "p" }],
    name: null,
  },
  { given: "its own list has two members there", at: { ...nameless, lists: { pg2: "p", pg3: "p" } }, name: null },
  { given: "another list has one member there", at: nameless, others: [{ pg2: "p", pg3: "q" }], name: "pg2" },
  {
    given: "two other lists have the same member there",
    at: nameless,
    others: [{ pg2: "p" }, { pg2: "p" }],
    name: "pg2",
  },
  {
    given: "two other lists have different members there",
    at: nameless,
    others: [{ pg2: "p" }, { pg3: "p" }],
    name: null,
  },
  { given: "no list has anybody there", at: nameless, others: [{ pg2: "q" }], name: null },
  { given: "there is no list", at: nameless, name: null },
  { given: "a proved node, and no list", at: nameless, proved: "pg2", name: "pg2" },
  {
    given: "a proved node without a list, where another list has another member",
    at: nameless,
    proved: "pg2",
    others: [{ pg3: "p" }],
    name: "pg2",
  },
  {
    given: "a proved node whose list has it there",
    at: { ...nameless, lists: { pg2: "p" } },
    proved: "pg2",
    name: "pg2",
  },
  {
    given: "a proved node whose list has it and another member there",
    at: { ...nameless, lists: { pg3: "p", pg2: "p" } },
    proved: "pg2",
    name: "pg2",
  },
  {
    given: "a proved node whose list has nobody there",
    at: { ...nameless, lists: { pg2: "q" } },
    proved: "pg2",
    name: "pg2",
  },
  {
    given: "a proved node whose list has another member alone there",
    at: { ...nameless, lists: { pg3: "p", pg2: "q" } },
    proved: "pg2",
    name: "pg3",
  },
  {
    given: "a proved node whose list has two other members there",
    at: { ...nameless, lists: { pg3: "p", pg4: "p" } },
    proved: "pg2",
    name: null,
  },
  { given: "a proved node that has not answered", at: {}, proved: "pg2", name: "pg2" },
  { given: "it has given a list alone", at: { lists: { pg2: "p" } }, name: "pg2" },
  { given: "it has given nothing yet", at: {}, others: [{ pg2: "p" }], name: "none" },
  { given: "it is of another scope", at: { states: "pg2", scope: "other" }, name: "none" },
  {
    given: "a proved node that is of another scope",
    at: { states: "pg2", scope: "other" },
    proved: "pg2",
    name: "none",
  },
  {
    given: "what it states cannot be read",
    at: { ...nameless, isUnreadable: true, lists: { pg2: "p" } },
    others: [{ pg2: "p" }],
    name: "none",
  },
  {
    given: "what a proved node states cannot be read: that disproves nothing",
    at: { ...nameless, isUnreadable: true, lists: { pg3: "p" } },
    proved: "pg2",
    name: "pg2",
  },
];

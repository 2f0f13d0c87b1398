import { readFileSync } from "node:fs";
import { parse } from "yaml";
import type { SubscribedNames, XdsForm, XdsRequest } from "../../../src/features/xds/protocol/xds-messages.ts";

/** A request as the tables of test/spec/xds write it. */
export interface ConversationRequest {
  /** The node id; absent after the first request of a stream. */
  readonly node?: string;
  readonly zone?: string;
  readonly type?: string;
  readonly names?: readonly string[];
  readonly subscribe?: readonly string[];
  readonly unsubscribe?: readonly string[];
  readonly versions?: Readonly<Record<string, string>>;
  readonly nonce?: string;
  readonly refuses?: string;
}

/** A step of a conversation: what the client or the pools do, and what the server does then. */
export interface ConversationStep {
  readonly request?: ConversationRequest;
  readonly change?: Readonly<Record<string, string | null>>;
  readonly answer?: Readonly<Record<string, string>>;
  readonly refused?: string;
}

/** One stream of the table test/spec/xds/protocol.yaml. */
interface Conversation {
  readonly title: string;
  readonly form: XdsForm;
  readonly pools: Readonly<Record<string, string | null>>;
  readonly steps: readonly ConversationStep[];
}

export const conversations: readonly Conversation[] = parse(readFileSync("test/spec/xds/protocol.yaml", "utf8"));

/** The request that a row of a table stands for. */
export function requestOf(row: ConversationRequest, form: XdsForm): XdsRequest {
  const { node, zone = "", type = "", nonce = "", refuses } = row;
  return {
    client: node === undefined ? null : { id: node, cluster: "edge", zone, agent: "envoy", version: null },
    type,
    nonce,
    refusal: refuses ?? null,
    names: namesOf(row, form),
  };
}

function namesOf(
  { names = [], subscribe = [], unsubscribe = [], versions = {} }: ConversationRequest,
  form: XdsForm,
): SubscribedNames {
  return form === "sotw" ? { form, all: names } : { form, subscribe, unsubscribe, versions };
}

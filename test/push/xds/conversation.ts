import type { SubscribedNames, XdsForm, XdsRequest } from "../../../src/push/xds/protocol/xds-messages.ts";

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

import { objectOf } from "../../../core/cluster/values/json.ts";
import { absolute, type ConfigOrigin } from "../../../core/config/assemble.ts";
import { repetitionIssues } from "../../../core/config/checks/name-checks.ts";
import { findPool } from "../../../core/config/checks/pool-checks.ts";
import type { SeedScheme } from "../../../core/config/checks/seed-checks.ts";
import { elementsOf, valid, type ValidParts } from "../../../core/config/checks/valid-parts.ts";
import type { FindConfiguredFiles } from "../../../core/config/configured-files.ts";
import type { WholeShape } from "../../../core/config/model/config.ts";
import { type ConfigIssue, valueIssue } from "../../../core/config/model/issue.ts";
import { parsePodSeed, podProtocol, podSeedAllowed } from "./pod-seed.ts";
import { publishedServiceSchema } from "./kubernetes-schema.ts";

/** Checks the Services against each other, and against the pools that they lead to. */
export function checkKubernetes(
  { kubernetes: written }: Readonly<Record<string, unknown>>,
  parts: ValidParts,
): readonly ConfigIssue[] {
  const { services, kubeconfig, context } = objectOf(written);
  const placed = elementsOf(services).map((element, index) => ({
    service: valid(publishedServiceSchema, element),
    path: ["kubernetes", "services", index],
  }));
  return [
    ...(typeof context === "string" && (kubeconfig === undefined || kubeconfig === null)
      ? [valueIssue(["kubernetes", "context"], context, "left out, because kubeconfig is not set")]
      : []),
    ...repetitionIssues(
      placed.map(({ service, path }) => ({
        path: [...path, "service"],
        value: service === null ? null : `${service.service.namespace}/${service.service.name}`,
      })),
      "a Service that no other entry has",
    ),
    ...placed.flatMap(({ service, path }) =>
      service === null ? [] : findPool({ pool: service.pool }, path, parts).issues,
    ),
  ];
}

/** Addresses of `discover` that name pods. */
export const podSeeds: SeedScheme = {
  protocol: podProtocol,
  allowed: podSeedAllowed,
  isValid: (address) => parsePodSeed(address) !== null,
};

/** Makes the name of the kubeconfig absolute. */
export function completeKubernetes(shape: WholeShape, { folder }: ConfigOrigin): WholeShape {
  const { kubernetes } = shape;
  return kubernetes === null
    ? shape
    : { ...shape, kubernetes: { ...kubernetes, kubeconfig: absolute(folder, kubernetes.kubeconfig) } };
}

/** The file that the feature reads. */
export const kubernetesFiles: FindConfiguredFiles = ({ kubernetes }) =>
  kubernetes === null ? [] : [{ key: "kubernetes.kubeconfig", secret: kubernetes.kubeconfig }];

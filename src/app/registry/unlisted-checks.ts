/** What features check of a set-up without a row in the description of doctor: nothing but that command loads it. */
import type { UnlistedCheck } from "../../core/command/doctor/doctor-context.ts";
import { companionDoctorChecks } from "../../features/companions/tools.ts";
import { dcsChecks } from "../../features/dcs/tools.ts";
import { kubernetesChecks } from "../../features/kubernetes/tools.ts";

/** Of the evidence, before other programs are asked, one after the other. */
export const featureEvidenceChecks: readonly UnlistedCheck[] = [...companionDoctorChecks];

/** Of other programs, beside the checks that have a row. */
export const featureUnlistedChecks: readonly UnlistedCheck[] = [...dcsChecks, ...kubernetesChecks];

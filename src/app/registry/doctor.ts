import type { DoctorCheck } from "../../command/doctor/doctor-context.ts";
import type { NamedFiles } from "../../command/doctor/file-findings.ts";
import type { Config } from "../../config/model/config.ts";
import { haproxyChecks } from "../../features/haproxy/doctor.ts";
import { peerFiles } from "../../features/switchover/config/peer-files.ts";
import { switchoverChecks } from "../../features/switchover/doctor.ts";

/** What features check of a set-up, in the order of their rows. */
export const featureChecks: readonly DoctorCheck[] = [...haproxyChecks, ...switchoverChecks];

const files: readonly ((config: Config) => readonly NamedFiles[])[] = [peerFiles];

/** The files that a configuration names for its features. */
export function featureFiles(config: Config): readonly NamedFiles[] {
  return files.flatMap((filesOf) => filesOf(config));
}

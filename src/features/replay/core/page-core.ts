/** What the live page uses of the program: the build bundles it as `page/core.js` (packaging/page.mjs). */
import { readIncidentFile } from "../file/incident-file.ts";
import { IncidentPlayer } from "./player.ts";

/**
 * Opens an incident.
 * @param document the parsed YAML of the file
 * @param file its name, for messages
 * @throws Error that names what is invalid
 */
export function openIncident(document: unknown, file: string): IncidentPlayer {
  return new IncidentPlayer(readIncidentFile(document, file));
}

import { Document } from "yaml";

/** Writes the lines of a field of a template. `pad` is the indentation of its key, or of the items of its list. */
export type Slot = (field: { readonly pad: string; readonly key: string }) => string;

/** A field with the value of an expression: a number or a plain text. */
export function inline(expression: string): Slot {
  return ({ pad, key }) => `${pad}${key}: {{ ${expression} }}`;
}

/** A field with an object or a list. The expression yields its YAML. */
export function block(expression: string): Slot {
  return ({ pad, key }) => `${pad}${key}:\n${pad}  {{- ${expression} | nindent ${pad.length + 2} }}`;
}

/** A field that is left out if the value is empty. */
export function optional(value: string): Slot {
  return ({ pad, key }) => `${pad}{{- with ${value} }}\n${block("toYaml .")({ pad, key })}\n${pad}{{- end }}`;
}

/** A field with a text that is left out if the value is empty. */
export function optionalText(value: string): Slot {
  return ({ pad, key }) => `${pad}{{- with ${value} }}\n${inline(".")({ pad, key })}\n${pad}{{- end }}`;
}

/** More items of a list. */
export function items(value: string): Slot {
  return ({ pad }) => `${pad}{{- with ${value} }}\n${pad}{{- toYaml . | nindent ${pad.length} }}\n${pad}{{- end }}`;
}

/**
 * Writes an object as a template of Helm.
 * @param object the object; its other fields are the same in every release
 * @param slots what replaces the fields at these paths, such as `spec.replicas`; `+` is a new item at the end of a list
 */
export function templateText(object: object, slots: Readonly<Record<string, Slot>>): string {
  const document = new Document(object, { aliasDuplicateObjects: false });
  const list = Object.entries(slots);
  for (const [number, [path]] of list.entries()) {
    const names = path.split(".");
    if (names.at(-1) === "+") document.addIn(names.slice(0, -1), tokenOf(number));
    else document.setIn(names, tokenOf(number));
  }
  const lines = document.toString({ lineWidth: 0 }).split("\n");
  return lines.map((line) => filledLine(line, list)).join("\n");
}

/** What stands for a slot until the object is text. */
function tokenOf(number: number): string {
  return `__slot_${number}__`;
}

function filledLine(line: string, slots: readonly (readonly [string, Slot])[]): string {
  const [, spaces = "", key = "", number = ""] = /^( *)(?:- |([\w./-]+): )__slot_(\d+)__$/.exec(line) ?? [];
  return slots[Number(number || -1)]?.[1]({ pad: spaces, key }) ?? line;
}

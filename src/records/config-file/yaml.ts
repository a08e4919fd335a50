import { isNode, LineCounter, parseDocument, stringify } from "yaml";

/** A file's value, and the lines of its parts. */
export type ReadYaml = ReturnType<typeof readYaml>;

/** A fault of the file's text, with its line. */
export class YamlFault extends Error {}

/**
 * Throws YamlFault. JSON is YAML, too. With `asText` every scalar is its text (`007`, `yes`), null is "", and `<<`
 * merges, as Go programs read it.
 */
export function readYaml(text: string, { asText = false } = {}) {
  const counter = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: counter,
    prettyErrors: false,
    ...(asText && { schema: "failsafe", merge: true }),
  });
  const [fault] = document.errors;
  if (fault !== undefined)
    throw new YamlFault(`line ${counter.linePos(fault.pos[0]).line}: ${fault.message}`);
  return {
    value: document.toJS() as unknown,
    /** The line (from 1) of the part at a JSON pointer, or of the nearest part around it. */
    lineOf(pointer: string): number {
      for (let parts = partsOf(pointer); ; parts = parts.slice(0, -1)) {
        const node = document.getIn(parts, true);
        if (isNode(node) && node.range) return counter.linePos(node.range[0]).line;
        if (parts.length === 0) return 1;
      }
    },
  };
}

function partsOf(pointer: string): (string | number)[] {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}

/** The same value always gives the same bytes. */
export function writeYaml(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}

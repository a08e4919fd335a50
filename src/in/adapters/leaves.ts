import { objectOf } from "./json.ts";

/** A value that a dotted name leads to, and the names on the way. */
interface Leaf {
  item: unknown;
  steps: readonly string[];
}

/**
 * Every value that a walk through the object, at most `deepest` deep, would give this name: `a.b` is `{"a": {"b"}}` and
 * `{"a.b"}`. Reads nothing else, however wide the object is.
 */
export function leavesCalled(value: unknown, name: string, deepest: number): Leaf[] {
  const leaves: Leaf[] = [];
  const look = (item: unknown, rest: string, steps: readonly string[]): void => {
    const fields = objectOf(item);
    if (fields === null) return;
    for (let end = rest.indexOf("."); ; end = rest.indexOf(".", end + 1)) {
      const own = end === -1 ? rest : rest.slice(0, end);
      if (Object.hasOwn(fields, own)) {
        const inner = fields[own];
        const way = [...steps, own];
        const isLeaf = objectOf(inner) === null || way.length === deepest;
        if (end !== -1 && !isLeaf) look(inner, rest.slice(end + 1), way);
        else if (end === -1 && isLeaf) leaves.push({ item: inner, steps: way });
      }
      if (end === -1) return;
    }
  };
  look(value, name, []);
  return leaves;
}

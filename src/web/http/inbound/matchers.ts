/** One `filter` of an Alertmanager's API: a label, how it is compared, and the text. */
export type Matcher = (labels: Readonly<Record<string, string>>) => boolean;

const FORM = /^\s*([^\s=!~"]{1,256}|"(?:[^"\\]|\\.){1,256}")\s*(=~|!~|!=|=)\s*(.{0,1024})$/s;

/**
 * Reads `name="text"` with `=`, `!=`, `=~` or `!~`, quotes or none; null where it can't be read. Of expressions it
 * knows literal text, `.`, `.*`, `.+` and `|`: whatever is asked, the answer takes time in proportion to the text.
 */
export function parseMatcher(text: string): Matcher | null {
  const [, rawName = "", op = "", rawValue = ""] = FORM.exec(text) ?? [];
  const name = unquoted(rawName);
  const value = unquoted(rawValue.trim());
  if (name === null || name === "" || value === null) return null;
  const isRegex = op.endsWith("~");
  const holds = isRegex ? parsePattern(value) : (said: string) => said === value;
  if (holds === null) return null;
  const wanted = !op.startsWith("!");
  return (labels) => holds(Object.hasOwn(labels, name) ? (labels[name] ?? "") : "") === wanted;
}

function unquoted(text: string): string | null {
  if (!text.startsWith('"')) return text;
  const inner = /^"((?:[^"\\]|\\.)*)"$/s.exec(text)?.[1];
  return inner === undefined
    ? null
    : inner.replace(/\\(.)/gs, (_, char) => (char === "n" ? "\n" : char));
}

/** A step of a pattern: one character, any one, or any number of them. */
type Step = { char: string } | "one" | "many";

/** A test for the whole text, or null for an expression that is more than this knows. */
export function parsePattern(expression: string): ((text: string) => boolean) | null {
  const inner = /^\^?(?:\(\?:|\()?((?:[^()\\]|\\.)*)\)?\$?$/s.exec(expression)?.[1] ?? null;
  if (inner === null) return null;
  const branches = inner.split("|").map(stepsOf);
  if (branches.some((steps) => steps === null)) return null;
  return (text) => branches.some((steps) => steps !== null && fitsSteps(steps, text));
}

function stepsOf(branch: string): Step[] | null {
  const steps: Step[] = [];
  for (const [part] of branch.matchAll(/\\.|\.\*|\.\+|./gs)) {
    if (part === ".*") steps.push("many");
    else if (part === ".+") steps.push("one", "many");
    else if (part === ".") steps.push("one");
    else if (/^\\\w$/.test(part) || /^[*+?[\]{}^$\\]$/.test(part)) return null;
    else steps.push({ char: part.slice(-1) });
  }
  return steps;
}

/** Goes back to the latest "many" only, which is enough, so that no text takes long. */
function fitsSteps(steps: readonly Step[], text: string): boolean {
  let [step, at, many, mark] = [0, 0, -1, 0];
  while (at < text.length) {
    const next = steps[step];
    if (next === "many") {
      many = step++;
      mark = at;
    } else if (next === "one" || (next !== undefined && next.char === text[at])) {
      step++;
      at++;
    } else if (many >= 0) {
      step = many + 1;
      at = ++mark;
    } else return false;
  }
  while (steps[step] === "many") step++;
  return step === steps.length;
}

/** Alertmanager's matchers: `a="b"`, `{a="b",c=~"d|e"}`, `"a name"!="b"`. */

export interface LabelMatcher {
  name: string;
  op: "=" | "!=" | "=~" | "!~";
  value: string;
}

export class MatcherFault extends Error {}

/**
 * Parses matchers as Alertmanager does since 0.27: in the older syntax where the text is valid there, else in the newer
 * one, which also quotes names. Throws MatcherFault.
 */
export function parseMatchers(text: string): LabelMatcher[] {
  try {
    return splitOld(text).map(parseOld);
  } catch (fault) {
    if (!(fault instanceof MatcherFault)) throw fault;
    return parseNew(text) ?? raise(fault);
  }
}

const raise = (fault: Error): never => {
  throw fault;
};

/** The matcher in the newer syntax. */
export function matcherText({ name, op, value }: LabelMatcher): string {
  return `${/^[a-zA-Z_:][\w:]*$/.test(name) ? name : JSON.stringify(name)}${op}${JSON.stringify(value)}`;
}

/** Splits at commas outside quotes. Braces at the ends are ignored. */
function splitOld(text: string): string[] {
  const tokens: string[] = [];
  let [token, isQuoted, isEscaped] = ["", false, false];
  for (const c of text.replace(/^\{/, "").replace(/\}$/, "")) {
    if (c === "," && !isQuoted) {
      tokens.push(token);
      token = "";
      continue;
    }
    if (c === '"' && !isEscaped) isQuoted = !isQuoted;
    // Alertmanager keeps an escape open across a comma inside quotes, too.
    if (c === "\\") isEscaped = !isEscaped;
    else if (c !== ",") isEscaped = false;
    token += c;
  }
  return token.trim() === "" ? tokens : [...tokens, token];
}

const OLD =
  /^[\t\n\f\r ]*([a-zA-Z_:][a-zA-Z0-9_:]*)[\t\n\f\r ]*(=~|=|!=|!~)[\t\n\f\r ]*([\s\S]*?)[\t\n\f\r ]*$/;

function parseOld(text: string): LabelMatcher {
  const parts = OLD.exec(text);
  if (parts === null) throw new MatcherFault(`"${text}" is no matcher`);
  const [, name = "", op = "", raw = ""] = parts;
  return { name, op: op as LabelMatcher["op"], value: unquoteOld(raw) };
}

/** Quotes are optional. A text that begins with one must end with one, and others in between must be escaped. */
function unquoteOld(raw: string): string {
  const isQuoted = raw.startsWith('"');
  const inside = isQuoted ? raw.slice(1) : raw;
  const fault = new MatcherFault(`the value ${raw} has a double quote that isn't escaped`);
  let value = "";
  for (let i = 0; i < inside.length; i += 1) {
    const c = inside.charAt(i);
    const next = inside.charAt(i + 1);
    if (c === "\\" && next !== "") {
      // A backslash before another character is a backslash.
      value += next === "n" ? "\n" : next === '"' || next === "\\" ? next : c + next;
      i += 1;
    } else if (c !== '"') value += c;
    else if (isQuoted && i === inside.length - 1) return value;
    else throw fault;
  }
  if (isQuoted) throw fault;
  return value;
}

const TOKEN = /[\s]*(?:([{},])|(=~|!=|!~|=)|("(?:[^"\\\n]|\\.)*")|([^\s{}!=~,\\"'`]+))/uy;

/** null: the text isn't in the newer syntax. */
function parseNew(text: string): LabelMatcher[] | null {
  const tokens = tokensOf(text.trim());
  if (tokens === null) return null;
  if (tokens[0] === "{") {
    if (tokens.pop() !== "}") return null;
    tokens.shift();
  }
  const matchers: LabelMatcher[] = [];
  for (let i = 0; i < tokens.length; i += 4) {
    const [name, op = "", value, comma = ","] = tokens.slice(i, i + 4);
    const [plainName, plainValue] = [unquoteNew(name), unquoteNew(value)];
    if (plainName === null || plainValue === null || comma !== ",") return null;
    if (!["=", "!=", "=~", "!~"].includes(op) || plainName === "") return null;
    matchers.push({ name: plainName, op: op as LabelMatcher["op"], value: plainValue });
  }
  return matchers;
}

function tokensOf(text: string): string[] | null {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const found = TOKEN.exec(text);
    if (found === null) return null;
    tokens.push(found[0].trim());
  }
  return tokens;
}

const PLAIN: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  '"': '"',
};
const ESCAPE =
  /\\(?:([abfnrtv\\"])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|)/g;

/** A name or value without its quotes, with Go's escapes; null where it is invalid. */
function unquoteNew(token: string | undefined): string | null {
  if (token === undefined || /^(?:[{},]|=~|!=|!~|=)$/.test(token)) return null;
  if (!token.startsWith('"')) return token;
  let isWhole = true;
  const plain = token.slice(1, -1).replace(ESCAPE, (_all, letter, x, u, long, octal) => {
    if (letter !== undefined) return PLAIN[letter] ?? "";
    const code =
      octal === undefined ? Number.parseInt(x ?? u ?? long ?? "", 16) : Number.parseInt(octal, 8);
    if (Number.isInteger(code) && code <= 0x10ffff) return String.fromCodePoint(code);
    isWhole = false;
    return "";
  });
  return isWhole ? plain : null;
}

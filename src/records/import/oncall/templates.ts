import type { LabelMatcher } from "../alertmanager/matchers.ts";
import { literal } from "../team/routes.ts";

/** Which alerts an OnCall route takes, where its template compares fields of the payload that are keys of an event here. */

/** Types of integration whose events have the alert's labels as keys. */
const LABELLED = ["alertmanager", "grafana_alerting", "grafana"];
/** Fields of a webhook that are no keys here. */
const READ = ["alert_uid", "title", "image_url", "state", "link_to_upstream_details", "message"];

const TEMPLATE = /^\{\{-?\s*([^{}]{1,1000}?)\s*-?\}\}$/s;
const PATH = String.raw`payload((?:\.[A-Za-z_]\w*|\.get\((?:"[\w.-]+"|'[\w.-]+')\)|\[(?:"[\w.-]+"|'[\w.-]+')\])+)`;
const TEXT = String.raw`("[^"\\]+"|'[^'\\]+')`;
const EQUALS = new RegExp(`^${PATH}\\s*(==|!=)\\s*${TEXT}$`);
const CONTAINS = new RegExp(`^${TEXT}\\s+(not\\s+)?in\\s+${PATH}$`);
const LISTED = new RegExp(
  `^${PATH}\\s+(not\\s+)?in\\s+[[(]\\s*(${TEXT}(?:\\s*,\\s*${TEXT})*),?\\s*[\\])]$`,
);
const PLAIN = /^\\?"([\w.-]+)\\?"\s*:\s*\\?"([\w .:/-]+)\\?"$/;

/** As `GivenRoute.any`. `kind`: `jinja2` or `regex`; `type`: the integration's. */
export function matchersOfTemplate(
  template: string,
  { kind, type }: { kind: string; type: string },
): LabelMatcher[][] | string {
  if (kind !== "jinja2") return matcherOfPair(template, type);
  const [, inner] = TEMPLATE.exec(template.trim()) ?? [];
  if (inner === undefined) return "its template is more than one expression";
  const [isAll, isAny] = [/\sand\s/.test(inner), /\sor\s/.test(inner)];
  if (isAll && isAny) return "its template has both and and or";
  const read = inner.split(isAny ? /\s+or\s+/ : /\s+and\s+/).map((one) => termOf(one.trim(), type));
  const fault = read.find((one) => typeof one === "string");
  if (typeof fault === "string") return fault;
  const matchers = read.filter((one) => typeof one !== "string");
  return isAny ? matchers.map((one) => [one]) : [matchers];
}

/** A pattern that looks for one field with one text. */
function matcherOfPair(pattern: string, type: string): LabelMatcher[][] | string {
  const [, name = "", value = ""] = PLAIN.exec(pattern.trim()) ?? [];
  if (name === "" || (READ.includes(name) && !LABELLED.includes(type)))
    return "a pattern over the whole payload is no condition here";
  return [[{ name, op: "=", value }]];
}

function termOf(term: string, type: string): LabelMatcher | string {
  const [, path = "", op, text = ""] = EQUALS.exec(term) ?? [];
  const [, part = "", without, within = ""] = CONTAINS.exec(term) ?? [];
  const [, listed = "", outside, texts = ""] = LISTED.exec(term) ?? [];
  const of = path || within || listed;
  const name = keyOfPath(of, type);
  if (of === "") return `no condition here says ${term}`;
  if (name === null) return `payload${of} is no key of an event here`;
  const like = (not: string | undefined, value: string): LabelMatcher => ({
    name,
    op: not === undefined ? "=~" : "!~",
    value,
  });
  if (within !== "") return like(without, `(?s).*${literal(part.slice(1, -1))}.*`);
  if (listed !== "") return like(outside, textsIn(texts).map(literal).join("|"));
  return { name, op: op === "!=" ? "!=" : "=", value: text.slice(1, -1) };
}

const textsIn = (list: string) =>
  [...list.matchAll(new RegExp(TEXT, "g"))].map(([text]) => text.slice(1, -1));

/** The key that has a field's text; null: none does. */
function keyOfPath(path: string, type: string): string | null {
  const parts = [...path.matchAll(/\.get\(["']([^"']+)["']\)|\[["']([^"']+)["']\]|\.(\w+)/g)].map(
    ([, a, b, c]) => a ?? b ?? c ?? "",
  );
  const [first = "", ...rest] = parts;
  if (LABELLED.includes(type)) {
    const isLabel = ["commonLabels", "groupLabels"].includes(first) && rest.length === 1;
    return isLabel ? (rest[0] ?? null) : null;
  }
  return READ.includes(first) ? null : parts.join(".");
}

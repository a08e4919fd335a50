import type { AuditEntry } from "../../../ground/audit/list.ts";
import { calledIn } from "../../../ground/audit/names.ts";
import { findThing } from "../../../ground/audit/things.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { withCalled } from "../../../ground/kit/id-names.ts";
import type { Reader } from "../../../ground/store/store.ts";
import { listKeys } from "../../../people/keys.ts";
import { type PageCall, pathOf } from "../screen.ts";
import { type PeopleNames, peopleNames } from "../ui/people-names.ts";
import { clockTime } from "../ui/times.ts";
import { way } from "../ui/way.ts";

/** What words for entries are made from, read once for a page of them. */
interface AuditNames {
  person: PeopleNames;
  /** The last characters of a key, by its id. */
  key(id: string): string | undefined;
  /** A text with what the ids in it are called. */
  called(text: string): string;
}

export function auditNames(reader: Reader, entries: readonly AuditEntry[]): AuditNames {
  const called = calledIn(reader, entries);
  const people = peopleNames(reader);
  const keys = new Map(listKeys(reader).map(({ id, hint }) => [id, hint]));
  return {
    person: (id) => (id === null ? "nobody" : (called[id] ?? people(id))),
    key: (id) => keys.get(id),
    called: (text) => withCalled(text, called),
  };
}

/** `replaceRule` → `replace rule`, `set-role` → `set role`. */
function verbWords(verb: string): string {
  return verb
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll(/[-_]/g, " ")
    .toLowerCase();
}

const DONE: Readonly<Record<string, string>> = {
  ack: "acknowledged",
  cancel: "cancelled",
  create: "made",
  current: "looked at current",
  edit: "changed",
  get: "read",
  hide: "hid",
  make: "made",
  on: "looked at on",
  put: "set",
  read: "read",
  replace: "changed",
  resend: "sent again",
  reset: "reset",
  run: "ran",
  send: "sent",
  set: "set",
  sweep: "swept",
  take: "took",
  unack: "un-acknowledged",
  update: "changed",
};

/** `replaceRule` → `changed rule`, `verifyContact` → `verified contact`. */
export function doneWords(verb: string): string {
  if (verb === "signInRefused") return "was refused at signing in";
  const [first = "", ...rest] = verbWords(verb).split(" ");
  const regular = `${first.replace(/e$/, "").replace(/(?<=[^aeiou])y$/, "i")}ed`;
  return [DONE[first] ?? regular, ...rest].join(" ");
}

/** The kind of thing is said once, with the thing's name. */
const deedWords = (verb: string, kind: string): string =>
  doneWords(verb).replace(` ${kind.replaceAll("_", " ")}`, "");

/** Changes that are shown without opening them. */
const FEW = 4;

export function auditItem(call: PageCall, entry: AuditEntry, names: AuditNames): Markup {
  const { id, at, verb, address, changes } = entry;
  const from = address === "" ? "" : `, from ${address}`;
  return html`<li id="audit-${id}">${clockTime(call, at)}<div class="timeline-text"><p><strong>${whoOf(call, entry, names)}</strong> ${deedWords(verb, entry.target.kind)} ${thingOf(call, entry, names)} <span class="soft small">${byWhat(entry, names)}${from}</span></p>${
    changes.length > 0 &&
    html`<details${changes.length <= FEW && html` open`} id="changes-${id}"><summary class="small">${changes.length === 1 ? "1 field" : `${changes.length} fields`}</summary><dl class="facts small">${changes.map(
      ({ field, from, to }) =>
        html`<div><dt>${field}</dt><dd class="mono">${shownValue(from, names)} → ${shownValue(to, names)}</dd></div>
`,
    )}</dl></details>`
  }</div></li>
`;
}

function shownValue(value: unknown, names: AuditNames): Markup {
  if (value === null || value === undefined || value === "")
    return html`<span class="soft">none</span>`;
  return html`${names.called(typeof value === "string" ? value : JSON.stringify(value))}`;
}

function whoOf(call: PageCall, { account_id, email, via }: AuditEntry, names: AuditNames): Markup {
  if (account_id === null)
    return html`${via === "command" ? "The machine's operator" : "Somebody without an account"}`;
  if (email === null) return html`Somebody who is gone`;
  return way(call, pathOf("people", account_id), names.person(account_id));
}

function byWhat({ via, hint }: AuditEntry, names: AuditNames): string {
  if (via === "command") return hint;
  if (via === "pairing") return "by a code";
  const key = `the key …${names.key(hint) ?? "that is gone"}`;
  if (via === "key") return `by ${key}`;
  if (via === "assistant") return `by an assistant with ${key}`;
  // A session's id says nobody anything; a way of signing in does.
  return /^[0-9a-f]{16}$/.test(hint) || hint === "" ? "by page" : `by page, ${hint}`;
}

/** Where things are shown, by kind; those without a page of their own have none. */
const PLACES: Readonly<
  Record<string, (of: { id: string; name: string; project: string }) => string>
> = {
  account: ({ id }) => pathOf("people", id),
  alert: ({ id }) => pathOf("a", id),
  project: ({ name }) => pathOf("p", name),
  source: ({ project, name }) => pathOf("p", project, "sources", name),
  rule: ({ project, name }) => pathOf("p", project, "rules", name),
  integration: ({ project, id }) => pathOf("p", project, "channels", id),
  action: ({ project }) => pathOf("p", project, "actions"),
  schedule: ({ project, name }) => pathOf("oncall", project, name),
  silence: ({ id }) => pathOf("silences", id),
  heartbeat: ({ id }) => pathOf("heartbeats", id),
  report: ({ project, id }) => pathOf("p", project, "reports", id),
};

/** "rule errors of shop", a link to where it is now. */
function thingOf(call: PageCall, { target }: AuditEntry, names: AuditNames): Markup {
  const { kind, id, project } = target;
  const now = findThing(call.tenant.store, target);
  const called = kind === "account" && id !== "" ? names.person(id) : target.name;
  const words = [kind.replaceAll("_", " "), called === "" || called === id ? "" : called];
  const text = words.filter((word) => word !== "").join(" ");
  const place = now && PLACES[kind]?.({ id, name: now.name, project: now.project ?? "" });
  const renamed = now !== null && kind !== "account" && now.name !== target.name;
  return html`${place ? way(call, place, text) : text}${renamed && html` <span class="soft">(${now.name} now)</span>`}${
    project !== null && kind !== "project" && html` <span class="soft">of ${project}</span>`
  }`;
}

import { LRUCache } from "lru-cache";
import { historyWords, type Said, type Sentence } from "../../../core/alerts/history-words.ts";
import { OPEN_SECONDS } from "../../../core/alerts/notes.ts";
import type { NumberedEntry, TimelineEntry } from "../../../core/alerts/timeline.ts";
import { html, type Markup, type Piece, trusted } from "../../../ground/kit/html.ts";
import type { Tenant } from "../../../tenant/tenant.ts";
import type { PageCall } from "../screen.ts";
import { changesLink } from "../ui/audit-address.ts";
import { area, button, keyed } from "../ui/form.ts";
import { clockTime, exact, span } from "../ui/times.ts";
import { MOST_ENTRIES, type ShownAlert } from "./shown-alert.ts";

/** An entry, and those before it that say the same of one way: attempts that weren't the last. */
interface EntryGroup {
  entry: NumberedEntry;
  before: NumberedEntry[];
}

const OF_CHANNEL = /^(?:delivered|delivery_\w+)$/;
const OF_PAGE = /^page_(?:sent|delayed|failed)$/;

/** Which attempts belong together; null: it is none. */
function wayOfEntry({ kind, detail }: NumberedEntry): string | null {
  const names = OF_CHANNEL.test(kind)
    ? ["integration", "event"]
    : OF_PAGE.test(kind)
      ? ["account", "contact", "address", "event"]
      : null;
  return names && JSON.stringify(names.map((name) => detail[name] ?? ""));
}

const isUnderWay = (kind: string): boolean => /_delayed$/.test(kind);

/** Attempts at one delivery stand with its last. Pure. */
export function groupedEntries(entries: readonly NumberedEntry[]): EntryGroup[] {
  const groups: EntryGroup[] = [];
  const open = new Map<string, EntryGroup>();
  for (const entry of entries) {
    const way = wayOfEntry(entry);
    const standing = way === null ? undefined : open.get(way);
    const group = { entry, before: standing ? [...standing.before, standing.entry] : [] };
    if (standing) groups.splice(groups.indexOf(standing), 1);
    groups.push(group);
    if (way === null) continue;
    if (isUnderWay(entry.kind)) open.set(way, group);
    else open.delete(way);
  }
  return groups;
}

/** So many entries stand open; the others a press away. */
const UNFOLDED = 8;

/** What happened: who, what, when, why. Which end comes first is remembered in this browser. */
export async function history(call: PageCall, shown: ShownAlert): Promise<Markup> {
  const groups = groupedEntries(shown.entries);
  const isOldest = call.look.timeline === "oldest";
  const other = button(call, {
    action: `/a/${shown.row.id}/order`,
    kind: "plain",
    name: isOldest ? "Newest first" : "Oldest first",
    fields: { timeline: isOldest ? "newest" : "oldest" },
  });
  const items: Markup[] = [];
  for (const group of isOldest ? groups : groups.toReversed())
    items.push(await item(call, shown, group));
  return html`<div class="card-head"><h2><a href="#timeline"${keyed("t", "History")}>History</a></h2>${other}</div>
${shown.entries.length === MOST_ENTRIES && html`<p class="soft">The latest ${MOST_ENTRIES} entries.</p>`}
<ol class="timeline">${items.slice(0, UNFOLDED)}</ol>${
    items.length > UNFOLDED &&
    html`<details id="further"><summary>${items.length - UNFOLDED} further</summary><ol class="timeline">${items.slice(UNFOLDED)}</ol></details>`
  }${changesLink(call, "alert", shown.row.id)}`;
}

async function item(call: PageCall, shown: ShownAlert, { entry, before }: EntryGroup) {
  const say = (one: NumberedEntry) => entryWords(one, { call, nameOf: shown.nameOf });
  const note = entry.kind === "noted" ? await noteBody(call, shown, entry) : null;
  const earlier = (one: NumberedEntry) =>
    html`<li id="t-${one.id}">${permalink(call, shown, one)} ${say(one)}</li>`;
  return html`<li id="t-${entry.id}">${permalink(call, shown, entry)}<div class="timeline-text">${say(entry)}${note}${
    before.length > 0 &&
    html`<details id="more-${entry.id}"><summary>${before.length} earlier</summary><ul>${before.map(earlier)}</ul></details>`
  }</div></li>
`;
}

function permalink(call: PageCall, { row }: ShownAlert, { id, at }: NumberedEntry): Markup {
  return html`<a class="timeline-at" href="${call.base}/a/${row.id}#t-${id}" title="${exact(at, call.look.zone)}">${clockTime(call, at)}</a>`;
}

/** The text of a note, and for its author and a few minutes what changes it. */
async function noteBody(
  call: PageCall,
  { row }: ShownAlert,
  { id, at, account_id, detail }: NumberedEntry,
): Promise<Markup> {
  if (detail["deleted"] === true) return html` <span class="soft">taken back.</span>`;
  const text = String(detail["text"] ?? "");
  const isOwn = account_id === call.who.accountId && call.now <= at + OPEN_SECONDS;
  return html`<div class="note">${await rendered(call.tenant, text)}</div>${isOwn && ownNote(call, { alert: row.id, id, text })}`;
}

function ownNote(call: PageCall, of: { alert: number; id: number; text: string }): Markup {
  const action = `/a/${of.alert}/notes/${of.id}`;
  return html`<details id="edit-${of.id}"><summary>Change it</summary>
<form class="form" method="post" action="${call.base}${action}">${area(call, action, { name: "text", label: "Note", rows: 3, required: true, value: of.text })}
<div class="buttons"><button class="button">Save</button><button class="button danger" formaction="${call.base}${action}/delete" formnovalidate>Take it back</button></div></form></details>`;
}

const notesDrawn = new LRUCache<string, string>({
  max: 200,
  maxSize: 2_000_000,
  sizeCalculation: (v, k) => v.length + k.length + 1,
});

/** Markdown without images; tags stand as text. What can't be rendered is shown as it was written. */
async function rendered({ renderer }: Tenant, text: string): Promise<Markup> {
  const known = notesDrawn.get(text);
  if (known !== undefined) return trusted(known);
  try {
    const made = await renderer.render(text, { rawAsText: true });
    notesDrawn.set(text, made);
    return trusted(made);
  } catch {
    return html`<pre>${text}</pre>`;
  }
}

/** What an entry's words need beside it. */
interface EntryAbout {
  call: Pick<PageCall, "now" | "look" | "base">;
  nameOf(account: string): string;
}

/** What happened, as it stands in a page. */
export function entryWords(entry: TimelineEntry, { call, nameOf }: EntryAbout): Markup {
  return drawn(historyWords(entry, nameOf), call);
}

const drawn = (sentence: Sentence, call: EntryAbout["call"]): Markup =>
  html`${sentence.map((said) => draw(said, call))}`;

function draw(said: Said, call: EntryAbout["call"]): Piece {
  if ("words" in said) return trusted(said.words);
  if ("strong" in said) return html`<strong>${said.strong}</strong>`;
  if ("wrong" in said) return html`<span class="wrong">${drawn(said.wrong, call)}</span>`;
  if ("time" in said) return clockTime(call, said.time);
  if ("span" in said) return span(said.span);
  if ("value" in said) return said.value;
  return html`<a href="${call.base}/a/${encodeURIComponent(said.alert)}">#${said.alert}</a>`;
}

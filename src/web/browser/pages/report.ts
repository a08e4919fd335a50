/*
 * The editor of a report: what is written is shown as readers would see it, kept in this browser until it is published, and
 * helped along by small buttons. Without this the form works, and its button shows the preview.
 */
import { type Draft, dropDraft, keepDraft, readDraft } from "../drafts.ts";
import { previewSoon } from "../report/frame.ts";
import {
  firstWords,
  type Insertion,
  linked,
  onOwnLines,
  prefixed,
  type Selected,
  tabled,
  untouched,
  wrapped,
} from "../report/markdown.ts";

const byId = (id: string) => document.getElementById(id);
const editor = () => document.querySelector<HTMLFormElement>("form[data-editor]");
const area = () => byId("entry-text") as HTMLTextAreaElement;
const titleField = () => editor()?.querySelector<HTMLInputElement>("[name=title]");
const typeField = () => byId("entry-type") as HTMLSelectElement;
const seenField = () => editor()?.querySelector<HTMLInputElement>("[name=seen]");

/** The draft's name: drawn anew it may be another's. */
const name = () => editor()?.dataset["editor"] ?? "";

/** What was published last, for when that is taken back. */
let last: Draft | null = null;
/** Lines of the facts that are to be looked at. */
let marked: string[] = [];

function held(): Draft {
  return {
    title: titleField()?.value ?? "",
    type: typeField().value,
    text: area().value,
    seen: seenField()?.value ?? "",
    at: Date.now(),
  };
}

function fill({ title, type, text, seen }: Draft): void {
  const field = titleField();
  if (field) field.value = title;
  typeField().value = type;
  area().value = text;
  const seenBefore = seenField();
  if (seenBefore && seen !== "") seenBefore.value = seen;
  changed(false);
}

const clock = (at: number) =>
  new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(
    at,
  );

/** To be called after each change. */
function changed(isTyped = true): void {
  const form = editor();
  if (!form) return;
  const { value, defaultValue } = area();
  const draft = held();
  const isEmpty = value.trim() === "" && draft.title === "";
  const isNews = value !== defaultValue || draft.title !== titleField()?.defaultValue;
  if (isTyped && (isEmpty || !isNews)) dropDraft(name());
  else if (isTyped) sayKept(keepDraft(name(), draft) ? draft : null);
  sayCount(value);
  sayEffect(form, value);
  sayMarks(value);
  previewSoon(form);
}

function sayKept(draft: Draft | null): void {
  const [at, discard] = [byId("kept-at"), byId("discard")];
  if (!at || !discard) return;
  at.textContent = draft === null ? "" : `: draft of ${clock(draft.at)}`;
  discard.hidden = draft === null;
}

function sayCount(text: string): void {
  const line = byId("entry-count");
  const words = line?.textContent ?? "";
  if (line) line.textContent = words.replace(/^[\d,]+/, [...text].length.toLocaleString("en"));
}

/** What changes for readers by publishing. */
function sayEffect(form: HTMLFormElement, text: string): void {
  const line = byId("effect");
  if (!line) return;
  const [now, words] = [form.dataset["standing"] ?? "", firstWords(text)];
  const then = typeField().selectedOptions[0]?.dataset["standing"] ?? now;
  line.hidden = words === "" || "old" in form.dataset;
  line.textContent = `For readers: ${now === then ? `stays ${now}` : `${now} → ${then}`} · “${words}”`;
}

function sayMarks(text: string): void {
  const box = byId("marks");
  const list = box?.querySelector("ul");
  if (!box || !list) return;
  marked = untouched(text, marked);
  box.hidden = marked.length === 0;
  list.replaceChildren(
    ...marked.map((line) => {
      const item = document.createElement("li");
      item.textContent = line;
      return item;
    }),
  );
}

/** As if it were typed, so that the browser's own undo takes it back. */
function insert({ from, until, put, select }: Insertion): void {
  const field = area();
  field.focus();
  field.setSelectionRange(from, until);
  if (!document.execCommand("insertText", false, put)) {
    field.setRangeText(put, from, until, "end");
    changed();
  }
  field.setSelectionRange(from + select[0], from + select[1]);
}

const selected = (): Selected => {
  const { value: text, selectionStart: from, selectionEnd: until } = area();
  return { text, from, until };
};

const MARKS: Readonly<Record<string, (at: Selected) => Insertion>> = {
  bold: (at) => wrapped(at, "**", "bold"),
  italic: (at) => wrapped(at, "*", "italic"),
  list: (at) => prefixed(at, "- "),
  quote: (at) => prefixed(at, "> "),
  link: linked,
  table: tabled,
};
const KEYS: Readonly<Record<string, string>> = { b: "bold", i: "italic", k: "link" };

function mark(what: string): void {
  const how = MARKS[what];
  if (how) insert(how(selected()));
}

function putIn(text: string): void {
  const { from, until } = selected();
  insert({ from, until, put: text, select: [text.length, text.length] });
}

/** The box's own draft where the cursor stands; title and type where nothing was written yet. */
function putFacts(): void {
  const facts = byId("facts-text");
  if (!facts) return;
  const text = facts.textContent;
  const wasEmpty = area().value.trim() === "";
  const [title, { touch = "", title: words = "", type = "" }] = [titleField(), facts.dataset];
  const lines = text.split("\n");
  marked = touch.split(" ").flatMap((at) => (at === "" ? [] : (lines[Number(at)] ?? [])));
  if (wasEmpty && title && title.value === "") title.value = words;
  if (wasEmpty) typeField().value = type;
  insert(onOwnLines(selected(), text));
}

const utcNow = (): string => `${new Date().toISOString().slice(11, 16)} UTC`;

function pressed(button: HTMLElement): void {
  const { md, insert: text, show, width } = button.dataset;
  if (md !== undefined) mark(md);
  else if (text !== undefined) putIn(text);
  else if ("insertNow" in button.dataset) putIn(utcNow());
  else if (show !== undefined) choose(button, "side", show);
  else if (width !== undefined) choose(button, "width", width);
  else if (button.id === "insert-facts") putFacts();
  else if (button.id === "discard") discard();
  else return;
  button.closest<HTMLDetailsElement>("details.menu")?.removeAttribute("open");
}

function choose(button: HTMLElement, what: "side" | "width", value: string): void {
  button.closest<HTMLElement>(".report")?.setAttribute(`data-${what}`, value);
  for (const one of button.parentElement?.children ?? [])
    one.setAttribute("aria-pressed", String(one === button));
}

function discard(): void {
  dropDraft(name());
  editor()?.reset();
  sayKept(null);
  changed(false);
}

/** A form of this page was answered. */
function answered(event: Event): void {
  const form = event.target as HTMLFormElement;
  const isDone = (event as CustomEvent<boolean>).detail;
  const before = name();
  if (!isDone) return;
  if (form === editor()) {
    last = held();
    dropDraft(before);
  }
  const isUndo = form.closest("#said") !== null && last !== null;
  // What was answered stands in the page after this.
  setTimeout(() => {
    if (isUndo && last !== null && area().value === "") fill({ ...last, seen: "" });
    if (isUndo) changed();
    else changed(false);
    if (form === editor()) sayKept(null);
  });
}

function begin(): void {
  const draft = readDraft(name());
  // What came back with the form is newer.
  const isAsDrawn = document.querySelector("#said.wrong") === null;
  if (draft === null || !isAsDrawn || draft.text === area().value) return;
  fill(draft);
  sayKept(draft);
}

document.addEventListener("input", ({ target }) => {
  if ((target as HTMLInputElement).form === editor()) changed();
});
document.addEventListener("click", ({ target }) => {
  const button = (target as Element).closest<HTMLElement>("button[type=button]");
  if (button) pressed(button);
});
document.addEventListener("answered", answered);
document.addEventListener(
  "keydown",
  (event) => {
    const what = KEYS[event.key.toLowerCase()];
    const isAsked = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
    if (!what || !isAsked || event.target !== area()) return;
    event.preventDefault();
    mark(what);
  },
  { capture: true },
);
begin();

import { findProject } from "../../../core/projects/projects.ts";
import { labelText } from "../../../core/quiet/label-text.ts";
import type { SilenceAnswer } from "../../../core/quiet/silence.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { textOfTemplate } from "../../../in/ingest/templates.ts";
import type { PageCall } from "../screen.ts";
import { levelWord } from "./level.ts";
import { identifiersText, markedTemplate } from "./message.ts";
import { stretchWords } from "./schedule.ts";
import { dayOf } from "./times.ts";

type Named = Pick<SilenceAnswer, "project" | "match" | "labels" | "kind" | "name">;

/** What a silence is called in sentences: a maintenance by its name, others by what they take. */
export function silenceName(silence: Named): string {
  if (silence.kind === "maintenance" && silence.name !== "") return silence.name;
  const { rule, identifiers, sources } = silence.match;
  const about = identifiersText(identifiers);
  const labels = silence.labels.map(labelText).join(", ");
  const parts = [silence.project ?? "every project", rule, about, labels, sources.join(", ")];
  return parts.filter((part) => part !== null && part !== "").join(" · ");
}

/** Everything that an alert must be for a silence to take it. */
export function takesWords(
  { tenant: { store } }: Pick<PageCall, "tenant">,
  silence: Pick<SilenceAnswer, "project" | "match" | "conditions" | "labels" | "critical" | "all">,
): Markup {
  const { project, match, conditions, labels, critical, all } = silence;
  const { rule, template_id, identifiers, sources, below_level } = match;
  const id = project === null ? null : (findProject(store, project)?.id ?? null);
  const template =
    id === null || template_id === null ? "" : textOfTemplate(store, id, template_id);
  const parts: Piece[] = [
    all && html`<strong class="warn">everything</strong>`,
    html`${project ?? "every project"}`,
    rule !== null && html`rule ${rule}`,
    template_id !== null &&
      html`<span class="message" dir="auto">${template === "" ? "one kind of message" : markedTemplate(template)}</span>`,
    Object.keys(identifiers).length > 0 && html`${identifiersText(identifiers)}`,
    sources.length > 0 && html`from ${sources.join(", ")} alone`,
    ...labels.map((one) => html`<code>${labelText(one)}</code>`),
    ...conditions.map(({ key, op, value }) => html`<code>${key} ${op} ${String(value)}</code>`),
    below_level !== null && html`below ${levelWord(below_level)}`,
    critical ? html`<strong>critical ones too</strong>` : html`critical ones still ring`,
  ].filter((part) => part !== false);
  return html`${parts.map((part, i) => html`${i > 0 && " · "}${part}`)}`;
}

const EACH = { none: "", daily: "each day", weekly: "each week" } as const;

/** "each week, first Sat 28 Nov 18:00 – 20:00 (Europe/Vienna), until 22 Feb"; nothing for one that comes once. */
export function repeatWords(silence: SilenceAnswer): string {
  const { repeat, timezone, repeat_until } = silence;
  if (repeat === "none") return "";
  const over = repeat_until === null ? "" : `, until ${dayOf(repeat_until, timezone)}`;
  return `${EACH[repeat]}, first ${stretchWords(silence, timezone)} (${timezone})${over}`;
}

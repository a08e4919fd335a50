import * as z from "zod";
import { type Integration, USUAL_STORM } from "../../../core/projects/integration.ts";
import { integrationFields, writeOf } from "../../../core/projects/integration-body.ts";
import type { IntegrationWrite } from "../../../core/projects/integrations.ts";
import { check } from "../../../ground/kit/check.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { eventKinds } from "../../../out/outbox/event.ts";
import { type Channel, fieldsOf } from "../../../out/services/channel.ts";
import type { PageCall } from "../screen.ts";
import { area, field, labelOf, tick } from "../ui/form.ts";
import { EVENT_WORDS } from "./words.ts";

/** What of a channel is shown in its form. */
type StoredChannel = Pick<
  Integration,
  "name" | "url" | "event_filter" | "title_template" | "body_template" | "storm_threshold"
>;

/** The fields of one kind alone. What is sealed is typed unseen and never drawn, neither as stored nor as it came back. */
export function channelFields(
  call: PageCall,
  action: string,
  { kind, stored }: { kind: Channel; stored: StoredChannel | null },
): Markup {
  const { all, required } = fieldsOf(kind);
  const isNew = stored === null;
  return html`${field(call, action, { name: "name", label: "Called", value: stored?.name ?? "", hint: "A name of your choice, like “ops”. Optional.", autocomplete: "off" })}
${all.map((name) => {
  const hint = kind.fields.shape[name]?.meta()?.description;
  const isOpen = name === "url";
  return field(call, action, {
    name,
    label: labelOf(name),
    autocomplete: "off",
    ...(isOpen
      ? { value: stored?.url ?? "", type: "url" as const }
      : { type: "password" as const }),
    required: isNew && required.includes(name),
    hint: hintOf(hint, { isOptional: !required.includes(name), keeps: !isNew && !isOpen }),
  });
})}
${eventBoxes(call, action, stored?.event_filter ?? "")}
${kind.isChat === true && stormField(call, action, stored)}
${kind.bodyAsIs !== true && textFields(call, action, stored)}`;
}

/** How many openings in a minute a room is told one by one. */
function stormField(call: PageCall, action: string, stored: StoredChannel | null): Markup {
  return field(call, action, {
    name: "storm_threshold",
    label: "One by one up to",
    type: "number",
    value: String(stored?.storm_threshold ?? USUAL_STORM),
    hint: "When more alerts than this open in a minute, the others come together in one message a minute. 0: never together.",
    more: html`max="1000"`,
  });
}

/** Its own texts, in Mustache; empty is the usual. */
function textFields(call: PageCall, action: string, stored: StoredChannel | null): Markup {
  const body = stored?.body_template ?? "";
  const title = stored?.title_template ?? "";
  const isOpen = title !== "" || body !== "" || call.returned?.action === action;
  return html`<details id="texts"${isOpen && html` open`}><summary>Its own texts</summary>
<p class="soft small">In Mustache: <code>{{title}}</code>, <code>{{project}}</code>, <code>{{#is_resolved}}…{{/is_resolved}}</code>. Empty: the usual text.</p>
${field(call, action, { name: "title_template", label: "Title", value: title, autocomplete: "off" })}
${area(call, action, { name: "body_template", label: "Below it", rows: 4, value: body, more: html`class="mono" spellcheck="false"` })}</details>`;
}

function hintOf(
  about = "",
  { isOptional, keeps }: { isOptional: boolean; keeps: boolean },
): string {
  const words = [about === "" ? "" : `${about.charAt(0).toUpperCase()}${about.slice(1)}.`];
  if (keeps) words.push("Leave this empty to keep what is stored.");
  else if (isOptional) words.push("May stay empty.");
  return words.filter(Boolean).join(" ");
}

/** Kinds of events in words; none checked is every kind. */
function eventBoxes(call: PageCall, action: string, filter: string): Markup {
  const chosen = filter.split(",");
  return html`<fieldset><legend>Kinds of events that it gets</legend><p class="hint">None ticked: every kind.</p>
${eventKinds.map((event) => tick(call, action, { name: "events", value: event, words: EVENT_WORDS[event], usual: chosen.includes(event) }))}</fieldset>`;
}

/** A form's fields as the verbs take them, by the schema of the interface; what was left empty is left out. */
export function channelWrite({ tenant }: PageCall, form: URLSearchParams): IntegrationWrite {
  const { channels } = tenant;
  const body: Record<string, unknown> = {
    name: form.get("name") ?? "",
    events: form.getAll("events"),
  };
  for (const name of Object.keys(channels.fields)) {
    const value = (form.get(name) ?? "").trim();
    if (value !== "") body[name] = value;
  }
  const storm = (form.get("storm_threshold") ?? "").trim();
  if (storm !== "") body["storm_threshold"] = Number(storm);
  for (const name of ["title_template", "body_template"])
    if (form.has(name)) body[name] = (form.get(name) ?? "").replaceAll("\r\n", "\n").trim();
  return writeOf(check(z.strictObject(integrationFields(channels)), body, "body"));
}

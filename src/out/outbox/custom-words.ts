import { levelName } from "../../ground/kit/level.ts";
import { compileTemplate, type TextTemplate } from "../../ground/kit/mustache.ts";
import type { EventBody } from "./event.ts";
import type { ByName, EventNames } from "./event-names.ts";
import {
  drillTitle,
  duration,
  loggedIn,
  type Message,
  minuteOf,
  names,
  titleInEvent,
} from "./message.ts";

/** Texts that somebody wrote for one channel, in Mustache; empty: the usual ones. */
interface CustomTexts {
  title_template: string;
  body_template: string;
}

/** In characters. */
export const LONGEST_TEMPLATE = 4_096;
const LONGEST_TITLE = 140;
const LONGEST_BODY = 3_500;

/** Names that a template may use; docs/how-to/message-texts.md says what is in them. */
export const templateFields = [
  "event",
  "event_id",
  "timestamp",
  "is_opened",
  "is_escalated",
  "is_renotified",
  "is_acknowledged",
  "is_resolved",
  "is_test",
  "is_disabled",
  "title",
  "alert_title",
  "facts",
  "people",
  "project",
  "rule",
  "state",
  "level",
  "level_name",
  "count",
  "first_seen",
  "first_seen_at",
  "last_seen",
  "last_seen_at",
  "message",
  "last_message",
  "template",
  "identifiers",
  "identifier_list",
  "key",
  "value",
  "alert_id",
  "escalation_level",
  "investigate",
  "link",
  "runbook",
  "links",
  "text",
  "href",
  "page_accounts",
  "paged",
  "paged_people",
  "name",
  "why",
  "paged_so_far",
  "next",
  "next_people",
  "next_at",
  "by",
  "because",
  "acknowledged_by",
  "lasted",
  "integration_name",
] as const;

const fields: ReadonlySet<string> = new Set(templateFields);

/** Throws TemplateFault. */
export function checkTemplate(text: string): TextTemplate {
  return compileTemplate(text, fields);
}

/**
 * The message with a channel's own texts in place of title and body; addresses stay as they are. Plain text, within
 * the bounds of the usual one. Throws for a template that is none or takes too much work.
 */
export function inCustomWords(
  message: Message,
  texts: CustomTexts,
  { event, said }: { event: EventBody; said: EventNames | null },
): Message {
  const view = viewOf(message, event, said ?? {});
  const rendered = (template: string, most: number) =>
    template === "" ? "" : checkTemplate(template).render(view, most);
  const title = rendered(texts.title_template, 4 * LONGEST_TITLE).replace(/[\s\p{Cc}]+/gu, " ");
  const body = rendered(texts.body_template, LONGEST_BODY)
    .replace(/[^\P{Cc}\n\t]/gu, " ")
    .trim();
  const logged = loggedIn(event);
  // The usual title has said it.
  const isLost =
    title.trim() !== "" && said?.together === undefined && logged !== message.details[0];
  return {
    ...message,
    ...(isLost && logged !== "" && { details: [logged, ...message.details] }),
    ...(title.trim() !== "" && { title: drillTitle(event, title.trim()) }),
    ...(body !== "" && { details: [body], people: [], facts: "" }),
  };
}

function viewOf(
  message: Message,
  event: EventBody,
  said: EventNames,
): Record<(typeof templateFields)[number], unknown> {
  const word = (people: ByName | undefined | null) =>
    people && people.people.length > 0 ? names(people) : "";
  const is = (kind: EventBody["event"]) => event.event === kind;
  return {
    event: event.event,
    event_id: event.event_id,
    timestamp: event.timestamp,
    is_opened: is("alert.opened"),
    is_escalated: is("alert.escalated"),
    is_renotified: is("alert.renotified"),
    is_acknowledged: is("alert.acknowledged"),
    is_resolved: is("alert.resolved"),
    is_test: is("alert.test"),
    is_disabled: is("integration.disabled"),
    title: message.title,
    alert_title: titleInEvent(event),
    facts: message.facts,
    people: message.people,
    project: event.project,
    rule: event.rule,
    state: event.state,
    level: event.level,
    level_name: levelName(event.level),
    count: event.count,
    first_seen: minuteOf(event.first_seen),
    first_seen_at: event.first_seen,
    last_seen: minuteOf(event.last_seen),
    last_seen_at: event.last_seen,
    message: event.last_message,
    last_message: event.last_message,
    template: event.template,
    identifiers: event.identifiers,
    identifier_list: Object.entries(event.identifiers).map(([key, value]) => ({ key, value })),
    key: "",
    value: "",
    text: "",
    href: "",
    name: "",
    why: "",
    alert_id: event.alert_id,
    escalation_level: event.escalation_level,
    investigate: event.investigate,
    link: message.link ?? "",
    runbook: said.runbook ?? "",
    links: said.links ?? [],
    // Whoever reads a message knows people by their names.
    page_accounts: (said.paged?.people ?? []).map(({ name }) => name),
    paged: word(said.paged),
    paged_people: said.paged?.people ?? [],
    paged_so_far: word(said.told),
    next: word(said.next),
    next_people: said.next?.people ?? [],
    next_at: said.next ? minuteOf(said.next.at) : "",
    by: said.by ?? "",
    because: said.because ?? "",
    acknowledged_by: said.acknowledged ?? "",
    lasted: said.lasted === undefined ? "" : duration(said.lasted),
    integration_name: event.integration?.name ?? "",
  };
}

import { partsOf } from "../../../core/alerts/parts.ts";
import { configVersions, getProject } from "../../../core/projects/projects.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { TemplateAnswer } from "../../../in/ingest/templates.ts";
import { type PageCall, pathOf } from "../screen.ts";
import { markedTemplate } from "../ui/message.ts";
import { newRulePage } from "../ui/way.ts";

/** What a pasted message is known as in a project. */
export interface KnownMessage {
  project: string;
  template: TemplateAnswer;
}

/** Characters of a pasted message. */
export const LONGEST_PASTED = 4096;
/** Shorter, or of one word, it is a name that somebody looks for. */
const SHORTEST = 8;
const MOST_PROJECTS = 20;
const MOST_TEMPLATES = 500;
const MOST_FOUND = 4;

/** Templates that a message is of, among the most frequent of each project. */
export function knownAs({ tenant }: PageCall, message: string): KnownMessage[] {
  if (message.length < SHORTEST || !/\s/.test(message)) return [];
  const { store, ingest } = tenant;
  return configVersions(store)
    .slice(0, MOST_PROJECTS)
    .flatMap(({ project }) => {
      const { id } = getProject(store, project);
      const { templates } = ingest.templates(id, { limit: MOST_TEMPLATES });
      return templates
        .filter(({ template }) => isOf(message, template))
        .map((template) => ({ project, template }));
    })
    .slice(0, MOST_FOUND);
}

const oneLine = (text: string): string => text.trim().replace(/\s+/g, " ");

/** Pure. */
export function isOf(message: string, template: string): boolean {
  return (
    oneLine(message) === oneLine(template) ||
    partsOf(message, template).some(({ variable }) => variable)
  );
}

/** Each with the rules that may take it; where there is none, the way to one. */
export function knownMessages(call: PageCall, found: readonly KnownMessage[]): Markup {
  const { base } = call;
  return html`${found.map(({ project, template: { template_id, template, rules } }) => {
    const about = new URLSearchParams({ q: template.split("<*>")[0]?.trim() ?? "" });
    const list = `${pathOf("p", project, "lines", "templates")}?${about.toString()}`;
    const fresh = `${newRulePage(project)}?template=${template_id}`;
    return html`<li><a href="${base}${list}"><span><span class="message">${markedTemplate(template)}</span> <span class="soft">template · ${project}</span></span></a></li>${rules.map(
      (rule) =>
        html`<li><a href="${base}${pathOf("p", project, "rules", rule)}"><span>${rule} <span class="soft">rule that may take it · ${project}</span></span></a></li>`,
    )}${
      rules.length === 0 &&
      html`<li><a href="${base}${fresh}"><span>No rule takes it <span class="soft">make one · ${project}</span></span></a></li>`
    }`;
  })}`;
}

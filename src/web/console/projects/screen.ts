import { getProject } from "../../../core/projects/projects.ts";
import { html } from "../../../ground/kit/html.ts";
import { pathOf, type Screen } from "../screen.ts";
import { keyed } from "../ui/form.ts";
import { heardSection } from "../ui/heard.ts";
import { projectTabs } from "../ui/project-tabs.ts";
import { governForms, governSection } from "./govern.ts";
import { sourceTable } from "./source-table.ts";

/** A project by its sources: what is heard of each, and how more are connected. */
export const projectScreen: Screen = {
  path: "/p/{project}",
  view(call) {
    const { name } = getProject(call.tenant.store, call.params["project"] ?? "");
    const topic = `project:${name}`;
    return {
      title: `${name} · Sources`,
      heading: html`${name}`,
      nav: "projects",
      sections: {
        tabs: { watches: [], draw: () => projectTabs(call, name, "sources") },
        heard: heardSection(call, name),
        sources: { watches: [topic, `source:${name}/*`], draw: () => sourceTable(call, name) },
        connect: {
          watches: [],
          draw: () =>
            html`<p class="buttons"><a class="button" href="${call.base}${pathOf("p", name, "connect")}"${keyed("n", "Connect what you have")}>Connect what you have</a></p>`,
        },
        govern: { watches: [topic], draw: () => governSection(call, name) },
      },
    };
  },
  forms: governForms,
};

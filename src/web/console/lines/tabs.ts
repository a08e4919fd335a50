import { html, type Markup } from "../../../ground/kit/html.ts";
import { type PageCall, pathOf } from "../screen.ts";
import { tabs } from "../ui/pieces.ts";
import { projectTabs } from "../ui/project-tabs.ts";

/** A project's tabs, and below them the two ways to look at its lines. */
export function linesTabs(call: PageCall, project: string, here: "tail" | "templates"): Markup {
  const at = call.base + pathOf("p", project, "lines");
  return html`${projectTabs(call, project, "lines")}${tabs("Lines of the project", [
    { name: "Tail", href: at, here: here === "tail" },
    { name: "Templates", href: `${at}/templates`, here: here === "templates" },
  ])}`;
}

import type { Markup } from "../../../ground/kit/html.ts";
import { type PageCall, pathOf } from "../screen.ts";
import { tabs } from "./pieces.ts";

/** A project's pages, in the order of their tabs. */
const PAGES = [
  { id: "sources", name: "Sources", rest: [] },
  { id: "rules", name: "Rules", rest: ["rules"] },
  { id: "channels", name: "Channels", rest: ["channels"] },
  { id: "actions", name: "Actions", rest: ["actions"] },
  { id: "heartbeats", name: "Heartbeats", rest: ["heartbeats"] },
  { id: "lines", name: "Lines", rest: ["lines"] },
  { id: "reports", name: "Reports", rest: ["reports"] },
  { id: "config", name: "As text", rest: ["config"] },
] as const;

type ProjectPage = (typeof PAGES)[number]["id"];

/** The tabs of a project, by its name; pages that there aren't have none. */
export function projectTabs(
  call: Pick<PageCall, "base" | "leads">,
  project: string,
  here: ProjectPage,
): Markup {
  const all = PAGES.map(({ id, name, rest }) => ({
    id,
    name,
    path: pathOf("p", project, ...rest),
  }));
  return tabs(
    project,
    all
      .filter(({ id, path }) => id === here || call.leads(path))
      .map(({ id, name, path }) => ({ name, href: call.base + path, here: id === here })),
  );
}

import { getProject } from "../../../core/projects/projects.ts";
import { getRule } from "../../../core/projects/rules.ts";
import { pathOf, type Screen } from "../screen.ts";

/** Where ladders were tried before they had pages. Its addresses go on meaning what they meant. */
export const simulateScreen: Screen = {
  path: "/simulate",
  view({ tenant: { store }, query }) {
    const { project = "", rule = "", ...rest } = Object.fromEntries(query);
    if (project === "" || rule === "") return { elsewhere: "/ladders" };
    const { name } = getRule(store, getProject(store, project).id, rule);
    const asked = new URLSearchParams(rest);
    const at = pathOf("p", project, "rules", name, "ladder");
    return { elsewhere: asked.size === 0 ? at : `${at}?${asked}` };
  },
};

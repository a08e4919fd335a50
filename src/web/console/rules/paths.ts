import { pathOf } from "../screen.ts";

/** Where a project's new rule is written. It lies beside its rules: a rule may have any name. */
export const newRulePage = (project: string): string => pathOf("p", project, "new-rule");

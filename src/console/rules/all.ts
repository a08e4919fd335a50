import type { Screen } from "../screen.ts";
import { rulesScreen } from "./list.ts";
import { newRuleScreen, ruleScreen } from "./rule-page.ts";

/** A project's rules, and what is made of them. */
export const ruleScreens: readonly Screen[] = [rulesScreen, newRuleScreen, ruleScreen];

import type { Screen } from "../screen.ts";
import { simulateScreen } from "../simulate/screen.ts";
import { drillScreen } from "./drill.ts";
import { rulesScreen } from "./list.ts";
import { newRuleScreen, ruleScreen } from "./rule-page.ts";

/** A project's rules, and what is tried with them. */
export const ruleScreens: readonly Screen[] = [
  rulesScreen,
  newRuleScreen,
  ruleScreen,
  drillScreen,
  simulateScreen,
];

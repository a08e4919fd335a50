import type { Command } from "commander";
import type { Alert } from "../src/alerts/alert.ts";
import { callApi, path } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { parseLevel } from "./level.ts";
import { apiFlags, print } from "./options.ts";
import { when } from "./table.ts";

/** Trying the whole way of a page: `box drill`. */
export function registerDrill(program: Command): void {
  apiFlags(program.command("drill <project> <rule>"))
    .description(
      "open an alert of which nothing is true but its way: ladder, pages, channels; it ends by itself after 15 minutes",
    )
    .option("--level <level>", "its level (default: the lowest that the rule takes)")
    .option("--message <text>", "what people read behind the word Drill")
    .action(drill);
}

interface DrillOptions extends ApiOptions {
  level?: string;
  message?: string;
}

async function drill(project: string, rule: string, options: DrillOptions): Promise<void> {
  const { level, message } = options;
  const body = {
    ...(level === undefined ? {} : { level: parseLevel(level) }),
    ...(message === undefined ? {} : { message }),
  };
  const from = path("v1", "projects", project, "rules", rule, "drill");
  const alert = await callApi<Alert>(options, "POST", from, body);
  const { id, expires_at } = alert;
  print(
    alert,
    options,
    () =>
      `drill begun: alert ${id}, until ${when(expires_at ?? 0)} or box resolve ${id}\nbox timeline ${id} says what arrived`,
  );
}

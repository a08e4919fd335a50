import type { Command } from "commander";
import type { Advice, AdviceAnswer } from "../src/records/advice/shape.ts";
import { api } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { apiFlags, print } from "./options.ts";
import { printable } from "./table.ts";

export function registerAdvice(program: Command): void {
  const advice = program.command("advice").description("what could be changed");
  apiFlags(advice.command("list", { isDefault: true }))
    .description(
      "show what could be changed so that fewer people are woken for nothing; docs/numbers.md says how it is found",
    )
    .action(list);
  apiFlags(advice.command("hide <id>"))
    .description("don't give this advice for 90 days")
    .action(hide);
}

async function list(options: ApiOptions): Promise<void> {
  const answer = await api.get<AdviceAnswer>(options, "/v1/advice");
  print(answer, options, () =>
    answer.advice.length === 0
      ? "nothing to advise: the past 28 days suggest no change"
      : answer.advice.map(textOf).join("\n\n"),
  );
}

function textOf({ id, project, rule, text, change, would }: Advice): string {
  const where = [project, rule].filter((part) => part !== null).join("/");
  return [
    `${id}${where === "" ? "" : `  ${printable(where)}`}`,
    `  ${printable(text)}`,
    ...(change === null ? [] : [`  change: ${printable(JSON.stringify(change))}`]),
    ...(would === null
      ? []
      : [
          `  over ${would.days} days of kept lines it would have opened ${would.alert_count} alerts and paged ${would.page_count} times`,
        ]),
  ].join("\n");
}

async function hide(id: string, options: ApiOptions): Promise<void> {
  const answer = await api.post<{ id: string; until: number }>(
    options,
    `/v1/advice/${encodeURIComponent(id)}/hide`,
  );
  print(answer, options, () => `${printable(answer.id)} is hidden for 90 days`);
}

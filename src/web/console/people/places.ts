import { listOverrides } from "../../../core/oncall/overrides.ts";
import { peopleOfLayers, type StoredSchedule } from "../../../core/oncall/schedule.ts";
import { listAllSchedules } from "../../../core/oncall/schedules.ts";
import { projectOf } from "../../../core/projects/projects.ts";
import type { StoredRule } from "../../../core/projects/rule.ts";
import { listAllRules } from "../../../core/projects/rules.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { Reader } from "../../../ground/store/store.ts";
import { readFallback } from "../../../out/contacts/notify.ts";
import { type PageCall, pathOf } from "../screen.ts";
import { schedulePage, stretchWords } from "../ui/schedule.ts";
import { way } from "../ui/way.ts";

/** A place that would page somebody by name. */
export interface NamedPlace {
  kind: "ladder" | "layer" | "override" | "fallback";
  /** Its page, below the base; null where there is none. */
  path: string | null;
  /** "rule errors of shop". */
  name: string;
  /** Where in it: "step 1 and 3", "turn 2 of 3". */
  where: string;
  /** Who else stands in the same place, by id. */
  beside: ReadonlySet<string>;
}

/** Every place that names an account: what stands in the way of its removal, and the fallback. `now`: Unix seconds. */
export function placesNaming(reader: Reader, account: string, now: number): NamedPlace[] {
  const schedules = listAllSchedules(reader);
  const fallback = readFallback(reader).accounts;
  return [
    ...listAllRules(reader).flatMap((rule) => ofLadder(reader, rule, account)),
    ...schedules.flatMap((schedule) => ofLayers(schedule, account)),
    ...schedules.flatMap((schedule) => ofOverrides(reader, schedule, { account, now })),
    ...(fallback.includes(account)
      ? [
          {
            kind: "fallback" as const,
            path: null,
            where: "",
            name: "who is paged when nobody else is reached",
            beside: new Set(fallback),
          },
        ]
      : []),
  ];
}

function ofLadder(reader: Reader, rule: StoredRule, account: string): NamedPlace[] {
  const steps = rule.escalations.flatMap(({ accounts }, at) =>
    accounts.includes(account) ? [{ at, accounts }] : [],
  );
  if (steps.length === 0) return [];
  const project = projectOf(reader, rule.project_id).name;
  return [
    {
      kind: "ladder",
      path: pathOf("p", project, "rules", rule.name),
      name: `rule ${rule.name} of ${project}`,
      where: `rung ${steps.map(({ at }) => at + 1).join(" and ")}`,
      beside: new Set(steps.flatMap(({ accounts }) => accounts)),
    },
  ];
}

function ofLayers(schedule: StoredSchedule, account: string): NamedPlace[] {
  return schedule.layers.flatMap(({ name, participants }): NamedPlace[] => {
    const turns = participants.flatMap((one, at) => (one === account ? [at + 1] : []));
    if (turns.length === 0) return [];
    return [
      {
        kind: "layer",
        path: `${schedulePage(schedule)}/layers`,
        name: `layer ${name} of ${schedule.project} / ${schedule.name}`,
        where: `turn ${turns.join(" and ")} of ${participants.length}`,
        beside: new Set(peopleOfLayers([{ participants }])),
      },
    ];
  });
}

/** Those that aren't over. */
function ofOverrides(
  reader: Reader,
  schedule: StoredSchedule,
  { account, now }: { account: string; now: number },
): NamedPlace[] {
  return listOverrides(reader, schedule)
    .filter((one) => one.account_id === account && one.ends_at > now)
    .map((override) => ({
      kind: "override",
      path: `${schedulePage(schedule)}#override-${override.id}`,
      name: `override of ${schedule.project} / ${schedule.name}`,
      where: stretchWords(override, schedule.timezone),
      beside: new Set<string>(),
    }));
}

/** A link to it, and where in it. */
export function placeItem(call: PageCall, { path, name, where }: NamedPlace): Markup {
  return html`${path === null ? name : way(call, path, name)}${where !== "" && html` <span class="soft">${where}</span>`}`;
}

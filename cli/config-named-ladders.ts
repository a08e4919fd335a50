import type { ConfigDocument, FileProject } from "../src/records/config-file/document.ts";
import type { LadderConfig } from "../src/records/config-file/shape.ts";
import type { ListedLadder } from "../src/records/config-file/tenant-nouns.ts";
import { allAccounts } from "./accounts.ts";
import { api, v1 } from "./api.ts";
import { listed, ofFile, planEach, type TenantChange } from "./config-plan.ts";
import type { ApiOptions } from "./connection.ts";

/** The ladders of the tenant in a file: rules of its projects refer to them by name. */

/** The changes that a file's ladders make: those that are made or replaced come before the projects, those that go after them. */
export async function planLadders(
  options: ApiOptions,
  document: ConfigDocument,
  wanted: readonly LadderConfig[],
): Promise<TenantChange[]> {
  const { ladderOfFile } = await import("../src/records/config-file/tenant-nouns.ts");
  const emails = new Map((await allAccounts(options)).map(({ id, email }) => [id, email]));
  const there = await listed<ListedLadder>(options, "ladders");
  return planEach(options, {
    kind: "ladder",
    at: v1("ladders"),
    there: there.map((one) => ladderOfFile(one, (id) => emails.get(id) ?? id)),
    wanted,
    nameOf: ({ name }) => name,
    async put({ imported_from: _from, ...body }, { before, i }) {
      const { name } = body;
      if (before !== undefined && textOf(before) === textOf(body)) return null;
      const steps = body.steps.map((step) => ({
        ...step,
        accounts: step.accounts.map((email) => `email:${email}`),
      }));
      const given = { ...body, steps };
      const put = () =>
        before === undefined
          ? api.post(options, v1("ladders"), given)
          : api.put(options, v1("ladders", name), given);
      const faults = ofFile(`ladder ${name}`, ({ details }) =>
        document.faultsAt(`/tenant/ladders/${i}`, details),
      );
      return { neededBy: "rules", apply: () => put().catch(faults) };
    },
  });
}

/** With its fields in one order. */
function textOf({ name, steps, passes, pass_after_minutes, team }: LadderConfig): string {
  const step = (one: LadderConfig["steps"][number]) => [
    one.accounts,
    one.schedules,
    one.after_minutes,
    one.repeat_minutes,
  ];
  return JSON.stringify([name, steps.map(step), passes, pass_after_minutes, team]);
}

type Config = FileProject["config"];

/**
 * What a project has to be before the file's ladders can be made: as it is, with the schedules that they name. Null where it
 * shares these already, or none.
 */
export function withNamedSchedules(
  { name, config }: FileProject,
  before: Config | null,
  ladders: readonly LadderConfig[],
): Config | null {
  const named = new Set(ladders.flatMap(({ steps }) => steps.flatMap((one) => one.schedules)));
  const present = before?.schedules ?? [];
  const missing = config.schedules.filter(
    (one) =>
      one.shared &&
      named.has(`${name}/${one.name}`) &&
      !present.some((other) => other.name === one.name && other.shared),
  );
  if (missing.length === 0) return null;
  const others = present.filter((one) => !missing.some((other) => other.name === one.name));
  const nothing = { sources: [], actions: [], integrations: [], rules: [] };
  return { ...(before ?? nothing), schedules: [...others, ...missing] };
}

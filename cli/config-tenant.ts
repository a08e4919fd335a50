import { isDeepStrictEqual } from "node:util";
import type { Fallback, Gateway } from "../src/out/contacts/contact.ts";
import { EMAIL_NAME, foldEmail } from "../src/people/email.ts";
import type { ConfigDocument } from "../src/records/config-file/document.ts";
import type { TenantNow } from "../src/records/config-file/tenant.ts";
import { accountIds, allAccounts } from "./accounts.ts";
import { api, v1 } from "./api.ts";
import { listed, ofFile, planEach, type TenantChange } from "./config-plan.ts";
import type { ApiOptions } from "./connection.ts";
import { CommandError } from "./exit.ts";
import { printable } from "./table.ts";
import { terminal } from "./terminal.ts";

/** The settings of the whole box, as a file has them. */
export async function tenantNow(options: ApiOptions): Promise<TenantNow> {
  const { listThings } = await import("../src/records/config-file/tenant-nouns.ts");
  return {
    things: await listThings((noun) => listed(options, noun)),
    gateways: await listed(options, "gateways"),
    fallback: await api.get(options, "/v1/fallback"),
    accounts: await allAccounts(options),
  };
}

/** The changes that a file would make. Throws CommandError with the file's lines. `expected`: see `planFallback`. */
export async function planTenant(
  options: ApiOptions,
  document: ConfigDocument,
  expected: readonly string[],
): Promise<TenantChange[]> {
  const { gateways, fallback } = document.tenant ?? {};
  return [
    ...(await planThings(options, document, expected)),
    ...(gateways ? await planGateways(options, document, gateways) : []),
    ...(fallback ? await planFallback(options, fallback, expected) : []),
  ];
}

/** The changes that a file's lists make: things that are made or replaced come before the projects, those that go after them. */
async function planThings(
  options: ApiOptions,
  document: ConfigDocument,
  expected: readonly string[],
): Promise<TenantChange[]> {
  const { tenantNouns, writtenThing } = await import("../src/records/config-file/tenant-nouns.ts");
  const { writeYaml } = await import("../src/records/config-file/yaml.ts");
  const { lineDiff } = await import("../src/records/config-file/diff.ts");
  const emails = new Map((await allAccounts(options)).map(({ id, email }) => [id, email]));
  const people = new Set([...emails.values().map(foldEmail), ...expected]);
  const plans = tenantNouns.map(async ([key, { one: kind, neededBy, makes, ...noun }]) => {
    const wanted = document.tenant?.[key];
    if (wanted === undefined) return [];
    return planEach<{ name: string }, { name: string }>(options, {
      kind,
      at: v1(key),
      there: await listed(options, key),
      wanted,
      nameOf: ({ name }) => name,
      async put(one, { before, i }) {
        const stranger = noun.people?.(one).find((email) => !people.has(foldEmail(email)));
        if (stranger !== undefined)
          throw new CommandError(`${kind} ${one.name}: there is no account "${stranger}"`);
        const was = before && noun.ofFile(before, (id) => emails.get(id) ?? id);
        const body = noun.body(one);
        if (was !== undefined && isDeepStrictEqual(noun.body(was), body)) return null;
        const make = () =>
          was === undefined && makes === "POST"
            ? api.post(options, v1(key), body)
            : api.put(options, v1(key, one.name), body);
        const faults = ofFile(`${kind} ${one.name}`, ({ details }) =>
          document.faultsAt(`/tenant/${key}/${i}`, details),
        );
        const textOf = (each: { name: string }) =>
          noun.text?.(each, writeYaml) ?? writeYaml(writtenThing(noun, each)).trimEnd();
        const lines = lineDiff(was === undefined ? "" : textOf(was), textOf(one));
        return { lines, neededBy, apply: () => make().catch(faults) };
      },
      // What would be refused once all else has been applied is said before.
      mayGo(one) {
        const [first] = noun.namedBy?.(one, document.projects) ?? [];
        if (first !== undefined)
          throw new CommandError(
            `${kind} ${one.name}: the file has none of this name, and ${first} names it`,
          );
      },
    });
  });
  return (await Promise.all(plans)).flat();
}

async function planGateways(
  options: ApiOptions,
  document: ConfigDocument,
  wanted: readonly { kind: string; settings: Record<string, string> }[],
): Promise<TenantChange[]> {
  return planEach(options, {
    kind: "gateway",
    at: v1("gateways"),
    there: await listed<Gateway>(options, "gateways"),
    wanted,
    nameOf: ({ kind }) => kind,
    async put({ kind, settings }, { before, i }) {
      if (before !== undefined && isShown(settings, before)) return null;
      const faults = ofFile(`gateway ${kind}`, ({ details }) =>
        document.faultsAt(`/tenant/gateways/${i}`, details),
      );
      const at = v1("gateways", kind);
      const put = (query: string) =>
        api.put<{ changed?: boolean }>(options, at + query, settings).catch(faults);
      const { changed } = await put("?dry_run=true");
      return changed ? { apply: () => put("") } : null;
    },
  });
}

/** Whether all wanted settings can be read and are equal. */
function isShown(settings: Readonly<Record<string, string>>, { url, open }: Gateway): boolean {
  const shown: Record<string, string | undefined> = { ...open, url };
  return Object.entries(settings).every(([name, value]) => shown[name] === value);
}

/** `expected`: emails of people who get their account before this is applied. */
async function planFallback(
  options: ApiOptions,
  wanted: { people: string[]; schedules: string[] },
  expected: readonly string[],
): Promise<TenantChange[]> {
  const now = await api.get<Fallback>(options, "/v1/fallback");
  const { people, schedules } = wanted;
  const idOf = people.length === 0 ? (who: string) => who : await accountIds(options);
  const accounts = people.map((who) =>
    expected.includes(foldEmail(who)) ? `${EMAIL_NAME}${who}` : idOf(who),
  );
  const same = (a: readonly string[], b: readonly string[]) => a.join("\n") === b.join("\n");
  if (same(accounts, now.accounts) && same(schedules, now.schedules)) return [];
  const apply = () => api.put(options, "/v1/fallback", { accounts, schedules });
  const name = [...people, ...schedules].join(", ") || "every owner";
  return [{ kind: "fallback", name, change: "update", apply }];
}

/** Says what would change. */
export function showTenant(changes: readonly TenantChange[]): void {
  const lines = changes.flatMap(({ change, kind, name, lines = [] }) => [
    `  ${change} ${kind} ${printable(name)}`,
    ...lines.map(printable),
  ]);
  terminal().stdout.write(`the whole box\n${lines.join("\n") || "  nothing changes"}\n`);
}

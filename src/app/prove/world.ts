import type { Api } from "./api.ts";
import type { ProjectPlan, RulePlan } from "./evidence.ts";
import type { ReceiverBehaviour, Receivers } from "./receiver.ts";

/** A project of the scratch box. */
export interface WorldSetting extends ProjectPlan {
  /** The behaviour of each endpoint, by its name. */
  tempers: Record<string, ReceiverBehaviour>;
  /** How many values the identifier `host` has. */
  hosts: number;
}

const HOSTS = 6;

const once: RulePlan = { name: "each", count: 1, keys: HOSTS, ladder: false, tag: null };
/** Some of its alerts become critical, some are answered by an old link. */
export const paging: RulePlan = { ...once, name: "paging", ladder: true, tag: "paging" };

/** Four projects which together cover every way in which an alert opens and is sent. */
export const settings: readonly WorldSetting[] = [
  setting("orders", [once], ["healthy", "slow"]),
  setting("billing", [{ ...once, name: "thrice", count: 3 }], ["healthy", "flaky"]),
  { ...setting("search", [{ ...once, ladder: true }], ["slow", "flaky"]), action: "search/action" },
  setting("edge", [once, { ...once, name: "both" }], ["healthy", "slow", "flaky"]),
];

/** The project in which senders name their alerts. */
export const namedSetting: WorldSetting = {
  ...setting("named", [once], ["healthy", "flaky"]),
  named: true,
};

/** The project in which alerts are silenced and sent afterwards, rise, become too many, and are answered by old links. */
export const quietSetting: WorldSetting = {
  ...setting("quiet", [once, paging], ["healthy", "flaky"]),
  quiet: true,
};

/** The project in which ladders change; the feed makes its rules. */
export const climbSetting: WorldSetting = { ...setting("climb", [], ["healthy"]), quiet: true };

/** All of them. */
export const everySetting = [...settings, namedSetting, quietSetting, climbSetting];

function setting(name: string, rules: RulePlan[], tempers: ReceiverBehaviour[]): WorldSetting {
  const named = tempers.map((temper) => [`${name}/${temper}`, temper] as const);
  return {
    name,
    rules,
    endpoints: named.map(([endpoint]) => endpoint),
    action: null,
    named: false,
    quiet: false,
    tempers: Object.fromEntries(named),
    hosts: HOSTS,
  };
}

/** The ingest token of each project. */
export type ProjectTokens = Record<string, string>;

/** Makes the projects. `receivers`: an address for each behaviour. `people`: those on ladders. Throws API errors. */
export async function build(
  api: Api,
  receivers: Record<ReceiverBehaviour, string>,
  people: readonly string[],
): Promise<ProjectTokens> {
  const tokens: ProjectTokens = {};
  for (const plan of everySetting) {
    const at = `/v1/projects/${plan.name}`;
    await api.need("POST", "/v1/projects", { name: plan.name });
    const source = { name: "app", retain_logs: !plan.named && !plan.quiet };
    tokens[plan.name] = String((await api.need("POST", `${at}/sources`, source))["token"]);
    for (const [endpoint, temper] of Object.entries(plan.tempers)) {
      const url = `${receivers[temper]}/${endpoint}`;
      await api.need("POST", `${at}/webhooks`, { url });
    }
    if (plan.action !== null)
      await api.need("POST", `${at}/actions`, {
        name: "note",
        method: "POST",
        url: `${receivers.healthy}/${plan.action}`,
      });
    for (const rule of plan.rules) await api.need("POST", `${at}/rules`, ruleBody(rule, people));
  }
  return tokens;
}

/** Codes that are sent until a failing service lets one through. */
const MOST_CODES = 20;

/**
 * Gives the owner, who is on the ladders, two contacts whose service sometimes fails. The second, whose id is returned, is
 * for critical alerts.
 */
export async function reachOwner(api: Api, receivers: Receivers): Promise<string> {
  const [all, critical] = [await addContact(api, receivers), await addContact(api, receivers)];
  const rules = [
    { after_seconds: 0, contacts: [all], min_level: 0 },
    { after_seconds: 0, contacts: [critical], min_level: CRITICAL_LEVEL },
  ];
  await api.need("PUT", "/v1/accounts/me/notify", { rules });
  return critical;
}

export const CRITICAL_LEVEL = 500;

async function addContact(api: Api, { urls, told }: Receivers): Promise<string> {
  const base = "/v1/accounts/me/contacts";
  const write = { kind: "webhook", address: `${urls.flaky}/person` };
  const { id } = await api.need("POST", base, write);
  for (let tries = 0; tries < MOST_CODES; tries++) {
    await api.need("POST", `${base}/${String(id)}/verify`, {});
    const last = told.at(-1);
    if (last?.wasTaken !== true) continue;
    await api.need("POST", `${base}/${String(id)}/verify`, { code: last.code });
    return String(id);
  }
  throw new Error(`no code came through in ${MOST_CODES} tries`);
}

function ruleBody(rule: RulePlan, people: readonly string[]): object {
  return {
    name: rule.name,
    identifier_keys: ["host"],
    match: { tags: rule.tag === null ? [] : [rule.tag] },
    max_open: 0,
    fire_after: { count: rule.count, window_minutes: 1440 },
    ...(rule.ladder ? { escalations: [{ accounts: people, after_minutes: 0 }] } : {}),
  };
}

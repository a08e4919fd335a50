import type { Plan } from "../../hosted/registry/tenants.ts";
import { roles } from "../../people/roles.ts";

const plans = ["free", "pro"] as const satisfies readonly Plan[];

const tenantFlags = {
  "--box-url <url>": "the box's address for receipt checks",
  "--plan <plan>": { about: "free or pro", choices: plans },
  "--watch <seconds>": "how long a box may be silent, 0 = not watched (default 300)",
} as const;

/** Of the operator's commands on the hosted service's data directory, by what each makes. */
export const operatorFlags = {
  account: { "--email <email>": { must: "the account's e-mail address" } },
  key: {
    "--tenant <id>": { must: "the tenant" },
    "--email <email>": {
      must: "the account's e-mail address; the account is made a member of the tenant if it isn't one yet",
    },
    "--role <role>": {
      about: "owner, admin or member (default member; owner for the first one)",
      choices: roles,
    },
  },
  tenant: tenantFlags,
  newTenant: {
    ...tenantFlags,
    "--kind <kind>": {
      must: "box (with a box of its own) or hosted (without)",
      choices: ["box", "hosted"],
    },
    "--owner <email>": "the only account that may make the first pairing",
  },
  apns: {
    "--key-file <p8>": { must: "Apple's .p8 file" },
    "--key-id <id>": { must: "the key's id" },
    "--team-id <id>": { must: "the team's id" },
    "--topic <bundle>": { must: "the app's bundle id" },
    "--endpoint <url>": "default https://api.push.apple.com",
    "--ca <file>": "trust only this authority for Apple's server (PEM)",
  },
} as const;

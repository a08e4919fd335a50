import type { Command } from "commander";
import type { Invitation } from "../src/people/pairing.ts";
import { api } from "./api.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { apiFlags, type GivenBy, print } from "./options.ts";
import { printable, when } from "./table.ts";

/** Makes a pairing code by the API; `box pair-code` needs the data directory. */
export function registerInvite(program: Command): void {
  apiFlags(program.command("invite <email...>"), inviteFlags)
    .description(
      "invite people: print for each a pairing code that makes one account, and a link, or mail it",
    )
    .action(inviteAll);
}

const inviteFlags = {
  "--role <role>": { about: "owner, admin or member, at most your own", usual: "member" },
  "--for <length>": { about: "how long the invitation is valid: 1h, 2d (at most 7d)", usual: "1h" },
  "--mail": "send each the link by mail, through the box's gateway (box gateway)",
};
type InviteOptions = GivenBy<typeof inviteFlags>;

async function inviteAll(emails: string[], options: InviteOptions): Promise<void> {
  const { emailField } = await import("../src/people/account.ts");
  // One that is none is found before anybody is invited.
  const wrong = emails.filter((email) => !emailField.safeParse(email).success);
  if (wrong.length > 0)
    throw new CommandError(
      `nobody was invited: ${printable(wrong.join(", "))} is no e-mail address`,
      exitCodes.usage,
    );
  for (const email of emails) await invite(email, options);
}

async function invite(email: string, options: InviteOptions): Promise<void> {
  const code = await api.post<Invitation>(options, "/v1/pair/codes", {
    email,
    role: options.role,
    ttl_seconds: options.for,
    ...(options.mail === true && { mail: true }),
  });
  if (code.mailed === true)
    return print(
      code,
      options,
      () => `mailed to ${code.email}, good until ${when(code.expires_at)}`,
    );
  if (code.mail_error !== undefined)
    process.stderr.write(`not mailed to ${code.email}: ${printable(code.mail_error)}\n`);
  print(code, options, () =>
    [
      `pairing code  ${code.code}`,
      `role          ${code.role}`,
      `for           ${code.email ?? "anyone who has it"}`,
      `good until    ${when(code.expires_at)}`,
      `link          ${code.link}`,
      "",
      `On their machine: box login --code ${code.link || code.code}`,
    ].join("\n"),
  );
}

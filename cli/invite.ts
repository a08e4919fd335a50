import type { Command } from "commander";
import type { Invitation } from "../src/people/pairing.ts";
import { callApi } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { apiFlags, print } from "./options.ts";
import { when } from "./table.ts";
import { parseSpan } from "./times.ts";

/** Makes a pairing code by the API; `box pair-code` needs the data directory. */
export function registerInvite(program: Command): void {
  apiFlags(program.command("invite <email>"))
    .description("invite a person: print a pairing code that makes one account, and a link")
    .option("--role <role>", "owner, admin or member, at most your own", "member")
    .option("--for <length>", "how long the invitation is valid: 1h, 2d (at most 7d)", "1h")
    .action(invite);
}

async function invite(
  email: string,
  options: ApiOptions & { role: string; for: string },
): Promise<void> {
  const code = await callApi<Invitation>(options, "POST", "/v1/pair/codes", {
    email,
    role: options.role,
    ttl_seconds: parseSpan("--for", options.for),
  });
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

import type { Command } from "commander";
import { callApiText } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { readText } from "./files.ts";
import { apiFlags } from "./options.ts";
import type { Method } from "./request.ts";
import { terminal } from "./terminal.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** `box api GET /v1/me`: calls any route with the key and address of every command. */
export function registerRaw(program: Command): void {
  apiFlags(program.command("api <method> <path> [body]"))
    .description("call any route of the API; the body is JSON (- = standard input)")
    .action(call);
}

async function call(
  method: string,
  path: string,
  body: string | undefined,
  options: ApiOptions,
): Promise<void> {
  const verb = method.toUpperCase();
  if (!METHODS.includes(verb))
    throw new CommandError(
      `the method must be one of ${METHODS.join(", ")}, not "${method}"`,
      exitCodes.usage,
    );
  if (!path.startsWith("/"))
    throw new CommandError(`the path must begin with /, as /v1/me does`, exitCodes.usage);
  const text = body === "-" ? await readText("-") : body;
  const sent = text === undefined ? undefined : parsed(text);
  const answer = await callApiText(options, verb as Method, path, sent);
  if (answer !== "") terminal().stdout.write(`${answer.replace(/\n$/, "")}\n`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandError(`the body is no JSON: ${why}`, exitCodes.usage);
  }
}

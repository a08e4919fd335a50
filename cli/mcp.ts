import type { Command } from "commander";
import { systemClock } from "../src/ground/kit/clock.ts";
import { systemRandom } from "../src/ground/kit/random.ts";
import { ASSISTANT } from "../src/people/actor.ts";
import type { AskBox } from "../src/web/assistants/ask.ts";
import { type ApiOptions, connectionOf } from "./connection.ts";
import { flag, reachFlags } from "./options.ts";
import { send } from "./request.ts";
import { terminal } from "./terminal.ts";

/** `box mcp`: an assistant's program starts it and speaks with it over standard input and output. */
export function registerMcp(program: Command): void {
  reachFlags(program.command("mcp"))
    .description(
      "let an assistant read the box and plan changes with your key, by the Model Context Protocol on standard input and output",
    )
    .addOption(flag("--allow-acts", "let it carry out what it planned, too", "MCP"))
    .action(serveAssistant);
}

interface McpOptions extends ApiOptions {
  allowActs?: boolean;
}

async function serveAssistant(options: McpOptions): Promise<void> {
  const { url, key } = connectionOf(options);
  const { serveAssistantOn } = await import("../src/web/assistants/stdio.ts");
  const { stdin, stdout } = terminal();
  await serveAssistantOn(
    { stdin, stdout },
    {
      ask: askAt(url, key),
      acts: options.allowActs ?? false,
      clock: systemClock,
      random: systemRandom,
    },
  );
}

const askAt =
  (url: string, token: string): AskBox =>
  async ({ method, path, body }) => {
    const headers = { [ASSISTANT.header]: ASSISTANT.value };
    const { status, text } = await send(url, { method, path, token, body, headers });
    return { status, body: text === "" ? null : JSON.parse(text) };
  };

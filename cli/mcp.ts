import type { Command } from "commander";
import { systemClock } from "../src/ground/kit/clock.ts";
import type { FlagsGiven } from "../src/ground/kit/flags.ts";
import { systemRandom } from "../src/ground/kit/random.ts";
import { ASSISTANT } from "../src/people/actor.ts";
import type { AskBox } from "../src/web/assistants/ask.ts";
import { connectionOf } from "./connection.ts";
import { addFlags, reachFlags } from "./options.ts";
import { send } from "./request.ts";
import { terminal } from "./terminal.ts";

const mcpFlags = {
  ...reachFlags,
  "--allow-acts": { about: "let it carry out what it planned, too", twin: "MCP" },
};

/** `box mcp`: an assistant's program starts it and speaks with it over standard input and output. */
export function registerMcp(program: Command): void {
  addFlags(program.command("mcp"), mcpFlags)
    .description(
      "let an assistant read the box and plan changes with your key, by the Model Context Protocol on standard input and output",
    )
    .action(serveAssistant);
}

async function serveAssistant(options: FlagsGiven<typeof mcpFlags>): Promise<void> {
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

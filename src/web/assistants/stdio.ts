import type { Readable, Writable } from "node:stream";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Clock } from "../../ground/kit/clock.ts";
import type { Random } from "../../ground/kit/random.ts";
import type { AskBox } from "./ask.ts";
import { createPlans } from "./plans.ts";
import { assistantServer, operationsOnce } from "./server.ts";

/** Serves the one assistant at these streams, until it closes its own. */
export async function serveAssistantOn(
  { stdin, stdout }: { stdin: Readable; stdout: Writable },
  { ask, acts, clock, random }: { ask: AskBox; acts: boolean; clock: Clock; random: Random },
): Promise<void> {
  const plans = createPlans({ clock, random });
  const operations = operationsOnce();
  const transport = new StdioServerTransport(stdin, stdout);
  const closed = new Promise<void>((resolve) => {
    stdin.once("end", resolve);
    stdin.once("close", resolve);
  });
  serveStdio(() => assistantServer({ ask, owner: "", plans, acts, random, operations }), {
    transport,
    maxSubscriptions: 0,
  });
  await closed;
}

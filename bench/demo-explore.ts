import { join } from "node:path";

/**
 * Whether the demonstration goes on until Ctrl-C: at a terminal, unless `--once` or CI says that nobody
 * looks. `--stay` stays wherever it runs.
 */
export function staysOpen(
  words: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): boolean {
  if (words.includes("--stay")) return true;
  return isTerminal && !words.includes("--once") && !env["CI"];
}

/** What is there to look at: a link for a browser, and commands to paste. */
export function explore(place: {
  url: string;
  key: string;
  /** Signs a browser in. */
  look: string;
  project: string;
  alerts: { open: string; acknowledged: string };
}): string {
  const { url, key, look, project, alerts } = place;
  const cli = join(import.meta.dirname, "../cli");
  return `
The box goes on running. In a browser on this machine, as ada:

  ${look}

In another terminal, with her key:

  PATH="${cli}:$PATH"
  export BOX_URL=${url} BOX_KEY=${key}

  box alerts --state open             # what is wrong
  box alert show ${alerts.acknowledged.padEnd(20)} # one of them: who was paged, what was sent, who has it
  box rule show ${project} 'loud lines'   # the rule, and its ladder
  box schedule show ${project} primary    # who is on call when
  box oncall                          # and now
  box integration list ${project}         # where events go: the webhook, and the relay to the phones
  box tail ${project} --limit 5           # the lines themselves
  box ack ${alerts.open.padEnd(27)} # nobody is paged for it any more
  box timeline ${alerts.open.padEnd(22)} # and its whole history

Two minutes after an alert opened, its ladder pages both, until somebody has it: watch this terminal.
Ctrl-C ends it all and removes its data.
`;
}

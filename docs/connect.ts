import type { Adapter } from "../src/in/adapters/adapter.ts";
import { mailPresets } from "../src/in/adapters/email/presets.ts";
import { adapters } from "../src/in/adapters/list.ts";
import { presets } from "../src/in/adapters/mapping/presets.ts";
import { INGEST_LIMIT, NDJSON_LIMIT } from "../src/web/http/ingest.ts";

const HEAD = `# Connect what you already run

Made from the program by \`node docs/generate.ts\`. The box understands what these send as it is: put its address there,
and firing, repeating and resolving go through. Each takes the same steps.

\`box connect KIND --project shop --wait\` does it in one: a source, a rule where none would hear it, the text to paste with
its token in it, and then what became of the first event. Step by step:

1. Here: make a source of its kind. It prints its tokens once: the long one, and a short one for senders that take no
   more than 32 characters.

   \`\`\`sh
   box project add shop
   box source add shop monitoring --kind alertmanager
   \`\`\`

2. There: paste what the card says, with the token in place of \`TOKEN\`. A sender that can set no header takes the token
   in the address: \`/v1/in/KIND/TOKEN\`.
3. A rule of the project has to match what comes: one without conditions takes everything
   (\`{"name": "all", "match": {"min_level": 300}}\`, see [rules](how-to/rules.md)).
4. Send a test from there, or wait. \`box source show shop monitoring\` counts what was accepted, what no rule took and what was
   refused, with the latest refused body; \`box alerts\` lists the alert. A repeat changes nothing there; a resolve ends it.

A sender that takes only a host name, or insists on its maker's path, finds those at a listener of their own:
\`box serve --adapters-listen 0.0.0.0:8081\` serves \`/v2/enqueue\`, \`/v2/alerts\`, \`/api/v2/alerts\`,
\`/integrations/v1/TYPE/TOKEN/\`, \`/integrations/generic/20131114/alert/TOKEN/KEY\`,
\`/api/v2/TYPE/incoming\`, \`/api/v2/heartbeat/UUID\` and nothing of the box's own;
\`--adapters-here\` serves them on the box's own port. Tokens are looked for in the same places.

A sender that keeps the key of an earlier tool (an OnCall token, an Opsgenie or PagerDuty key) changes its host name alone:
\`box source add-key shop oncall key.txt\` lets that key open the source too.

One source for each sender: then its facts are its own, and its token can be rotated alone. Tokens that a sender shows to
many people open this one door and nothing else.
`;

const MIB = 1024 * 1024;
const size = (bytes: number) => (bytes < MIB ? `${bytes / 1024} KiB` : `${bytes / MIB} MiB`);

/** What a request of each kind may be, those alike together. */
function most(): string {
  const kinds = new Map<string, string[]>();
  for (const { kind, caps } of adapters) {
    const cells = `${size(caps.sent)} | ${size(caps.inflated)}`;
    kinds.set(cells, [...(kinds.get(cells) ?? []), `\`${kind}\``]);
  }
  return [
    "## What each takes at most",
    "",
    "One request of this kind, as it is sent and inflated:",
    "",
    "| Kinds | Sent | Inflated |",
    "|---|---|---|",
    ...[...kinds].map(([cells, names]) => `| ${names.join(", ")} | ${cells} |`),
    `| \`/v1/ingest\`, an event | ${size(INGEST_LIMIT)} | not compressed |`,
    `| \`/v1/ingest\`, lines (NDJSON) | ${size(NDJSON_LIMIT)} | not compressed |`,
    MOST,
  ].join("\n");
}

const MOST = `
What is longer is refused with 413, in the form that its sender understands. So is what is short and dear to read: more than
200 times as many bytes inflated as sent, JSON of more than 500,000 values (an event at \`/v1/ingest\`: 2,000; all lines of a
request: 300,000), events of more than 64 Mi characters in all, and a body that takes more than 20 seconds or 192 MiB to read.
A body above 32 KiB is read beside the box's own work, one at a time, and sources take turns: pages wait for none of them.
A source whose long body waits behind another's is answered a little later.

By a port of its own: a message of syslog has 64 KiB, and the rest of a longer one is cut off; a message of GELF has 1 MiB
inflated and 10,000 values; a mail has 1 MiB, of which 30,000 lines are read, in at most 3 seconds: of one that needs longer
the plain text is taken.
`;

/** docs/connect.md: a card for each format that the box understands. */
export function connectReference(): string {
  const cards = adapters.map(card);
  const list = adapters.map(({ title }) => `- [${title}](#${anchor(title)})`);
  return `${[HEAD, `${list.join("\n")}\n`, ...cards, most(), known()].join("\n").trimEnd()}\n`;
}

function card({ kind, title, setUp }: Adapter): string {
  const { where, paste, notes } = setUp({
    base: "https://box.example.com",
    token: "TOKEN",
    shortToken: "SHORT_TOKEN",
  });
  return [
    `## ${title}`,
    "",
    `Kind \`${kind}\`. Paste this into ${where}:`,
    "",
    "```",
    paste,
    "```",
    "",
    ...notes.map((note) => `- ${note}`),
    "",
  ].join("\n");
}

/** What is known of senders that post to a source of kind `hook`. */
function known(): string {
  const rows = Object.entries(presets).map(([name, { title, paste }]) =>
    paste === undefined
      ? `- \`${name}\`: ${title}.`
      : `- \`${name}\`: ${title}. What to paste there:\n\n  \`\`\`\n  ${paste.replaceAll("\n", "\n  ")}\n  \`\`\`\n`,
  );
  return [
    "## Webhooks that are known by name",
    "",
    "A source of kind `hook` reads its sender's words by a mapping: `options.mapping` is one of these names, a document of",
    "your own (contract §24), or a document with `preset` that stands over one of them.",
    "",
    ...rows,
    "",
    "## Mails that are known by name",
    "",
    "Of most senders' subjects the box knows which end what. Some say it in words of their own: of those `options.mail_rules`",
    "of a source of kind `email` is one of these names, or a list of [mail rules](how-to/send-events.md#send-mail).",
    "",
    ...Object.entries(mailPresets).map(([name, { title }]) => `- \`${name}\`: ${title}.`),
    "",
  ].join("\n");
}

function anchor(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\w -]/g, "")
    .replaceAll(" ", "-");
}

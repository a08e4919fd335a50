import type { Adapter, SenderIdentity } from "../src/in/adapters/adapter.ts";
import { mailPresets } from "../src/in/adapters/email/presets.ts";
import { adapters, identityOf, sourceKinds } from "../src/in/adapters/list.ts";
import { presets } from "../src/in/adapters/mapping/presets.ts";
import { INGEST_LIMIT, NDJSON_LIMIT } from "../src/web/http/ingest.ts";

const HEAD = `# How do I connect what I already run?

Made from the program by \`node_modules/.bin/node docs/generate.ts\`. The box understands the formats of these senders. Give them the box's address, and their alerts open, repeat and resolve
here. In the console: *Projects*, a project, *Connect*.

\`box connect KIND --project shop --wait\` does everything. It makes a source, and a rule if none matches. It prints the text to paste, token included, and says what
the first event did. Step by step:

\`\`\`sh
box project add shop
box source add shop monitoring --kind alertmanager
box source show shop monitoring
\`\`\`

1. Here: make a source of the sender's kind. \`box source add\` prints two tokens once: a long one, and a short one for senders that take no more than 32 characters.
2. There: paste the text of the sender's section (below), with your token in place of \`TOKEN\`. If the sender can set no header, put the token into the address: \`/v1/in/KIND/TOKEN\`.
3. **A rule of the project has to match what comes; otherwise no alert opens.** A rule without conditions matches all events of its \`min_level\` and above
   (\`{"name": "all", "match": {"min_level": 300}}\`, see [rules](how-to/rules.md)).
4. Send a test from there, or wait. \`box source show shop monitoring\` counts the events that were accepted, refused or matched by no rule, and shows the latest refused body. \`box alerts\` lists the alert.

Make one source for each sender: then you see its own counts, and you can rotate its token alone. Anybody who has a source's token can send to that source, and do nothing else.

**Senders that insist on a fixed path, or take only a host name**: \`box serve --adapters-listen 0.0.0.0:8081\` opens a port that serves
\`/v2/enqueue\`, \`/v2/alerts\`, \`/api/v2/alerts\`, \`/integrations/v1/TYPE/TOKEN/\`, \`/integrations/generic/20131114/alert/TOKEN/KEY\`, \`/api/v2/TYPE/incoming\` and
\`/api/v2/heartbeat/UUID\`, and nothing else. \`--adapters-here\` serves them on the box's own port. The token is where the sender puts it.

**Senders that keep the key of another system** (an OnCall token, an Opsgenie or PagerDuty key) change only the host name. \`box source add-key shop oncall key.txt\` lets that key send to
the source \`oncall\`, too.
`;

/** What an alert of each kind is called, and by what alerts are told apart. */
function toldApart(): string {
  const codes = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(", ");
  const rows = sourceKinds.map((kind) => {
    const { title, labels, named } = identityOf(kind) as SenderIdentity;
    const from =
      title.length === 0 ? "the message's first line" : title.map(codeOrWords).join(", else ");
    return `| \`${kind}\` | ${from} | ${labels.length === 0 ? "each sender's own" : codes(labels)} | ${APART[named]} |`;
  });
  return [TOLD_APART, ...rows, ""].join("\n");
}

/** A field's name; words as they are. */
const codeOrWords = (from: string) => (from.includes(" ") ? from : `\`${from}\``);

const APART = {
  all: "`dedup_key`",
  some: "`dedup_key`; if there is none, template and identifiers",
  none: "template and identifiers",
};

const TOLD_APART = `## What an alert is called, and what makes two alerts two

An alert's title is what its sender gave (second column), else the first line of its message. Labels are the keys of its events. If
a sender names its alerts (\`dedup_key\`), the name tells them apart. Otherwise the message's [template](templates.md) and the rule's
\`identifier_keys\` do. For such a kind, the rule that \`box connect\` makes takes the labels of this table as \`identifier_keys\`. If each sender has its own labels,
\`box connect --wait\` and the project's page propose those of the first event.

| Kind | Title | Labels that name the thing | Told apart by |
|---|---|---|---|`;

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
    "One request, as it is sent, and after the box has inflated (unpacked) it:",
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
The box refuses a longer one with 413, in the sender's own form. It also refuses a short body that costs much to read:

- Inflated, it is more than 200 times as long as sent.
- It is JSON of more than 500,000 values (an event at \`/v1/ingest\`: 2,000; all lines of a request: 300,000).
- It is JSON that takes more than 20 MiB of memory (one byte a character if all are ASCII, else two).
- Its events together have more than 64 million (2^26) characters.
- It takes more than 20 seconds or 192 MiB of memory to read.

A thread reads bodies above 32 KiB, one at a time; sources take turns. So the answer to a long body may have to wait. Notifications don't wait.

Other ports: of a syslog message the box reads 64 KiB. A GELF message may have 1 MiB
inflated and 10,000 values. A mail may have 1 MiB; the box reads 30,000 lines of it, for at most 3 seconds, and then takes the plain text.
`;

/** docs/connect.md: a card for each format that the box understands. */
export function connectReference(): string {
  const cards = adapters.map(card);
  const list = adapters.map(({ title }) => `- [${title}](#${anchor(title)})`);
  return `${[HEAD, `${list.join("\n")}\n`, ...cards, toldApart(), most(), known()].join("\n").trimEnd()}\n`;
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
    "A source of kind `hook` needs a mapping: where in the body the message is, the level, and so on. `options.mapping` is one of",
    "these names, or a mapping of your own (contract §24), which may change one of them (`preset`).",
    "",
    ...rows,
    "",
    "## Mails that are known by name",
    "",
    "The box knows which subjects of most senders open and resolve an alert. For senders with other words, set `options.mail_rules`",
    "of a source of kind `email` to one of these names, or to a list of [mail rules](how-to/send-events.md#send-mail).",
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

import type { Command } from "commander";
import type { SourceAnswer, SourceFacts } from "../src/core/projects/source.ts";
import { systemClock, unixSeconds } from "../src/ground/kit/clock.ts";
import { api, v1 } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { readText } from "./files.ts";
import { nounCommands } from "./noun.ts";
import { apiFlags, type GivenBy, print } from "./options.ts";
import { age, agoOrNever, printable, short, table, when } from "./table.ts";

export function registerSources(program: Command): void {
  const group = program.command("source").description("sources: who may send events");
  const source = nounCommands(group, {
    of: "<project>",
    one: "<name>",
    at: ([project = ""]) => v1("projects", project, "sources"),
  });
  apiFlags(group.command("list <project>"))
    .description("list sources, with what became of their events since the box started")
    .action(list);
  source.verb(
    "show",
    "show what became of a source's events since the box started: accepted, refused and why, matched by no rule",
    show,
  );
  apiFlags(group.command("add <project> <name>"), addFlags)
    .description("create a source; prints its ingest token once")
    .action(add);
  apiFlags(group.command("set <project> <name>"), setFlags)
    .description("change a source: what you leave out stays")
    .action(set);
  source.rename(
    "rename a source; its token keeps working, and rules and silences use the new name",
  );
  apiFlags(group.command("try <project> <name> <file>"), tryMappingFlags)
    .description("show the events that a mapping makes of a body in a file (- for standard input)")
    .action(tryMapping);
  source.post<Tokens>(
    "rotate",
    "replace a source's token; the old one stops working at once",
    tokensText,
    "/rotate-token",
  );
  registerSourceKeys(group);
  source.delete("delete a source");
}

async function list(project: string, options: ApiOptions): Promise<void> {
  const at = v1("projects", project, "sources");
  const answer = await api.get<{ sources: SourceAnswer[]; facts: SourceFacts[] }>(options, at);
  const heads = ["NAME", "KIND", "ACCEPTED", "NO RULE", "REFUSED", "LAST SEEN", "RETAINS LOGS"];
  const rows = answer.sources.map((source, i) => [
    source.name,
    source.kind,
    ...factCells(answer.facts[i]),
    source.retain_logs,
    source.room === "project" ? "shared" : "its own",
    when(source.created_at),
  ]);
  print(answer, options, () => table([...heads, "ALERTS' NAMES", "CREATED"], rows));
}

interface Tokens {
  token: string;
  /** For senders that take at most 32 characters; only for kinds with such a token. */
  short_token?: string;
}

function tokensText({ token, short_token }: Tokens): string {
  return short_token === undefined
    ? token
    : table(
        [],
        [
          ["token", token],
          ["short token", short_token],
        ],
      );
}

const RETAINS = {
  "--retain-logs": "keep its events as log lines: for box tail, dry runs and box alert lines",
};
const MAPPING = {
  "--mapping <preset|file>":
    "for kind hook: how to read its bodies, a preset's name or a JSON file",
};
const addFlags = {
  ...RETAINS,
  "--kind <kind>": "the sender's format, for example alertmanager (default: the box's own)",
  ...MAPPING,
};
const setFlags = { ...RETAINS, "--no-retain-logs": "keep no more log lines of it", ...MAPPING };

async function add(
  project: string,
  name: string,
  options: GivenBy<typeof addFlags>,
): Promise<void> {
  const { retainLogs = false, kind, mapping } = options;
  const source = {
    name,
    retain_logs: retainLogs,
    ...(kind === undefined ? {} : { kind }),
    ...(mapping === undefined ? {} : { options: { mapping: await readMappingOf(mapping) } }),
  };
  const to = v1("projects", project, "sources");
  const answer = await api.post<Tokens>(options, to, source);
  print(answer, options, () => tokensText(answer));
}

/** The name of a preset is returned; a file is read. Throws CommandError. */
async function readMappingOf(given: string): Promise<unknown> {
  if (/^[a-z0-9-]{2,64}$/.test(given)) return given;
  const text = await readText(given);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CommandError(`${given} is no JSON: ${(error as Error).message}`, exitCodes.usage);
  }
}

async function set(
  project: string,
  name: string,
  options: GivenBy<typeof setFlags>,
): Promise<void> {
  const all = v1("projects", project, "sources");
  const { sources } = await api.get<{ sources: SourceAnswer[] }>(options, all);
  const now = sources.find((one) => one.name === name);
  const { mapping } = options;
  const body = {
    retain_logs: options.retainLogs ?? now?.retain_logs ?? false,
    ...(mapping === undefined
      ? {}
      : { options: { ...now?.options, mapping: await readMappingOf(mapping) } }),
  };
  const answer = await api.put<object>(options, `${all}/${encodeURIComponent(name)}`, body);
  print(answer, options, () => `changed ${name}`);
}

const tryMappingFlags = {
  "--mapping <preset|file>": "use this mapping, not the source's own",
};

async function tryMapping(
  project: string,
  name: string,
  file: string,
  options: GivenBy<typeof tryMappingFlags>,
): Promise<void> {
  const to = v1("projects", project, "sources", name, "mapping", "try");
  const { mapping } = options;
  const answer = await api.post<{ events: object[]; rejected: string[] }>(options, to, {
    body: await readText(file),
    ...(mapping === undefined ? {} : { mapping: await readMappingOf(mapping) }),
  });
  print(answer, options, () =>
    [...answer.events.map((event) => JSON.stringify(event, null, 2)), ...answer.rejected].join(
      "\n",
    ),
  );
}

async function show(place: string, options: ApiOptions): Promise<void> {
  const facts = await api.get<SourceFacts>(options, `${place}/facts`);
  print(facts, options, () => factsText(facts));
}

/** The columns of the list: accepted, matched by no rule, refused by code, last seen. */
function factCells(facts: SourceFacts | undefined): string[] {
  if (facts === undefined) return ["", "", "", ""];
  const { accepted, unmatched, refused, last_seen } = facts;
  const codes = Object.entries(refused).map(([code, n]) => `${n} ${code}`);
  return [String(accepted), String(unmatched), codes.join(", ") || "none", agoOrNever(last_seen)];
}

function factsText(facts: SourceFacts): string {
  const now = unixSeconds(systemClock);
  const codes = Object.entries(facts.refused).map(([code, n]) => `${n} ${code}`);
  const rows = [
    ["accepted", `${facts.accepted} since the box started`],
    ["no rule", `matched ${facts.unmatched} of them`],
    ["refused", codes.join(", ") || "none"],
    ["last seen", agoOrNever(facts.last_seen)],
  ];
  const { last_refused: last } = facts;
  if (last === null) return table([], rows);
  const body =
    last.body === null ? "for managers only" : printable(short(last.body, 500)) || "not read";
  return [
    table([], rows),
    `the latest refusal, ${age(last.at, now)} ago: ${printable(last.message)} (${last.code})`,
    `  ${body}`,
  ].join("\n");
}

const keysOf = (project: string, name: string) => v1("projects", project, "sources", name, "keys");

/** `box source keys`, `add-key`, `delete-key`: keys that senders have from an earlier tool. */
function registerSourceKeys(source: Command): void {
  const key = nounCommands(source, {
    of: "<project> <name>",
    one: "<id>",
    at: ([project = "", name = ""]) => keysOf(project, name),
  });
  key.list<{ id: number; added_at: number }>(
    "list the keys of other systems that a source accepts, by id",
    { ID: ({ id }) => id, ADDED: ({ added_at }) => when(added_at) },
    { name: "keys" },
  );
  apiFlags(source.command("add-key <project> <name> <file>"))
    .description(
      "accept a key of another system for this source, so that its sender need not change (- for standard input)",
    )
    .action(async (project: string, name: string, file: string, options: ApiOptions) => {
      const key = (await readText(file)).trim();
      const answer = await api.post<{ id: number }>(options, keysOf(project, name), { key });
      print(answer, options, () => `added ${answer.id}`);
    });
  key.delete("remove a key of another system from a source, by its id", "delete-key");
  const secretOf = (project: string, name: string) =>
    v1("projects", project, "sources", name, "secret");
  apiFlags(source.command("secret <project> <name> [file]"))
    .description(
      "set the secret that the sender signs with (- for standard input); unsigned requests are then refused",
    )
    .option("--remove", "remove the secret: signatures are no longer checked")
    .action(
      async (
        project: string,
        name: string,
        file: string | undefined,
        options: ApiOptions & { remove?: true },
      ) => {
        const place = secretOf(project, name);
        const answer = options.remove
          ? await api.delete<object>(options, place)
          : await api.put<object>(options, place, {
              secret: (await readText(file ?? "-")).trim(),
            });
        print(answer, options, () =>
          options.remove ? "not signed any more" : "signed from now on",
        );
      },
    );
}

import type { Command } from "commander";
import type { SearchAnswer } from "../src/records/search/search.ts";
import { api, queried, v1 } from "./api.ts";
import { apiFlags, type GivenBy, print } from "./options.ts";
import { short, table } from "./table.ts";

export function registerSearch(program: Command): void {
  apiFlags(program.command("search <words...>"), searchFlags)
    .description("search names and alerts by words, as in box alerts --q")
    .action(showFound);
}

const searchFlags = { "--limit <n>": { about: "how many", usual: "20" } };

async function showFound(words: string[], options: GivenBy<typeof searchFlags>): Promise<void> {
  // The shell removed the quotes around words with blanks.
  const q = words.map((word) => (/\s/.test(word) ? quoted(word) : word)).join(" ");
  const from = queried(v1("search"), { q, limit: options.limit });
  const answer = await api.get<SearchAnswer>(options, from);
  const rest = answer.complete ? "" : "\nthere may be more: --limit, or more words";
  print(answer, options, () =>
    answer.results.length === 0
      ? `nothing found${rest}`
      : table(
          ["KIND", "NAME", "WHERE"],
          answer.results.map(({ kind, title, sub }) => [kind, short(title, 80), short(sub, 80)]),
        ) + rest,
  );
}

/** `rule:slow payments` → `rule:"slow payments"`. */
function quoted(word: string): string {
  const [, field = "", rest = ""] = /^((?:[a-z]+:)?(?:[^\s=]+=)?)(.*)$/s.exec(word) ?? [];
  return `${field}"${rest.replaceAll('"', "")}"`;
}

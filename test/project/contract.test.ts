import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "../..");
const FOLDERS = ["src", "cli", "test", "bench", "docs", "systemd", "migrations"];

/** What stands under each `## §N` of docs/contract.md. */
const numbered = readFileSync(join(root, "docs/contract.md"), "utf8")
  .split(/^## §/m)
  .slice(1)
  .map((text): [number, string] => [Number.parseInt(text, 10), text]);
const sections = new Map(numbered);

interface Citation {
  section: number;
  /** `Egress`, `rule 4`, `Pairing rule 3`; empty where a whole section is meant. */
  part: string;
}

/** The comment's line ends, asterisks and slashes are white space in between. */
const unwrapped = (text: string) => text.replace(/\n[ \t]*(?:\*|\/\/|--)?[ \t]*/g, " ");

/** `contract §5, Ladder` and, after one, `, §6` or `; §15, Reports`. */
function citations(text: string): Citation[] {
  const part = String.raw`(?:,? ((?:[A-Z][\w-]*|fire_after|dedup_window_minutes)(?: rule \d+)?|rule \d+))?`;
  const one = new RegExp(`§(\\d+)${part}`, "g");
  const group = new RegExp(`contract §\\d+${part}(?:(?:[,;]| and) §\\d+${part})*`, "g");
  return [...unwrapped(text).matchAll(group)].flatMap(([whole]) =>
    [...whole.matchAll(one)].map(([, section, of = ""]) => ({
      section: Number(section),
      part: of,
    })),
  );
}

/** What is wrong with a citation, or null. */
function fault({ section, part }: Citation): string | null {
  const text = sections.get(section);
  if (text === undefined) return `there is no contract §${section}`;
  const [, topic = "", rule] = /^(.*?) ?(?:rule (\d+))?$/.exec(part) ?? [];
  if (rule && !text.includes(`\n${rule}. `)) return `contract §${section} has no rule ${rule}`;
  return text.toLowerCase().includes(topic.toLowerCase())
    ? null
    : `contract §${section} says nothing of ${topic}`;
}

const files = FOLDERS.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(?:ts|mjs|js|sql|md|c)$/.test(name))
    .map((name) => join(folder, name)),
).filter((name) => name !== "test/project/contract.test.ts");

test("every citation of the contract leads to a part of docs/contract.md", () => {
  let found = 0;
  const faults = files.flatMap((file) =>
    citations(readFileSync(join(root, file), "utf8")).flatMap((citation) => {
      found++;
      const said = fault(citation);
      return said ? [`${file}: ${said}`] : [];
    }),
  );
  assert.deepEqual(faults, []);
  assert.ok(found > 200, `${found} citations are too few to be all`);
});

/** `§` that stands behind neither the contract nor a public standard. */
function strays(text: string): string[] {
  const known = /(?:contract|RFC \w+|XML 1\.0) §[\d.]+(?:[^§().]{0,40}§[\d.]+)*/g;
  return [
    ...unwrapped(text)
      .replace(known, "")
      .matchAll(/.{0,20}§/g),
  ].map(([found]) => found);
}

test("no comment cites a document that isn't in the tree", () => {
  const found = files
    .filter((file) => file !== join("docs", "contract.md"))
    .flatMap((file) =>
      strays(readFileSync(join(root, file), "utf8")).map((one) => `${file}: ${one}`),
    );
  assert.deepEqual(found, [], "write it as `contract §N`");
  assert.deepEqual(strays("(decisions §3) and (RFC 9110 §5, §6.1)"), ["(decisions §"]);
});

test("a citation of what isn't there is found", () => {
  const said = citations(
    "/** (contract §99; contract §16,\n * rule 9; contract §6, Zebra, §5) */",
  ).map(fault);
  assert.deepEqual(said, [
    "there is no contract §99",
    "contract §16 has no rule 9",
    "contract §6 says nothing of Zebra",
    null,
  ]);
  assert.deepEqual(
    numbered.map(([number]) => number),
    Array.from(numbered, (_, at) => at + 1),
    "no number twice, none left out",
  );
});

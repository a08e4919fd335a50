import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { connectReference } from "../../docs/connect.ts";
import { apiReference, cliReference } from "../../docs/generate.ts";
import { scheduleWrite } from "../../src/core/oncall/schedule.ts";
import { ruleCreate } from "../../src/core/projects/rule.ts";
import { filmsOfDocs, picturesOfDocs } from "../browser/screens-of.ts";
import { wings } from "../support/laws.ts";
import { documents } from "./document.ts";

const root = join(import.meta.dirname, "../..");
const read = (name: string) => readFileSync(join(root, name), "utf8");

test("the references are what the program says (node_modules/.bin/node docs/generate.ts)", () => {
  assert.equal(read("docs/cli.md"), cliReference());
  assert.equal(read("docs/api.md"), apiReference());
  assert.equal(read("docs/connect.md"), connectReference());
});

test("a flag that many commands take is told once", () => {
  const rows = cliReference()
    .split("\n")
    .filter((line) => line.startsWith("| `--"));
  for (const flag of ["--url <url>", "--key <key>", "--json", "--data <dir>"])
    assert.equal(rows.filter((row) => row.startsWith(`| \`${flag}\` |`)).length, 1, flag);
});

test("pages name commands that there are", () => {
  const known = new Set(
    [...cliReference().matchAll(/^#+ box ([a-z -]+)/gm)].map(([, words = ""]) => words.trim()),
  );
  const isKnown = (words: string[]) =>
    words.some((_, i) => known.has(words.slice(0, i + 1).join(" "))) ||
    [...known].some((one) => one.startsWith(`${words.join(" ")} `));
  const folder = join(root, "src");
  const wrong = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) =>
      [
        ...readFileSync(join(folder, file), "utf8").matchAll(
          /(?:<code[^>]*>|^)box ([a-z][a-z -]*)/gm,
        ),
      ]
        .map(([, words = ""]) => words.trim())
        .filter((words) => !isKnown(words.split(" ")))
        .map((words) => `${file}: box ${words}`),
    );
  assert.deepEqual(wrong, []);
});

/** The names that a reader's browser gives a document's headings. */
function anchorsOf(document: string): Set<string> {
  const headings = read(document).matchAll(/^#+ (.*)$/gm);
  return new Set(
    [...headings].map(([, text = ""]) =>
      text
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

test("a page that answers one question is short", () => {
  for (const document of documents.filter((name) => name.startsWith("docs/how-to/")))
    assert.ok(read(document).split("\n").length <= 121, document);
});

test("every link between the documents leads somewhere, to its heading too", () => {
  const broken: string[] = [];
  for (const document of ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", ...documents]) {
    for (const [, target = "", anchor] of read(document).matchAll(
      /\]\(([^)#\s]*)(?:#([^)]*))?\)/g,
    )) {
      if (/^[a-z]+:/.test(target)) continue;
      const to = target === "" ? document : join(document, "..", target);
      if (!existsSync(join(root, to)) || (anchor !== undefined && !anchorsOf(to).has(anchor)))
        broken.push(`${document}: ${target}#${anchor ?? ""}`);
    }
  }
  assert.deepEqual(broken, []);
});

test("pictures in the documents are small, each is shown, and a script makes it", () => {
  const pictures = readdirSync(join(root, "docs/screens"));
  assert.deepEqual(
    pictures.toSorted(),
    [...Object.keys(picturesOfDocs), ...filmsOfDocs].map((name) => `${name}.webp`).toSorted(),
  );
  const shown = documents.map(read).join("\n");
  for (const picture of pictures) {
    assert.ok(shown.includes(`screens/${picture})`), picture);
    const { size } = statSync(join(root, "docs/screens", picture));
    const most = picture.endsWith("-film.webp") ? 300_000 : 40_000;
    assert.ok(size <= most, `${picture} has ${size} bytes`);
  }
});

test("every command that the README and the guides show is one that exists", () => {
  const known = new Set(
    [...cliReference().matchAll(/^## box ([a-z_ -]+?)(?: [<[]|$)/gm)].map(([, name = ""]) =>
      name.trim(),
    ),
  );
  const unknown: string[] = [];
  for (const document of ["README.md", ...documents]) {
    for (const [, block = ""] of read(document).matchAll(
      /```(?:sh|console|bash)\n([\s\S]*?)```/g,
    )) {
      for (const [, words = ""] of block.matchAll(
        /(?:^|[|(;$ ])box ((?:[a-z][a-z_-]* ?){1,3})/gm,
      )) {
        const parts = words.trim().split(" ");
        const found = [3, 2, 1].some((n) => known.has(parts.slice(0, n).join(" ")));
        if (!found) unknown.push(`${document}: box ${words.trim()}`);
      }
    }
  }
  assert.deepEqual(unknown, []);
});

test("the map in the README is the table of wings that the borders hold to", () => {
  const map = read("README.md").split("## Map")[1]?.split("\n## ")[0] ?? "";
  const rows = [...map.matchAll(/^\| `([a-z]+)` \|([^|]*)\|/gm)].map(
    ([, wing = "", rooms = ""]) => [
      wing,
      [...rooms.matchAll(/`([a-z-]+)`/g)].map(([, room]) => room),
    ],
  );
  assert.deepEqual(rows, Object.entries(wings));
});

test("every file and folder that the design and the guide for contributors name is there", () => {
  for (const document of ["docs/design.md", "CONTRIBUTING.md", "README.md"]) {
    const named = [...read(document).matchAll(/(?:src|test|migrations)\/[\w./-]*\w/g)];
    assert.ok(named.length > 2);
    const missing = named.map(([name]) => name).filter((name) => !existsSync(join(root, name)));
    assert.deepEqual(missing, [], document);
  }
});

test("the examples in the reference are what their routes take", () => {
  for (const schema of [ruleCreate, scheduleWrite]) {
    const examples = schema.meta()?.["examples"];
    assert.ok(Array.isArray(examples) && examples.length > 0);
    for (const example of examples) assert.equal(schema.safeParse(example).error, undefined);
  }
});

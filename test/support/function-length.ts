import type { Law } from "./laws.ts";

/** Lines that a function may have, those of functions inside it not counted: they count by themselves. */
const MOST = 60;

/** Lists that are read from top to bottom: what a role is wired from, the routes of a noun, the fields of a template. */
const lists = new Set([
  "src/app/box.ts startBox",
  "src/app/hosted.ts startHosted",
  "src/app/hosted-app.ts hostedApp",
  "src/out/outbox/custom-words.ts viewOf",
  "src/tenant/tenant.ts startTenant",
  "src/tenant/outbox.ts createOutbox",
  "src/web/http/resources/config.ts configRoutes",
  "src/web/http/resources/integrations.ts integrationRoutes",
]);

/** The first line of a function's body, as the formatter leaves it: `…) {`, `…): Type {` or `… => {`. */
const OPENS = /(?:\)(?:: .+)?|=>) \{$/;
const NO_FUNCTION = /^\s*(?:\} )?(?:if|for|while|switch|else|catch|with)\b/;
const NAME = /^\s*(?:export )?(?:async )?(?:function\*? |const )?(\w+)/;

interface Open {
  name: string;
  from: number;
  indent: number;
  inner: number;
}

/** Functions of a file that the formatter has laid out, with their own lines. Pure. */
export function functionLengths(text: string): { name: string; lines: number }[] {
  const open: Open[] = [];
  const done: { name: string; lines: number }[] = [];
  const rows = text.split("\n");
  for (const [at, row] of rows.entries()) {
    const indent = row.search(/\S/);
    const last = open.at(-1);
    if (last && indent === last.indent && /^\s*\}/.test(row)) {
      open.pop();
      const lines = at - last.from + 1;
      done.push({ name: last.name, lines: lines - last.inner });
      const around = open.at(-1);
      if (around) around.inner += lines;
    }
    if (!OPENS.test(row) || NO_FUNCTION.test(row)) continue;
    // A list of parameters over several lines begins above its bracket, at the same indent.
    let from = at;
    if (/^\s*[)}\]]/.test(row)) {
      do from--;
      while (from > 0 && (rows[from]?.search(/\S/) ?? 0) > indent);
    }
    const head = rows[from] ?? row;
    open.push({ name: NAME.exec(head)?.[1] ?? "", from, indent, inner: 0 });
  }
  return done;
}

export const functionLength: Law = ({ file, text }) =>
  functionLengths(text)
    .filter(({ name, lines }) => lines > MOST && !lists.has(`${file} ${name}`))
    .map(({ name, lines }) => `${file}: ${name} has ${lines} lines, ${MOST} at most`);

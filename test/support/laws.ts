import type { Source } from "./source.ts";

/** A sentence for each place where a law is broken, `file: what`. */
export type Law = (source: Source) => string[];

/**
 * The wings of `src`, lowest first, and the folders of each, lowest first. A file imports from its own folder, from folders
 * before it in its wing and from wings before that. Files that lie in the wing itself stand above its folders.
 */
export const wings: Record<string, readonly string[]> = {
  ground: ["kit", "store", "audit", "page"],
  people: [],
  out: ["outbox", "services", "contacts", "paging"],
  core: ["projects", "oncall", "quiet", "alerts"],
  in: ["ingest", "adapters", "heartbeats", "connect", "listen"],
  records: ["config-file", "import", "reports", "numbers", "advice", "search", "backup"],
  tenant: [],
  web: ["http", "assistants", "intake", "console", "browser"],
  hosted: [],
  app: ["operate", "offline", "prove"],
};

/** Folders that may import less than the table lets them: folders, or files of them. */
const narrow: Record<string, { only: readonly string[]; why: string }> = {
  browser: { only: [], why: "it runs in browsers" },
  ingest: { only: ["kit", "store", "projects", "alerts"], why: "the hot path" },
  adapters: {
    only: ["kit", "projects/source.ts", "ingest/event.ts", "ingest/named-fields.ts"],
    why: "pure: bytes in, events and an answer out",
  },
  import: {
    only: [
      "kit",
      "config-file",
      "oncall/rotation.ts",
      "oncall/schedule.ts",
      "oncall/zone.ts",
      "projects/condition.ts",
      "projects/pattern.ts",
    ],
    why: "pure: another system's export in, a configuration file out",
  },
  prove: {
    only: ["kit", "store/check.ts", "store/database.ts"],
    why: "it looks at a box from outside",
  },
};

/** Folders that the command line leaves alone: it asks a box by its interface, or opens the data directory by `app/offline`. */
const notForCli = ["http", "intake", "console", "browser", "hosted", "listen"];

const order = Object.entries(wings).flatMap(([wing, folders]) => [...folders, wing]);

/** `src/core/alerts/open.ts` → folder `alerts`, place `alerts/open.ts`; null for a package or another folder. */
function placeOf(file: string): { folder: string; place: string } | null {
  const [top, wing = "", inner = "", ...rest] = file.split("/");
  if (top === "cli") return { folder: "cli", place: file };
  if (top !== "src") return null;
  return wings[wing]?.includes(inner)
    ? { folder: inner, place: [inner, ...rest].join("/") }
    : { folder: wing, place: [wing, inner, ...rest].join("/") };
}

/** `src/core/alerts/open.ts` → `alerts`; `src/people/codes.ts` → `people`. */
export const folderOf = (file: string): string => placeOf(file)?.folder ?? "";

/** Why a folder may not import a place, or null where it may. */
function refusal(folder: string, to: { folder: string; place: string }): string | null {
  if (folder === to.folder) return null;
  if (to.folder === "browser") return "it runs in browsers";
  if (folder === "cli")
    return notForCli.includes(to.folder) ? "the command line asks from outside" : null;
  if (to.folder === "cli" || order.indexOf(to.folder) > order.indexOf(folder))
    return "it stands above";
  const less = narrow[folder];
  return !less || less.only.includes(to.folder) || less.only.includes(to.place) ? null : less.why;
}

/** A folder imports only what stands below it. */
export const borders: Law = ({ file, imports }) => {
  const folder = folderOf(file);
  if (folder !== "cli" && !order.includes(folder)) return [`${file}: "${folder}" is no wing`];
  return imports.flatMap((name) => {
    const to = placeOf(name);
    const why = to && refusal(folder, to);
    return why ? [`${file}: ${folder} may not import ${to.place} (${why})`] : [];
  });
};

/** The folder of the console that a file lies in; "" for the console's own files, null for others. */
function screenOf(file: string): string | null {
  const found = /^src\/web\/console\/(?:([\w-]+)\/)?/.exec(file);
  return found === null ? null : (found[1] ?? "");
}

/** A screen of the console imports only what screens share, in `ui`, and the console's own files; `ui` imports no screen. */
export const screensApart: Law = ({ file, imports }) => {
  const screen = screenOf(file);
  if (screen === null || screen === "") return [];
  return imports.flatMap((name) => {
    const other = screenOf(name);
    const isApart = other === null || other === "" || other === "ui" || other === screen;
    return isApart
      ? []
      : [`${file}: a screen may not import ${name}: what is shared lies in console/ui`];
  });
};

/** Packages and parts of folders that only some may touch. */
const restricted: readonly { what: RegExp; only: RegExp; why: string }[] = [
  {
    what: /^(undici|node:https)$/,
    // A server, and what asks the box itself.
    only: /^(src\/ground\/kit|src\/web\/http|src\/app|cli)\//,
    why: "what leaves goes through the guarded client",
  },
  {
    what: /^nodemailer(\/|$)/,
    only: /^src\/out\/services\/email\//,
    why: "it gets its connections from the guarded client",
  },
  { what: /^(node:)?timers/, only: /^src\/ground\/kit\//, why: "time is handed in" },
  {
    what: /^(node:https?|hono|@hono\/.*|pino|src\/ground\/kit\/log\.ts)$/,
    only: /^(?!src\/in\/ingest\/)/,
    why: "the hot path knows no HTTP and no logger",
  },
  {
    what: /^src\/(ground|out\/outbox)\//,
    only: /^(?!src\/core\/alerts\/life\/(step|due|quiet|people|merged|rule|turn)\.ts)/,
    why: "a step of an alert's life is pure: what it looks at is handed in, what comes of it is handed back",
  },
  {
    what: /^better-sqlite3$/,
    only: /^src\/ground\/store\//,
    why: "a database is opened in one place",
  },
  {
    what: /^src\/hosted\/registry\/sqlite\//,
    only: /^src\/(?:app|hosted\/registry\/(?:sqlite|move))\//,
    why: "which database the registry lies in is wiring",
  },
  {
    what: /^src\/hosted\/registry\/postgres\//,
    only: /^src\/(?:app|hosted\/record|hosted\/registry\/(?:postgres|move))\//,
    why: "which database the registry lies in is wiring",
  },
  {
    what: /^pg(\/|$)/,
    only: /^src\/hosted\/registry\/postgres\//,
    why: "a database is opened in one place",
  },
  {
    what: /^src\/ground\/store\/(?!faults\.ts$)/,
    only: /^(?!cli\/)/,
    why: "app/offline opens data directories",
  },
  { what: /^idiomorph$/, only: /^src\/web\/browser\//, why: "it is made for documents" },
];

export const packages: Law = ({ file, imports }) =>
  restricted.flatMap(({ what, only, why }) =>
    imports
      .filter((name) => what.test(name) && !only.test(file))
      .map((name) => `${file}: may not import ${name} (${why})`),
  );

/** A browser has no other clock or network than its own. */
const KIT_OR_BROWSER = /^src\/(?:ground\/kit|web\/browser)\//;

/** Names that reach for time, randomness, network or the process behind the caller's back. */
const reserved: readonly { what: RegExp; only: RegExp }[] = [
  { what: /\bDate\.now\b/, only: KIT_OR_BROWSER },
  { what: /\bnew Date\b(?!\([^)])/, only: KIT_OR_BROWSER },
  { what: /(?<!new |[.\w$])Date\(/, only: KIT_OR_BROWSER },
  { what: /\bTemporal\.Now\b/, only: KIT_OR_BROWSER },
  // A socket's own is a limit on silence that the network keeps, like a server's `timeout`.
  { what: /(?<!\bsocket\.)\b(?:setTimeout|setInterval)\b/, only: KIT_OR_BROWSER },
  { what: /\bAbortSignal\.timeout\b/, only: KIT_OR_BROWSER },
  { what: /\bperformance\.now\b/, only: KIT_OR_BROWSER },
  { what: /\bprocess\.hrtime\b/, only: KIT_OR_BROWSER },
  { what: /\bMath\.random\b/, only: KIT_OR_BROWSER },
  {
    what: /\b(?:randomBytes|randomUUID|randomInt|randomFill(?:Sync)?|getRandomValues)\b/,
    only: KIT_OR_BROWSER,
  },
  {
    what: /(?<![.\w$])fetch\(|\bglobalThis\.fetch\b/,
    // What a reader pastes, and what runs in a browser.
    only: /^src\/(?:ground\/kit|web\/browser)\/|^src\/(?:in\/connect\/snippets|people\/pair-script)\.ts$/,
  },
  { what: /\bprocess\.(?:exit|exitCode|abort)\b/, only: /^cli\// },
];

export const reservedNames: Law = ({ file, code }) =>
  reserved.flatMap(({ what, only }) => {
    const found = only.test(file) ? null : what.exec(code);
    return found ? [`${file}: ${found[0]} belongs to ${only.source.slice(1, -2)}`] : [];
  });

export const LONG_FILE = 300;
const LONGEST_FILE = 350;
/** Written by a program, a table after the other: nobody reads it in one sitting. */
const WRITTEN = "src/ground/store/schema.ts";

export const length: Law = ({ file, lines }) =>
  lines > LONGEST_FILE && file !== WRITTEN
    ? [`${file}: ${lines} lines, more than ${LONGEST_FILE}`]
    : [];

/** A sentence for each name that two files export: a reader, or an editor that imports by name, takes the wrong one. */
export function sharedNames(tree: readonly Source[]): string[] {
  const files = new Map<string, string[]>();
  for (const { file, exports } of tree)
    for (const name of new Set(exports)) files.set(name, [...(files.get(name) ?? []), file]);
  return [...files]
    .filter(([, of]) => of.length > 1)
    .map(([name, of]) => `${name} is exported by ${of.join(" and ")}`);
}

/**
 * Files that import each other, by whatever way round and types included: one can't be understood, or moved, without
 * the others. Each circle once, as the sorted names of its files.
 */
export function circles(tree: readonly Source[]): string[] {
  const imports = new Map(tree.map((source) => [source.file, source.imports]));
  const reached = new Map(tree.map(({ file }) => [file, reachedFrom(file, imports)]));
  const found = tree
    .filter(({ file }) => reached.get(file)?.has(file))
    .map(({ file }) =>
      [...(reached.get(file) ?? [])].filter((other) => reached.get(other)?.has(file)).sort(),
    );
  return [...new Set(found.map((files) => files.join(" ↔ ")))];
}

/** Every file of the tree that `file` needs; itself only where the way leads back to it. */
function reachedFrom(file: string, imports: ReadonlyMap<string, readonly string[]>): Set<string> {
  const reached = new Set<string>();
  const open = [file];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const next of imports.get(at) ?? []) {
      if (!imports.has(next) || reached.has(next)) continue;
      reached.add(next);
      open.push(next);
    }
  }
  return reached;
}

/** What the interface's document names is a noun's, and so lives in its folder, where types and other users take it from. */
export const shapes: Law = ({ file, code }) =>
  file.startsWith("src/web/http/resources/") && /\.meta\(\{\s*id:/.test(code)
    ? [`${file}: a shape with a name lives with its noun`]
    : [];

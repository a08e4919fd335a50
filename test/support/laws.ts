import type { Source } from "./source.ts";

/** A sentence for each place where a law is broken, `file: what`. */
export type Law = (source: Source) => string[];

/**
 * Who may import whom: a room, or one file of it. Each room names only rooms above it in this list,
 * so that there is no circle. What isn't listed is no room.
 */
export const rooms: Record<string, readonly string[]> = {
  kit: [],
  // What runs in browsers: nothing of the box goes there, and nothing of it comes back.
  browser: [],
  store: ["kit"],
  // Who changed what, seen where it is written.
  audit: ["kit", "store"],
  outbox: ["kit", "store"],
  // A kind of channel is one file; what sends is handed the list.
  channels: ["kit", "store/store.ts", "outbox"],
  // What every page looks like and is sent with.
  page: ["kit"],
  people: ["kit", "store", "audit", "page"],
  // What reaches a person, who serves it, and when they want it.
  contacts: ["kit", "store", "outbox", "channels", "people"],
  // Personal pages on their way.
  paging: ["kit", "store", "outbox", "channels/direct/message.ts", "people", "contacts"],
  backup: ["kit", "store"],
  reports: ["kit", "store", "page"],
  projects: ["kit", "store", "outbox", "channels"],
  oncall: ["kit", "store", "projects"],
  // What is kept quiet on purpose: one decision, and the rows of silences.
  quiet: ["kit", "store", "projects", "oncall/zone.ts"],
  alerts: [
    ...["kit", "store", "audit", "outbox", "contacts", "paging", "projects", "oncall", "quiet"],
  ],
  // Answers that the box has to ask services for.
  listen: ["kit", "store", "outbox", "channels", "contacts", "paging", "audit", "alerts"],
  ingest: ["kit", "store", "projects", "alerts"],
  // Whatever has a name, and alerts, by some words: it reads the tables of all.
  search: ["kit", "store", "alerts"],
  // Jobs that must report.
  heartbeats: ["kit", "store", "projects", "oncall/zone.ts", "ingest"],
  // What other systems' senders say, as events. Pure: bytes in, events and an answer out.
  adapters: ["kit", "projects/source.ts", "ingest/event.ts", "ingest/named-fields.ts"],
  // A sender's source, its rule, and what to paste there.
  connect: ["kit", "store", "people", "projects", "alerts", "adapters"],
  "config-file": [
    ...[
      "kit",
      "store",
      "outbox/event.ts",
      "channels",
      "contacts/list.ts",
      "contacts/kind.ts",
      "people",
      "projects",
      "oncall",
      "alerts",
    ],
    ...["adapters", "heartbeats", "quiet"],
  ],
  // Other systems' exports, as the configuration file and a report. Pure.
  import: [
    ...["kit", "config-file", "oncall/rotation.ts", "oncall/schedule.ts", "oncall/zone.ts"],
    "projects/pattern.ts",
  ],
  tenant: [
    ...["kit", "store", "outbox", "channels", "people", "reports", "backup", "projects", "oncall"],
    ...["alerts", "ingest", "heartbeats", "contacts", "paging", "audit", "listen", "quiet"],
    "connect",
  ],
  // Ports of their own for senders that speak no HTTP.
  intake: ["kit", "store", "projects", "ingest", "adapters", "tenant"],
  http: [
    ...["kit", "store", "outbox", "channels", "page", "people", "reports", "projects", "oncall"],
    ...["alerts", "ingest", "heartbeats", "adapters", "connect", "config-file", "tenant"],
    ...["contacts", "paging", "audit", "quiet", "search"],
  ],
  hosted: ["kit", "store", "people", "tenant", "http"],
  // What an operator does on a data directory or a file, without the interface.
  desk: ["kit", "store", "audit", "people", "config-file", "tenant", "http", "hosted"],
  // The box in a browser: pages that call the verbs in-process.
  console: [
    ...["kit", "store", "audit", "outbox", "channels", "people", "contacts", "paging", "reports"],
    ...["projects", "oncall", "quiet", "alerts", "ingest", "heartbeats", "adapters", "connect"],
    ...["config-file", "tenant", "http", "search"],
    "desk/config-document.ts",
    // What a page may load and run.
    "page/style.ts",
  ],
  // Looks at a data plane, running or not, and says how it is; changes nothing.
  operate: [
    ...["kit", "store", "outbox", "channels", "people", "backup", "projects", "oncall", "alerts"],
    ...["ingest", "heartbeats", "tenant", "intake", "http", "hosted", "contacts", "paging"],
    "quiet",
  ],
  // Wiring only.
  app: [
    ...["kit", "store", "outbox", "channels", "people", "reports", "backup", "projects", "oncall"],
    ...["alerts", "ingest", "tenant", "intake", "http", "hosted", "operate", "console"],
    // Whose link it is, before any tenant is opened for it.
    "paging/capability.ts",
    "paging/shown.ts",
  ],
  // It looks at a box from outside: by its interface, and at last into its files.
  prove: ["kit", "store/check.ts", "store/database.ts"],
  // What it prints are the interface's own shapes; its flags for channels are the kinds' own.
  cli: [
    "app",
    "channels",
    "operate",
    "desk",
    "prove",
    "kit",
    "backup",
    "store/faults.ts",
    ...[
      "adapters/line.ts",
      "audit/list.ts",
      "alerts/alert.ts",
      "alerts/bulk.ts",
      "alerts/drill-report.ts",
      "alerts/detail.ts",
      "alerts/group-facts.ts",
      "alerts/reach-report.ts",
      "alerts/silencing.ts",
      "alerts/simulate/shape.ts",
      "alerts/timeline.ts",
      "oncall/schedule.ts",
      "outbox/rows.ts",
      "outbox/delivery-detail.ts",
    ],
    ...["people/account.ts", "people/device.ts", "people/pairing.ts", "reports/written.ts"],
    ...["people/oidc/provider.ts"],
    ...["projects/action.ts", "projects/integration.ts", "projects/project.ts", "projects/rule.ts"],
    "connect/connection.ts",
    ...["import", "config-file/yaml.ts"],
    ...["contacts/contact.ts", "contacts/kind.ts", "contacts/list.ts"],
    "heartbeats/heartbeat.ts",
    "quiet/silence.ts",
    "ingest/dry-run/dry-run.ts",
    "ingest/event.ts",
    "ingest/lines-around.ts",
    "ingest/logtail.ts",
    "search/search.ts",
    "ingest/template/try.ts",
    "ingest/templates.ts",
    "tenant/house.ts",
    "tenant/overview.ts",
  ],
};

/** `src/core/alerts/open.ts` → `alerts/open.ts`; `cli/box.ts` stays; null for a package. */
function placeOf(file: string): string | null {
  if (file.startsWith("src/")) return file.slice("src/".length);
  return file.startsWith("cli/") ? file : null;
}

const topOf = (place: string): string => place.slice(0, place.indexOf("/"));

/** `src/core/alerts/open.ts` → `alerts`. */
export const roomOf = (file: string): string => topOf(placeOf(file) ?? "");

/** Rooms import only what the table allows them. */
export const borders: Law = ({ file, imports }) => {
  const room = roomOf(file);
  const allowed = rooms[room];
  if (!allowed) return [`${file}: "${room}" is no room of the house`];
  return imports
    .map(placeOf)
    .filter((place) => place !== null)
    .filter((place) => ![room, ...allowed].includes(topOf(place)) && !allowed.includes(place))
    .map((place) => `${file}: ${room} may not import ${place}`);
};

/** Packages and parts of rooms that only some may touch. */
const restricted: readonly { what: RegExp; only: RegExp; why: string }[] = [
  {
    what: /^undici(\/|$)/,
    only: /^(src\/kit|cli)\//,
    why: "what leaves goes through the guarded client",
  },
  {
    what: /^nodemailer(\/|$)/,
    only: /^src\/out\/channels\//,
    why: "it gets its connections from the guarded client",
  },
  { what: /^(node:)?timers/, only: /^src\/ground\/kit\//, why: "time is handed in" },
  {
    what: /^(node:https?|hono|@hono\/.*|pino|src\/ground\/kit\/log\.ts)$/,
    only: /^(?!src\/in\/ingest\/)/,
    why: "the hot path knows no HTTP and no logger",
  },
  {
    what: /^better-sqlite3$/,
    only: /^src\/ground\/store\//,
    why: "a database is opened in one place",
  },
  {
    what: /^src\/hosted\/registry\/sqlite\//,
    only: /^src\/(?:app|desk|hosted\/registry\/(?:sqlite|move))\//,
    why: "which database the registry lies in is wiring",
  },
  {
    what: /^src\/hosted\/registry\/postgres\//,
    only: /^src\/(?:app|desk|hosted\/registry\/(?:postgres|move))\//,
    why: "which database the registry lies in is wiring",
  },
  {
    what: /^pg(\/|$)/,
    only: /^src\/hosted\/registry\/postgres\//,
    why: "a database is opened in one place",
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
const KIT_OR_BROWSER = /^src\/(?:kit|browser)\//;

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
    only: /^src\/(?:kit|browser)\/|^src\/(?:connect\/snippets|people\/pair-script)\.ts$/,
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

export const length: Law = ({ file, lines }) =>
  lines > LONGEST_FILE ? [`${file}: ${lines} lines, more than ${LONGEST_FILE}`] : [];

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

/** What the interface's document names is a noun's, and so lives in its room, where types and other users take it from. */
export const shapes: Law = ({ file, code }) =>
  file.startsWith("src/web/http/resources/") && /\.meta\(\{\s*id:/.test(code)
    ? [`${file}: a shape with a name lives with its noun`]
    : [];

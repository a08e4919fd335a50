/*
 * A wall that stands for weeks: it asks for what changed, one request at a time, keeps nothing of what was, says when the box
 * can't be reached, and loads itself anew once a day and when the box has another version.
 */
const { dataset } = document.documentElement;

/** The box answers within 10 s. */
const PATIENCE_MS = 16_000;
/** From one answer to the next request, and after one that failed. */
const REST_MS = 1_000;
const DOWN_REST_MS = 3_000;
/** A link that shows nothing may be made good by a restart of the box alone. */
const GONE_REST_MS = 60_000;
const DAY_MS = 86_400_000;

const policy = (
  globalThis as {
    trustedTypes?: {
      createPolicy(name: string, rules: object): { createHTML(text: string): string };
    };
  }
).trustedTypes?.createPolicy("box", { createHTML: (text: string) => text });

let since = dataset["since"] ?? "";
let etag = "";
let heardAt = 0;

function say(words: string): void {
  const line = document.getElementById("down");
  if (line && line.textContent !== words) line.textContent = words;
  document.body.toggleAttribute("data-stale", words !== "");
}

/** What the box's clock is ahead of the screen's, which may be an hour off. */
let ahead = Number(dataset["now"] ?? Date.now()) - Date.now();
const boxNow = (): number => Date.now() + ahead;

const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "short" });
const date = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short" });

/** In the screen's zone; with its day where that isn't today. */
function timeOf(at: number): string {
  const day = date.format(at);
  return `${day === date.format(boxNow()) ? "" : `${day.replace(",", "")} `}${clock.format(at)}`;
}

/** The clock, and all times in its zone; text is touched only where it changes. */
function drawTimes(): void {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone.replace(/^.*\//, "");
  const own = document.getElementById("clock");
  const now = clock.format(boxNow());
  if (own !== null && own.dataset["at"] !== now) {
    own.dataset["at"] = now;
    const of = document.createElement("span");
    of.textContent = zone.replaceAll("_", " ");
    own.replaceChildren(now, " ", of);
  }
  for (const time of document.querySelectorAll<HTMLTimeElement>("#main time:not([data-ago])")) {
    const text = timeOf(Date.parse(time.dateTime));
    if (time.textContent !== text) time.textContent = text;
  }
}

function down(): number {
  say(`The box can’t be reached · shown as of ${timeOf(heardAt)}`);
  return DOWN_REST_MS;
}

function put(text: string): void {
  const fresh = new DOMParser().parseFromString(policy?.createHTML(text) ?? text, "text/html");
  const wall = document.getElementById("main");
  wall?.replaceChildren(...[...fresh.body.childNodes].map((node) => document.adoptNode(node)));
  drawTimes();
}

/** Asks once; how long to rest then, in milliseconds. */
async function look(): Promise<number> {
  const response = await fetch(location.href, {
    headers: {
      Accept: "text/html",
      "X-Wall": since,
      ...(etag === "" ? {} : { "If-None-Match": etag }),
    },
    cache: "no-store",
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  if (response.status === 404 || response.status === 429 || response.redirected) {
    document.getElementById("main")?.replaceChildren();
    say("This link shows nothing any more.");
    etag = "";
    return GONE_REST_MS;
  }
  const files = response.headers.get("x-files");
  // Also what stands between answers, when the box doesn't.
  if (files === null || (!response.ok && response.status !== 304)) return down();
  if (files !== dataset["files"] || performance.now() > DAY_MS) {
    location.reload();
    return DAY_MS;
  }
  since = response.headers.get("x-next") ?? since;
  etag = response.headers.get("etag") ?? "";
  if (response.status === 200) put(await response.text());
  ahead = Number(response.headers.get("x-now")) - Date.now();
  heardAt = boxNow();
  say("");
  return REST_MS;
}

async function follow(): Promise<never> {
  for (;;) {
    const rest = await look().catch(down);
    await new Promise((resolve) => setTimeout(resolve, rest));
  }
}

heardAt = boxNow();
drawTimes();
setInterval(drawTimes, 1_000);
void follow();

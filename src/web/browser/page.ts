/** What a page says of itself on its root element, `<html data-…>`. */
const { dataset } = document.documentElement;

/** What stands before every address of the box: "" or "/box". */
export const pageBase: string = dataset["base"] ?? "";

/** IANA name of the zone that the page's times are in; the browser's own where the page names none. */
export const pageZone: string | undefined = dataset["zone"] || undefined;

/** The box's clock when the page was drawn, unix milliseconds; NaN where the page doesn't say. */
export const drawnAt = Number(dataset["now"] ?? Number.NaN);

/** The change after which the page was drawn, as the stream counts them. */
export const drawnAfter: string | null = dataset["since"] ?? null;

/** Whether single letters are keys: somebody may have turned them off. */
export const areLettersKeys = (): boolean => dataset["keys"] !== "off";

/** The address of this page, without what stands behind `#`. */
export const ownAddress = (): string => location.pathname + location.search;

/** Sections that are asked for anew when something changes. */
export const liveSections = (): HTMLElement[] => [
  ...document.querySelectorAll<HTMLElement>("[data-live][id]"),
];

/** For `querySelector`: the first element of these that is seen. */
export function firstVisible(found: Iterable<HTMLElement>): HTMLElement | undefined {
  for (const element of found) if (element.checkVisibility()) return element;
  return undefined;
}

/**
 * On a phone tabs are one line that may be pushed aside: it begins where the open one is in sight. Places are asked for in
 * the frame that lays the page out anyway: before it, that would be done twice.
 */
export function showTab(): void {
  if (matchMedia("(max-width: 63.99rem)").matches) requestAnimationFrame(pushTabs);
}

function pushTabs(): void {
  for (const tab of document.querySelectorAll(".tabs [aria-current]")) {
    const tabs = tab.parentElement;
    const { left, right } = tab.getBoundingClientRect();
    if (tabs !== null && right > tabs.getBoundingClientRect().right)
      tabs.scrollLeft += (left + right - tabs.clientWidth) / 2;
  }
}

/** What was chosen for the reader stays chosen: the address names it from now on. */
export function settleAddress(): void {
  if (dataset["at"] !== undefined)
    history.replaceState(history.state, "", dataset["at"] + location.hash);
}

/** Where there is room for two panes the server draws them from the second page on. */
export function tellWidth(): void {
  const isWide = matchMedia("(min-width: 80rem)").matches;
  if (isWide !== "wide" in dataset) keepLook("panes", isWide ? "2" : "1");
}

/** A cookie that says how this browser wants its pages. */
function keepLook(name: string, value: string): void {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store isn't there on plain http
  document.cookie = `${name}=${encodeURIComponent(value)}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
}

/** The server draws in a reader's zone from the second page on: it learns of it by this cookie. */
export function tellZone(): void {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  // To read a cookie waits for another process: some milliseconds of each page, which is in the right zone already.
  if (own === pageZone || /(?:^|; )zone=/.test(document.cookie)) return;
  keepLook("zone", own);
}

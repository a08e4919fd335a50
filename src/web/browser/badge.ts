import { pageBase } from "./page.ts";

const MOST_COUNTED = 99;

/** How many alerts are open, as the list's title says it: in the navigation, and on an installed page's icon. Other pages don't know. */
export function showBadge(): void {
  if (location.pathname !== `${pageBase}/alerts`) return;
  const open = Number(/^\((\d+)\)/.exec(document.title)?.[1] ?? 0);
  const count = document.querySelector<HTMLElement>("[data-open]");
  if (count?.firstChild) {
    count.hidden = open === 0;
    count.firstChild.textContent = open > MOST_COUNTED ? `${MOST_COUNTED}+` : String(open);
  }
  void navigator.setAppBadge?.(open).catch(() => {});
}

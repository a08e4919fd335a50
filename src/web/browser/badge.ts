import { pageBase } from "./page.ts";

/** On an installed page's icon: how many alerts are open, as the list's title says it. Other pages don't know. */
export function showBadge(): void {
  if (location.pathname !== `${pageBase}/alerts`) return;
  const open = Number(/^\((\d+)\)/.exec(document.title)?.[1] ?? 0);
  void navigator.setAppBadge?.(open).catch(() => {});
}

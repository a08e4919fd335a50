/*
 * The list that an alert was opened from: `[` and `]` on the alert's page go to those beside it. A list leaves what it shows
 * for this tab; without script, or where somebody came by a link, there is none.
 */

const KEY = "box-list";

interface Kept {
  /** Of the list, with its query. */
  at: string;
  /** Addresses of alerts, in its order. */
  alerts: string[];
}

const list = document.querySelector("#list");
if (list) addEventListener("pagehide", () => keep(list));
else showNeighbours();

function keep(list: Element): void {
  const links = [...list.querySelectorAll<HTMLAnchorElement>("a.message[href]")];
  const alerts = [...new Set(links.map(({ pathname }) => pathname))];
  const kept: Kept = { at: location.pathname + location.search, alerts };
  try {
    sessionStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // A browser that stores nothing has no neighbours.
  }
}

function kept(): Kept | null {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "null") as Kept | null;
  } catch {
    return null;
  }
}

function showNeighbours(): void {
  const place = document.querySelector("#neighbours");
  const from = kept();
  const here = from?.alerts.indexOf(location.pathname) ?? -1;
  if (!place || from === null || here < 0) return;
  const link = (by: number, key: string, name: string, sign: string): Node[] => {
    const href = from.alerts[here + by];
    if (href === undefined) return [];
    const a = document.createElement("a");
    a.href = href;
    a.textContent = sign;
    a.className = "button second";
    a.title = `${name} (${key})`;
    a.setAttribute("aria-label", name);
    a.setAttribute("aria-keyshortcuts", key);
    a.dataset["key"] = key;
    return [a];
  };
  const count = document.createElement("a");
  count.href = from.at;
  count.textContent = `${here + 1} of ${from.alerts.length}`;
  place.replaceChildren(
    ...link(-1, "[", "Alert before it in the list", "‹"),
    count,
    ...link(1, "]", "Next alert of the list", "›"),
  );
}

import { refreshBehind } from "./refresh.ts";

/* Menus are `<details class="menu">`: the browser opens them, this closes them. */

const openMenus = (): NodeListOf<HTMLDetailsElement> =>
  document.querySelectorAll<HTMLDetailsElement>("details.menu[open]");

export function takeMenus(): void {
  document.addEventListener("click", ({ target }) => {
    for (const menu of openMenus()) if (!menu.contains(target as Node)) menu.open = false;
  });
  document.addEventListener("focusin", ({ target }) => {
    for (const menu of openMenus()) if (!menu.contains(target as Node)) menu.open = false;
  });
  // It doesn't bubble. A section isn't drawn anew under an open menu; afterwards it is.
  const closed = ({ target }: Event) => {
    if (target instanceof HTMLDetailsElement && target.matches(".menu") && !target.open)
      refreshBehind();
  };
  document.addEventListener("toggle", closed, true);
}

/** Closes what is open and gives the focus back; false where nothing was. */
export function closeMenus(): boolean {
  const all = [...openMenus()];
  for (const menu of all) {
    const hadFocus = menu.contains(document.activeElement);
    menu.open = false;
    if (hadFocus) menu.querySelector("summary")?.focus();
  }
  return all.length > 0;
}

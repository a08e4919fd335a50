import { showBadge } from "./badge.ts";
import { takeCopies } from "./copy.ts";
import { takeForms } from "./forms.ts";
import { takeKeys } from "./keys.ts";
import { followBox } from "./live.ts";
import { takeMenus } from "./menus.ts";
import { showTab, tellZone } from "./page.ts";
import { takePalette } from "./palette.ts";
import { takeWorker } from "./pocket.ts";
import { takePreviews } from "./previews.ts";
import { keepSaid } from "./said-line.ts";
import { takeRows } from "./select.ts";
import { keepTimes } from "./times.ts";

/* Every page reads and works without this; with it, it is live and quick. */
tellZone();
showTab();
keepTimes();
takeForms();
takePreviews();
takeMenus();
takeRows();
takeKeys();
takePalette();
takeCopies();
keepSaid();
showBadge();
takeWorker();
followBox();

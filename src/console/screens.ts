import { alertScreen } from "./alert/screen.ts";
import { alertsScreen } from "./alerts/screen.ts";
import type { Screen } from "./screen.ts";
import { signOutScreen } from "./signin/sign-out.ts";

/** Every screen there is. */
export const screens: readonly Screen[] = [alertsScreen, alertScreen, signOutScreen];

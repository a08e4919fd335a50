import { linesScreen } from "./alert/lines-screen.ts";
import { alertScreen } from "./alert/screen.ts";
import { alertsScreen } from "./alerts/screen.ts";
import { auditScreen } from "./audit/screen.ts";
import { heartbeatScreens } from "./heartbeats/all.ts";
import { devicesScreen } from "./me/devices.ts";
import { passkeysScreen } from "./me/passkeys.ts";
import { phoneScreen } from "./me/phone.ts";
import { meScreen } from "./me/screen.ts";
import { sessionsScreen } from "./me/sessions.ts";
import { oncallScreens } from "./oncall/all.ts";
import { peopleScreen } from "./people/people.ts";
import { personScreen } from "./people/person.ts";
import { projectScreens } from "./projects/all.ts";
import { reportScreens } from "./reports/all.ts";
import { ruleScreens } from "./rules/all.ts";
import type { Screen } from "./screen.ts";
import { searchScreen } from "./search/screen.ts";
import { signOutScreen } from "./signin/sign-out.ts";
import { silenceScreens } from "./silences/all.ts";
import { systemScreen } from "./system/screen.ts";
import { signInScreen } from "./system/sign-in.ts";
import { welcomeScreen } from "./welcome/screen.ts";

/** Every screen there is. */
export const screens: readonly Screen[] = [
  alertsScreen,
  alertScreen,
  linesScreen,
  searchScreen,
  peopleScreen,
  personScreen,
  meScreen,
  devicesScreen,
  passkeysScreen,
  phoneScreen,
  sessionsScreen,
  signOutScreen,
  systemScreen,
  signInScreen,
  auditScreen,
  welcomeScreen,
  ...projectScreens,
  ...ruleScreens,
  ...oncallScreens,
  ...silenceScreens,
  ...heartbeatScreens,
  ...reportScreens,
];

import { actionsScreen } from "./actions/screen.ts";
import { linesScreen } from "./alert/lines-screen.ts";
import { alertScreen } from "./alert/screen.ts";
import { alertsScreen } from "./alerts/screen.ts";
import { auditScreen } from "./audit/screen.ts";
import { channelScreen } from "./channels/channel.ts";
import { deliveryScreen } from "./channels/delivery.ts";
import { channelsScreen } from "./channels/list.ts";
import { configScreen } from "./config/screen.ts";
import { heartbeatsScreen, projectHeartbeatsScreen } from "./heartbeats/list.ts";
import { newHeartbeatScreen } from "./heartbeats/new-screen.ts";
import { heartbeatScreen } from "./heartbeats/screen.ts";
import { laddersScreen } from "./ladders/list.ts";
import { ladderScreen, newLadderScreen } from "./ladders/named.ts";
import { ruleLadderScreen } from "./ladders/of-rule.ts";
import { simulateScreen } from "./ladders/simulate.ts";
import { tailScreen } from "./lines/tail.ts";
import { templatesScreen } from "./lines/templates.ts";
import { lookScreen } from "./look/screen.ts";
import { devicesScreen } from "./me/devices.ts";
import { passkeysScreen } from "./me/passkeys.ts";
import { phoneScreen } from "./me/phone.ts";
import { meScreen } from "./me/screen.ts";
import { sessionsScreen } from "./me/sessions.ts";
import { moreScreen } from "./more/screen.ts";
import { numbersScreen } from "./numbers/screen.ts";
import { handOverScreen } from "./oncall/hand-over-screen.ts";
import { layersScreen } from "./oncall/layers-screen.ts";
import { scheduleScreen } from "./oncall/schedule-screen.ts";
import { oncallScreen } from "./oncall/screen.ts";
import { peopleScreen } from "./people/people.ts";
import { personScreen } from "./people/person.ts";
import { projectsScreen } from "./projects/list.ts";
import { projectScreen } from "./projects/screen.ts";
import { newReportScreen } from "./reports/create.ts";
import { editorScreen } from "./reports/editor.ts";
import { reportsScreen } from "./reports/list.ts";
import { drillScreen } from "./rules/drill.ts";
import { rulesScreen } from "./rules/list.ts";
import { newRuleScreen, ruleScreen } from "./rules/rule-page.ts";
import type { Screen } from "./screen.ts";
import { searchScreen } from "./search/screen.ts";
import { signOutScreen } from "./signin/sign-out.ts";
import { silencesScreen } from "./silences/list-screen.ts";
import { newSilenceScreen } from "./silences/new-screen.ts";
import { silenceScreen } from "./silences/silence-screen.ts";
import { connectScreen } from "./sources/connect.ts";
import { sourceScreen } from "./sources/source.ts";
import { gatewaysScreen } from "./system/gateways.ts";
import { systemScreen } from "./system/screen.ts";
import { signInScreen } from "./system/sign-in.ts";
import { welcomeScreen } from "./welcome/screen.ts";

/** Every screen there is. */
export const screens: readonly Screen[] = [
  alertsScreen,
  alertScreen,
  linesScreen,
  searchScreen,
  moreScreen,
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
  gatewaysScreen,
  lookScreen,
  auditScreen,
  welcomeScreen,
  projectsScreen,
  projectScreen,
  connectScreen,
  sourceScreen,
  tailScreen,
  templatesScreen,
  configScreen,
  channelsScreen,
  channelScreen,
  deliveryScreen,
  actionsScreen,
  rulesScreen,
  newRuleScreen,
  ruleScreen,
  drillScreen,
  laddersScreen,
  newLadderScreen,
  ladderScreen,
  ruleLadderScreen,
  simulateScreen,
  oncallScreen,
  scheduleScreen,
  handOverScreen,
  layersScreen,
  silencesScreen,
  newSilenceScreen,
  silenceScreen,
  heartbeatsScreen,
  projectHeartbeatsScreen,
  newHeartbeatScreen,
  heartbeatScreen,
  numbersScreen,
  reportsScreen,
  newReportScreen,
  editorScreen,
];

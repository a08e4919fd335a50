import { madeOnce } from "../../ground/kit/made-once.ts";
import { type ChannelList, channels } from "../../out/services/list.ts";
import { actionRoutes } from "./resources/actions.ts";
import { adviceRoutes } from "./resources/advice.ts";
import { alertListRoutes } from "./resources/alert-list.ts";
import { alertVerbRoutes } from "./resources/alert-verbs.ts";
import { alertRoutes } from "./resources/alerts.ts";
import { auditRoutes } from "./resources/audit.ts";
import { awayRoutes } from "./resources/away.ts";
import { calendarRoutes } from "./resources/calendars.ts";
import { changesRoutes } from "./resources/changes.ts";
import { configRoutes } from "./resources/config.ts";
import { connectRoutes } from "./resources/connect.ts";
import { contactRoutes } from "./resources/contacts.ts";
import { deliveryRoutes } from "./resources/deliveries.ts";
import { deviceRoutes } from "./resources/devices.ts";
import { gatewayRoutes } from "./resources/gateways.ts";
import { heartbeatRoutes } from "./resources/heartbeats.ts";
import { holidayRoutes } from "./resources/holidays.ts";
import { integrationRoutes } from "./resources/integrations.ts";
import { ladderRoutes } from "./resources/ladders.ts";
import { logtailRoutes } from "./resources/logtail.ts";
import { mappingRoutes } from "./resources/mapping.ts";
import { numbersRoutes } from "./resources/numbers.ts";
import { oncallRoutes } from "./resources/oncall.ts";
import { operatingTenantRoutes } from "./resources/operating.ts";
import { overviewRoutes } from "./resources/overview.ts";
import { pairingRoutes } from "./resources/pairing.ts";
import { peopleRoutes } from "./resources/people.ts";
import { projectRoutes } from "./resources/projects.ts";
import { pushRoutes } from "./resources/push.ts";
import { relayRoutes } from "./resources/relay.ts";
import { reportRoutes } from "./resources/reports.ts";
import { ruleRoutes } from "./resources/rules.ts";
import { searchRoutes } from "./resources/search.ts";
import { sessionRoutes } from "./resources/sessions.ts";
import { signInRoutes } from "./resources/sign-in.ts";
import { silenceRoutes } from "./resources/silences.ts";
import { sourceKeyRoutes, sourceRoutes, sourceSecretRoutes } from "./resources/sources.ts";
import { templateRoutes } from "./resources/templates.ts";
import { tryingRoutes } from "./resources/trying.ts";
import { wallRoutes } from "./resources/walls.ts";
import { webhookRoutes } from "./resources/webhooks.ts";
import type { Route } from "./route.ts";

/** Every schema-checked route of the data plane for these kinds of channel, in the order of the API document (contract §15). */
export const dataPlaneRoutesOf = madeOnce(
  (kinds: ChannelList): readonly Route[] => [
    ...actionRoutes,
    ...alertListRoutes,
    ...alertRoutes,
    ...alertVerbRoutes,
    ...auditRoutes,
    ...awayRoutes,
    ...calendarRoutes,
    ...changesRoutes,
    ...configRoutes(kinds),
    ...contactRoutes,
    ...gatewayRoutes,
    ...pushRoutes,
    ...deviceRoutes,
    ...heartbeatRoutes,
    ...silenceRoutes,
    ...integrationRoutes(kinds),
    ...deliveryRoutes,
    ...webhookRoutes,
    ...holidayRoutes,
    ...ladderRoutes,
    ...logtailRoutes,
    ...templateRoutes,
    ...numbersRoutes,
    ...adviceRoutes,
    ...oncallRoutes,
    ...overviewRoutes,
    ...operatingTenantRoutes,
    ...pairingRoutes,
    ...peopleRoutes,
    ...searchRoutes,
    ...sessionRoutes,
    ...signInRoutes,
    ...wallRoutes,
    ...projectRoutes,
    ...relayRoutes,
    ...reportRoutes,
    ...ruleRoutes,
    ...tryingRoutes,
    ...sourceRoutes,
    ...sourceKeyRoutes,
    ...sourceSecretRoutes,
    ...connectRoutes,
    ...mappingRoutes,
  ],
  (kinds) => kinds,
);

/** Those of the program's own kinds. */
export const dataPlaneRoutes = dataPlaneRoutesOf(channels);

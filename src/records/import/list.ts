import { alertmanagerImporter } from "./alertmanager/alertmanager.ts";
import { fromGoAlert } from "./goalert/goalert.ts";
import type { Importer } from "./importer.ts";
import { fromOnCall } from "./oncall/oncall.ts";
import { fromOpsgenie } from "./opsgenie/opsgenie.ts";
import { fromPagerDuty } from "./pagerduty/pagerduty.ts";

/** Every system that can be come from: a new one is a file or a folder of its own and a word here. */
export const importers: readonly Importer[] = [
  alertmanagerImporter,
  fromPagerDuty,
  fromOpsgenie,
  fromGoAlert,
  fromOnCall,
];

import { MOST_CALENDARS } from "../../core/oncall/calendars.ts";
import { MOST_LOOKS } from "../../core/oncall/complexity.ts";
import { MOST_OVERRIDES } from "../../core/oncall/overrides.ts";
import { bounds, MOST_SHARED } from "../../core/projects/bounds.ts";
import { MOST_SOURCE_KEYS } from "../../core/projects/source-keys.ts";
import { MOST_SILENCES } from "../../core/quiet/rows.ts";
import { adapters } from "../../in/adapters/list.ts";
import { MOST_HEARTBEATS } from "../../in/heartbeats/heartbeats.ts";
import { defaultWriterLimits } from "../../in/ingest/writer.ts";
import { MOST_CONTACTS } from "../../out/contacts/contacts.ts";
import { MOST_DEVICES } from "../../people/devices.ts";
import { MOST_KEYS } from "../../people/keys.ts";
import { MOST_SESSIONS } from "../../people/sessions.ts";
import { MOST_WALLS } from "../../people/walls.ts";

/** What there may be of each thing (contract §21), as the OpenAPI document tells it: by whose it is. */
export const publishedBounds = {
  tenant: {
    projects: bounds.projects,
    silences: MOST_SILENCES,
    walls: MOST_WALLS,
    shared_channels: MOST_SHARED,
  },
  project: {
    sources: bounds.sources,
    rules: bounds.rules,
    schedules: bounds.schedules,
    integrations: bounds.integrations,
    actions: bounds.actions,
    heartbeats: MOST_HEARTBEATS,
  },
  source: { keys: MOST_SOURCE_KEYS },
  schedule: { overrides: MOST_OVERRIDES, looks_a_year: MOST_LOOKS },
  account: {
    contacts: MOST_CONTACTS,
    keys: MOST_KEYS,
    calendars: MOST_CALENDARS,
    devices: MOST_DEVICES,
    sessions: MOST_SESSIONS,
  },
  /** Bytes of one request of each kind of sender (413). */
  bodies: Object.fromEntries(adapters.map(({ kind, caps }) => [kind, caps])),
  transaction: { rows: defaultWriterLimits.rows },
} as const;

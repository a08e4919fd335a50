import * as z from "zod";
import { scheduleReference } from "../../../core/projects/rule.ts";
import { integer, list, pathName } from "../../../ground/kit/fields.ts";
import { dryRun, queryFlag } from "../../../ground/kit/query-fields.ts";
import type { ChannelList } from "../../../out/services/list.ts";
import { emailField } from "../../../people/account.ts";
import { appliedAnswer } from "../../../records/config-file/applied.ts";
import { applyConfig } from "../../../records/config-file/apply.ts";
import { readConfig } from "../../../records/config-file/read.ts";
import { projectConfigOf } from "../../../records/config-file/shape.ts";
import { assumedThings } from "../../../records/config-file/tenant-nouns.ts";
import { tryConfig } from "../../../records/config-file/try.ts";
import { PING } from "../ping.ts";
import type { Route } from "../route.ts";
import { inProject, inTenant, routesIn } from "../scope.ts";

const common = { tag: "Configuration", additive: true, manager: true } as const;
const config = routesIn(inProject, { ...common, at: "/config" });
/** A project that isn't there is made. */
const anyConfig = routesIn(inTenant, {
  ...common,
  at: "/projects/{id}/config",
  params: { id: pathName(128) },
});

/** A project's configuration as one value: `box config` on the command line. */
export const configRoutes = (channels: ChannelList): Route[] => {
  const projectConfig = projectConfigOf(channels);
  return [
    config.get("", {
      name: "getProjectConfig",
      summary:
        "The project's configuration as one value, without credentials: they are marked as kept",
      query: z.strictObject({
        overrides: queryFlag.optional().meta({
          description: "With the overrides of its schedules that aren't over.",
        }),
      }),
      answer: z.object({ version: z.int(), config: projectConfig }),
      read: (store, { tenant, project, query }) => ({
        version: project.version,
        config: readConfig(store, project, tenant.channels, {
          overrides: query.overrides === true,
        }),
      }),
    }),
    anyConfig.put("", {
      makes: true,
      name: "putProjectConfig",
      summary:
        "Make the project what the body says, all or nothing; what the body lacks is deleted. Version 0 creates the project",
      query: z.strictObject({
        dry_run: dryRun,
      }),
      body: z.strictObject({
        version: integer(0),
        config: projectConfig,
        assume: list(scheduleReference, 1000).optional().meta({
          description:
            "Only with `dry_run`: shared schedules, `{project}/{schedule}`, that count as existing, because an earlier step makes them.",
        }),
        ...assumedThings,
        assume_people: list(emailField, 10_000).optional().meta({
          description: "Only with `dry_run`: e-mail addresses that count as those of accounts.",
        }),
      }),
      bodyLimit: 4 * 1024 * 1024,
      answer: appliedAnswer(channels),
      errors: [
        "invalid_silence",
        "name_taken",
        "version_conflict",
        "address_refused",
        "missing_credential",
        "credential_not_allowed",
        "not_a_member",
        "unknown_schedule",
        "unknown_action",
        "unknown_ladder",
        "two_ladders",
        "invalid_timezone",
        "invalid_layer",
        "schedule_in_use",
        "too_many",
        "schedule_too_complex",
        "invalid_override",
      ],
      handle: ({ tenant, params, query, body: { version, config, ...assumed }, actor }) => {
        const options = {
          name: params.id,
          tenantId: tenant.id,
          guard: tenant,
          by: actor.accountId,
          version,
          config,
        };
        const { heartbeats, ...applied } =
          query.dry_run === true
            ? tryConfig(tenant.store, options, assumed)
            : tenant.store.write((tx) => applyConfig(tx, options));
        const addresses = heartbeats.map(({ name, secret, uuid }) => ({
          name,
          uuid,
          ping_url: `${tenant.publicUrl}${PING}/${secret}`,
        }));
        return { ...applied, heartbeats: addresses };
      },
    }),
  ];
};

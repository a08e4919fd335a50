import { switchChannel } from "../../../core/alerts/switch-channel.ts";
import { mustFind } from "../../../core/projects/integrations.ts";
import { getProject } from "../../../core/projects/projects.ts";
import { type Form, type PageCall, pathOf } from "../screen.ts";

/** Where a channel's forms lead back to, below the base. */
export const channelAt = ({ project = "", integration = "" }: PageCall["params"]) =>
  pathOf("p", project, "channels", integration);

const turn = (enabled: boolean): Form => ({
  verb: enabled ? "enableIntegration" : "disableIntegration",
  act(call) {
    const { tenant, who, params } = call;
    const { project = "", integration: id = "" } = params;
    tenant.store.write((tx) =>
      switchChannel(tx, getProject(tx, project), { id, enabled, by: who.accountId }),
    );
    return {
      said: enabled
        ? "Turned on: pending messages are sent now, in order."
        : "Turned off: what comes for it waits, for a day at the most.",
      undo: { action: `${channelAt(params)}/${enabled ? "disable" : "enable"}` },
    };
  },
});

/** What a row of the list and a channel's own page can do alike. */
export const channelActions: Readonly<Record<string, Form>> = {
  enable: turn(true),
  disable: turn(false),
  test: {
    verb: "testIntegration",
    auditAlways: true,
    async act({ tenant, params }) {
      const project = getProject(tenant.store, params["project"] ?? "");
      const row = mustFind(tenant.store, project, params["integration"] ?? "");
      const { ok, error = "no reason was given" } = await tenant.outbox.testFire.integration(row);
      return { said: ok ? "The test got through." : `The test didn't get through: ${error}.` };
    },
  },
};

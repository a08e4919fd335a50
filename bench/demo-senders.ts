import { connect, createServer } from "node:net";
import type { TestBox } from "../test/support/box.ts";

/** The project and source that the box's syslog port belongs to. */
export const SYSLOG = { project: "machines", source: "switch" } as const;

/** A port that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  return typeof address === "object" && address !== null ? address.port : 0;
}

export interface Senders {
  /** Alerts that they opened. */
  opened: number;
  /** What they open ends where it comes from; whether the box followed. */
  end(): Promise<boolean>;
}

/** Senders that a team may run already: an Alertmanager, a job that must report, a switch that speaks syslog. */
export async function senders(
  box: TestBox,
  { say, syslogPort }: { say(text: string): void; syslogPort: number },
): Promise<Senders> {
  const at = `/v1/projects/${SYSLOG.project}`;
  const made = await box.api("POST", `${at}/sources`, { name: "prometheus", kind: "alertmanager" });
  await box.api("POST", `${at}/sources`, { name: SYSLOG.source, kind: "syslog" });
  const group = (status: string) => ({
    version: "4",
    status,
    receiver: "box",
    alerts: [
      {
        status,
        startsAt: "2026-01-05T08:59:00Z",
        fingerprint: "56303bf2b20108de",
        labels: { alertname: "DiskFull", instance: "db-01:9100", severity: "critical" },
        annotations: { summary: "Disk of db-01 is 96.4 % full" },
      },
    ],
  });
  const notify = async (status: string) => {
    const answer = await fetch(`${box.url}/v1/in/alertmanager/${made.body.token}`, {
      method: "POST",
      body: JSON.stringify(group(status)),
    });
    const text = await answer.text();
    say(`alertmanager: ${status}, answered ${answer.status} ${text}`);
    return (JSON.parse(text) as { resolved: number }).resolved;
  };
  await notify("firing");
  await notify("firing");

  const job = { name: "nightly backup", cron: "0 3 * * *", timezone: "Europe/Berlin" };
  const heartbeat = await box.api("POST", `${at}/heartbeats`, job);
  const ping = async (rest: string, body: string) => {
    const path = new URL(heartbeat.body.ping_url, box.url).pathname;
    const answer = await fetch(`${box.url}${path}${rest}`, { method: "POST", body });
    say(`nightly backup: ${body}, answered ${answer.status}`);
  };
  await ping("/1", "tar: /srv/data: Cannot open: Permission denied");

  await new Promise<void>((sent, failed) => {
    const socket = connect(syslogPort, "127.0.0.1");
    socket.once("error", failed).once("close", () => sent());
    socket.end(
      "<187>Jan  5 09:00:00 core-sw-1 LINK-3-UPDOWN: Interface Gi1/0/7, changed state to down\n",
    );
  });
  say("switch: a line of syslog, that a link went down");

  return {
    opened: 3,
    async end() {
      const resolved = await notify("resolved");
      await ping("", "3 files copied");
      const open = await box.api("GET", `/v1/alerts?project=${SYSLOG.project}&state=open`);
      const left = open.body.alerts.map(
        ({ last_message }: { last_message: string }) => last_message,
      );
      say(`${SYSLOG.project}: what ended there has ended here; open is ${left.join("; ")}`);
      return resolved === 1 && left.length === 1;
    },
  };
}

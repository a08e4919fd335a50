import type { MailRule } from "../../../core/projects/source.ts";

/** How to read one sender's mails. */
interface MailPreset {
  title: string;
  rules: readonly MailRule[];
}

const ends = (end: string, begin: string): MailRule => ({
  subject_contains: end,
  action: "resolve",
  named_as: begin,
});
const fires = (begin: string, as: string): MailRule => ({
  subject_contains: begin,
  action: "fire",
  named_as: as,
});

/** Senders with their own words for the end, by the preset's name in `mail_rules`. */
export const mailPresets: Readonly<Record<string, MailPreset>> = {
  monit: {
    title: "Monit, subjects as they are (`monit alert --  $EVENT $SERVICE`)",
    rules: [
      ends("-- Exists ", "-- Does not exist "),
      ends("-- Resource limit succeeded", "-- Resource limit matched"),
      ends("-- Type succeeded", "-- Invalid type"),
      ends("-- Data access succeeded", "-- Data access error"),
      ends("-- Saturation succeeded", "-- Saturation exceeded"),
      ends("-- Content doesn't match", "-- Content match"),
      ends("-- Timeout recovery", "-- Timeout"),
      ends("-- Link up", "-- Link down"),
      // Connection, checksum, status, ICMP, size, permission and all others.
      ends(" succeeded ", " failed "),
    ],
  },
  apcupsd: {
    title: "apcupsd",
    rules: [
      ends("Power has returned", "Power Failure !!!"),
      ends("Communications with UPS restored", "Communications with UPS lost"),
    ],
  },
  netdata: {
    title: "Netdata's agent",
    rules: [
      ends(" recovered - ", " - "),
      fires(" is critical - ", " - "),
      fires(" needs attention - ", " - "),
    ],
  },
  nut: {
    title: "Network UPS Tools",
    rules: [ends(" on line power", " on battery"), ends(" established", " lost")],
  },
  proxmox: {
    title: "Proxmox VE, mails of backup jobs",
    rules: [ends("backup successful", "backup failed")],
  },
};

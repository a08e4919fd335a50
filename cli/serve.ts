import { basename, delimiter, dirname } from "node:path";
import { Command } from "commander";
import type { RunningBox } from "../src/app/box.ts";
import type { BoxConfig, BoxFlags } from "../src/app/config.ts";
import { isPacked } from "../src/ground/kit/assets.ts";
import { systemClock } from "../src/ground/kit/clock.ts";
import { systemRandom } from "../src/ground/kit/random.ts";
import { commandAt } from "../src/ground/kit/shell.ts";
import { channels } from "../src/out/services/list.ts";
import { USUAL_URL } from "./connection.ts";
import { addFlags, databaseFlags, dataFlag, flag, withFlags } from "./options.ts";
import { endOnFatal, keptRunning } from "./running.ts";

export function registerServe(program: Command): void {
  const serve = serveFlags(new Command("serve"), "127.0.0.1:8080").description("run the box");
  withFlags(serve, {
    "--ingest-rate <n>":
      "events a second for the whole box, further ones get 429; 0 = no limit (default 5000)",
    "--adapters-listen <host:port>":
      "second address, for paths that senders can't change: /v2/enqueue, /api/v2/alerts and others",
    "--adapters-here": "serve the paths of --adapters-listen on the address of --listen",
    "--key-file <file>":
      "file with the key for stored secrets, such as a mounted secret; box.key in the data directory becomes a link to it",
    ...databaseFlags(
      "PostgreSQL for several machines: every change is stored there before it is answered or sent",
    ),
    "--database-away <go-on|stop>":
      "what to do while the database doesn't answer: continue with this machine's disk (default), or answer 503 and send nothing",
    "--cluster-listen <host:port>":
      "with --database: address on which this machine takes requests that the box's other machines forward",
    "--cluster-address <host:port>":
      "address of --cluster-listen as other machines reach it, if it differs",
    "--no-console": "serve only the API, no console",
    "--allow-acts":
      "let assistants (MCP clients at /mcp) apply the changes that they planned; without it they can only plan",
  }).action(async (flags: BoxFlags) => runBox(flags));
  portFlags(serve);
  backupFlags(serve);
  program.addCommand(serve);
}

/** Ports for senders' own protocols. */
function portFlags(command: Command): void {
  withFlags(command, {
    "--syslog-udp <host:port...>":
      "receive syslog over UDP at this address; with =PROJECT/SOURCE after it, for that source",
    "--syslog-tcp <host:port...>": "receive syslog over TCP (octet counting or lines)",
    "--syslog-tls <host:port...>": "receive syslog over TLS, with --tls-cert and --tls-key",
    "--gelf-udp <host:port...>":
      "receive GELF over UDP at this address, for the source after it: =PROJECT/SOURCE",
    "--gelf-tcp <host:port...>": "receive GELF over TCP",
    "--otlp <host:port...>":
      "receive OpenTelemetry logs at this address, usually port 4318; with =PROJECT/SOURCE after it, no token is needed",
    "--es <host:port...>":
      "receive Elasticsearch bulk requests at this address, usually port 9200; with =PROJECT/SOURCE after it, no token is needed",
    "--smtp <host:port...>":
      "receive mail to ANYTHING+TOKEN@ANY.HOST (the short token) at this address; STARTTLS with --tls-cert",
    "--syslog-sender <sender...>":
      "source of syslog messages without a token, by network (10.1.0.0/16=PROJECT/SOURCE) or client certificate (sha256:FINGERPRINT=PROJECT/SOURCE)",
    "--syslog-zone <zone>":
      "time zone of syslog times without a zone, for example Europe/Vienna (default: this machine's)",
    "--allow-from <cidr...>":
      "networks that may send to the ports above (this machine always may); needed if a port asks for no token",
  });
}

function backupFlags(command: Command): void {
  withFlags(command, {
    "--backup-dir <dir>":
      "directory for automatic backups, each checked after it is written (how often: --backup-hours); without it the box makes none",
    "--backup-hours <n>":
      "hours from one backup to the next, 0.5 is half an hour; at least 0.02 (default 1)",
    "--backup-keep <n>":
      "most backups that are kept (default 30); of those older than a day one for each day",
  });
}

/** The flags of both serving roles. */
export function serveFlags(command: Command, listen: string): Command {
  withFlags(addFlags(command, dataFlag), {
    "--listen <host:port>": `address to listen on (default ${listen})`,
    "--tls-cert <file>": "certificate chain (PEM); read again on SIGHUP",
    "--tls-key <file>": "private key (PEM)",
    "--public-url <url>":
      "the address that links begin with; without it messages can't be answered by link",
    "--trusted-proxy <cidr...>": "proxies whose X-Forwarded-For the box believes",
    "--api-rate <n>": "requests per second for each API key; 0 = no limit (default 100)",
    "--pair-rate <n>":
      "pairing and sign-in attempts per minute for each client IP address; 0 = no limit (default 10)",
    "--egress-allow <cidr...>":
      "networks to which requests may go although they are blocked by default (docs/security.md)",
    "--egress-deny <cidr...>": "networks to which no request may go",
    "--breaker-failures <n>":
      "failed attempts in a row, over --breaker-hours, that turn a channel off (default 20)",
    "--breaker-hours <n>": "hours that these failures must last at least (default 24)",
    "--log-days <n>": "days that log lines are kept (default 7)",
    "--log-gib <n>": "most GiB of log lines that are kept (default 2)",
    "--history-days <n>":
      "days that resolved alerts, deliveries and executions are kept (default 90)",
    "--numbers-days <n>": "days that the daily figures of box numbers are kept (default 800)",
    "--metrics-open": "let anyone read /metrics",
    "--log-level <level>": "trace, debug, info, warn, error, fatal or silent (default info)",
  });
  for (const { flag: flags, about } of Object.values(channels.settings))
    command.addOption(flag(flags, about));
  return command;
}

async function runBox(flags: BoxFlags): Promise<void> {
  const [{ boxConfig }, { startBox }, { createLog }] = await Promise.all([
    import("../src/app/config.ts"),
    import("../src/app/box.ts"),
    import("../src/ground/kit/log.ts"),
  ]);
  const config = boxConfig(flags);
  const log = createLog(config.logLevel);
  const deps = { clock: systemClock, random: systemRandom, log, onFatal: endOnFatal(log) };
  const keeping = keptRunning(deps);
  const box = await startBox(config, { ...deps, onStandby: keeping });
  await keeping(box);
  const said = box.isNew ? firstSteps(config, box) : wayIn(config, box);
  if (said !== "") process.stdout.write(`${said}\n`);
}

const wayIn = ({ console }: BoxConfig, { linksTo }: RunningBox): string =>
  console ? `to see it in a browser, sign in at ${linksTo}/signin` : "";

/** How to make the first account and get a test page, as commands to paste into another terminal in any folder. */
function firstSteps({ data, console, publicUrl }: BoxConfig, box: RunningBox): string {
  const { url, linksTo } = box;
  const path = isOnPath()
    ? []
    : [`PATH="${isPacked ? dirname(process.execPath) : import.meta.dirname}:$PATH"`];
  // The public address may belong to a proxy on another machine.
  const reached = publicUrl === "" ? linksTo : url;
  const ring = `${commandAt("quickstart", data)}${url === USUAL_URL ? "" : ` --url ${reached}`}`;
  // Only somebody who sits at the machine reads a terminal; a journal is read by others, and kept.
  const link = console && process.stdout.isTTY ? box.ownerLink() : null;
  if (link !== null)
    return [
      "no account yet. This link makes yours in a browser, once, within an hour, and then sets up a phone that rings:",
      indented(link),
      "for another link, or all of it without a browser, in another terminal:",
      ...[...path, commandAt("pair-code", data), ring].map(indented),
    ].join("\n");
  const lines = console
    ? [
        "no account yet. In another terminal, for a link that makes yours in a browser, and then sets up a phone that rings:",
        ...[...path, commandAt("pair-code", data)].map(indented),
        "or all of it without a browser:",
        indented(ring),
      ]
    : [
        "no account yet. In another terminal, to set up an account and a phone that rings:",
        ...[...path, ring].map(indented),
      ];
  return lines.join("\n");
}

/** Whether `box` is this program in another terminal, too. */
function isOnPath(): boolean {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return (
    isPacked &&
    (basename(process.execPath) !== "box" || folders.includes(dirname(process.execPath)))
  );
}

const indented = (line: string) => `  ${line}`;

import { Command } from "commander";
import type { RunningBox } from "../src/app/box.ts";
import type { BoxConfig, BoxFlags } from "../src/app/config.ts";
import { isPacked } from "../src/ground/kit/assets.ts";
import { commandAt } from "../src/ground/kit/shell.ts";
import { channels } from "../src/out/services/list.ts";
import { USUAL_URL } from "./connection.ts";
import { dataFlag, flag } from "./options.ts";
import { endOnFatal, keepRunning } from "./running.ts";

export function registerServe(program: Command): void {
  const serve = serveFlags(new Command("serve"), "127.0.0.1:8080")
    .description("run the box")
    .addOption(flag("--ingest-rate <n>", "events a second for the tenant, 0 = off (default 5000)"))
    .addOption(
      flag(
        "--adapters-listen <host:port>",
        "serve there the addresses that senders insist on: /v2/enqueue, /api/v2/alerts and the like",
      ),
    )
    .addOption(flag("--adapters-here", "serve those on the box's own port"))
    .addOption(
      flag(
        "--syslog-udp <host:port...>",
        "take syslog there; with =PROJECT/SOURCE behind it, for that source (repeatable, like those below)",
      ),
    )
    .addOption(flag("--syslog-tcp <host:port...>", "take syslog by connections, in both framings"))
    .addOption(
      flag("--syslog-tls <host:port...>", "the same with TLS, by --tls-cert and --tls-key"),
    )
    .addOption(
      flag(
        "--gelf-udp <host:port...>",
        "take GELF there, for the source behind it: =PROJECT/SOURCE",
      ),
    )
    .addOption(flag("--gelf-tcp <host:port...>", "the same by connections"))
    .addOption(
      flag(
        "--otlp <host:port...>",
        "take OpenTelemetry's logs there, usually at port 4318; with =PROJECT/SOURCE without a token",
      ),
    )
    .addOption(
      flag(
        "--es <host:port...>",
        "take Elasticsearch's bulk requests there, usually at port 9200; likewise",
      ),
    )
    .addOption(
      flag(
        "--smtp <host:port...>",
        "take mail to anything+KEY@any.host there; with STARTTLS where there is --tls-cert",
      ),
    )
    .addOption(
      flag(
        "--syslog-sender <sender...>",
        "whose messages without a token are which source's: 10.1.0.0/16=PROJECT/SOURCE, or sha256:FINGERPRINT=PROJECT/SOURCE for a client's certificate",
      ),
    )
    .addOption(
      flag(
        "--syslog-zone <zone>",
        "what times without a zone mean there, Europe/Vienna for example (default this machine's)",
      ),
    )
    .addOption(
      flag(
        "--allow-from <cidr...>",
        "who may send to those ports, beside this machine; needed where they ask for no secret",
      ),
    )
    .addOption(flag("--backup-dir <dir>", "make proved backups there at regular times"))
    .addOption(
      flag(
        "--backup-hours <n>",
        "hours from one to the next, 0.5 is half an hour; at least 0.02 (default 1)",
      ),
    )
    .addOption(flag("--backup-keep <n>", "how many are kept (default 24)"))
    .addOption(flag("--no-console", "serve no pages for people: the interface alone"))
    .action(async (flags: BoxFlags) => runBox(flags));
  program.addCommand(serve);
}

/** The flags of both serving roles. */
export function serveFlags(command: Command, listen: string): Command {
  command
    .addOption(dataFlag())
    .addOption(flag("--listen <host:port>", `address to listen on (default ${listen})`))
    .addOption(flag("--tls-cert <file>", "certificate chain (PEM); read again on SIGHUP"))
    .addOption(flag("--tls-key <file>", "private key (PEM)"))
    .addOption(flag("--public-url <url>", "what links are built from"))
    .addOption(flag("--trusted-proxy <cidr...>", "proxies whose X-Forwarded-For is believed"))
    .addOption(flag("--api-rate <n>", "requests a second for a key, 0 = off (default 100)"))
    .addOption(
      flag("--pair-rate <n>", "pairing tries a minute for an address, 0 = off (default 10)"),
    )
    .addOption(
      flag(
        "--egress-allow <cidr...>",
        "addresses that may be called although they would be refused",
      ),
    )
    .addOption(flag("--egress-deny <cidr...>", "addresses that may not be called"))
    .addOption(
      flag("--breaker-failures <n>", "failed attempts before an endpoint is disabled (default 20)"),
    )
    .addOption(flag("--breaker-hours <n>", "and for how long they have to go on (default 24)"))
    .addOption(flag("--log-days <n>", "days that log lines are kept (default 7)"))
    .addOption(flag("--log-gib <n>", "and their most GiB (default 2)"))
    .addOption(
      flag(
        "--history-days <n>",
        "days that resolved alerts, deliveries and executions are kept (default 90)",
      ),
    )
    .addOption(flag("--metrics-open", "let anyone read /metrics"))
    .addOption(
      flag(
        "--log-level <level>",
        "trace, debug, info, warn, error, fatal or silent (default info)",
      ),
    );
  for (const { flag: flags, about } of Object.values(channels.settings))
    command.addOption(flag(flags, about));
  return command;
}

async function runBox(flags: BoxFlags): Promise<void> {
  const [{ boxConfig }, { startBox }, { createLog }, { systemClock }, { systemRandom }] =
    await Promise.all([
      import("../src/app/config.ts"),
      import("../src/app/box.ts"),
      import("../src/ground/kit/log.ts"),
      import("../src/ground/kit/clock.ts"),
      import("../src/ground/kit/random.ts"),
    ]);
  const config = boxConfig(flags);
  const log = createLog(config.logLevel);
  const deps = { clock: systemClock, random: systemRandom, log, onFatal: endOnFatal(log) };
  const box = await startBox(config, deps);
  await keepRunning(box, deps);
  const said = box.isNew ? firstSteps(config, box) : wayIn(config, box);
  if (said !== "") process.stdout.write(`${said}\n`);
}

const wayIn = ({ console }: BoxConfig, { linksTo }: RunningBox): string =>
  console ? `to see it in a browser, sign in at ${linksTo}/signin` : "";

/** How to make the first account and get a test page, as commands to paste into another terminal in any folder. */
function firstSteps({ data, console, publicUrl }: BoxConfig, { url, linksTo }: RunningBox): string {
  const path = isPacked ? [] : [`PATH="${import.meta.dirname}:$PATH"`];
  // The public address may belong to a proxy on another machine.
  const reached = publicUrl === "" ? linksTo : url;
  const ring = `${commandAt("quickstart", data)}${url === USUAL_URL ? "" : ` --url ${reached}`}`;
  const lines = console
    ? [
        "no account yet. In another terminal, for a link that makes yours in a browser, and leads from there to a phone that rings:",
        ...[...path, commandAt("pair-code", data)].map(indented),
        "or all of it without a browser:",
        indented(ring),
      ]
    : [
        "no account yet. In another terminal, from here to a phone that rings:",
        ...[...path, ring].map(indented),
      ];
  return lines.join("\n");
}

const indented = (line: string) => `  ${line}`;

import type { Dice, Make } from "./template-dice.ts";

/**
 * Sixty more events as nineteen open programs write them, some lines and all values made up, named as people name things. All of them were written before the rules were run on one. Every second one is held back from the rules.
 */

const team = (r: Dice): string =>
  r.of("ginger hydra pluto inbox vouchers warehouse kiosk fleet forum wiki chat beacon");
const person = (r: Dice): string =>
  r.of("tom.baker jsmith deploy root nora olaf svc-ci www-data k.lindqvist postgres guest pi");
const machine = (r: Dice): string =>
  r.of("rigel vega mx1 mx2 stor-03 kube7 edge-ams-2 nas pluto.lan gw01.dc2.acme.net");
const zone = (r: Dice): string => `${team(r)}.${r.of("example.org acme.net corp.internal lan")}`;
const device = (r: Dice): string =>
  r.oneOf(
    "kitchen_light|hall sensor|Bedroom lamp|garage_door|plug-3|0x00158d0001a2b3c4|Thermostat upstairs|bathroom/window",
  );
const task = (r: Dice): string =>
  `${r.of("shop mailer core.jobs analytics proj.tasks")}.${r.of("send_welcome rebuild_index charge_card prune sync_stock add")}`;
const job = (r: Dice): string =>
  r.of("WelcomeMailJob HardWorker Billing::InvoiceJob ImportJob PruneSessions Stock::SyncWorker");
const volume = (r: Dice): string => r.either(`pvc-${r.uuid}`, `${team(r)}-data`);
const stream = (r: Dice): string => r.of("ORDERS EVENTS KV_config audit_log shop-events MQTT_sess");
const secret = (r: Dice): string => `${team(r)}-${r.of("tls cert ingress-tls wildcard")}`;
const mailbox = (r: Dice): string => r.of("INBOX Sent Trash Archive/2024 Junk Drafts lists.debian");
const zerolog = (r: Dice): string => `${r.iso.slice(0, 19)}Z`;
const nats = (r: Dice, sign: string): string =>
  `[${1 + r.below(99)}] ${r.date("/")} ${r.clock}.${100000 + r.below(899999)} [${sign}]`;
const klog = (r: Dice, sign: string): string =>
  `${sign}0${r.of("112 307 725")} ${r.clock}.${100000 + r.below(899999)}       1`;

export const FRESH: readonly Make[] = [
  // CoreDNS
  (r) => `[INFO] plugin/health: Going into lameduck mode for ${1 + r.below(30)}s`,
  (r) => `[INFO] plugin/auto: Deleting zone \`${zone(r)}.'`,
  (r) => `[WARNING] plugin/auto: Directory does not exist: /etc/coredns/${team(r)}`,
  (r) =>
    `[ERROR] plugin/errors: 2 ${zone(r)}. ${r.of("A AAAA MX TXT")}: read udp ${r.ip}:${r.below(65535)}->${r.ip}:53: i/o timeout`,
  (r) =>
    `[WARNING] plugin/sign: Error signing "${zone(r)}." with key tags "${r.below(65535)}" in ${r.ms}: no such file, next: ${r.iso}`,
  // Traefik
  (r) =>
    `{"level":"error","providerName":"docker","container":"${team(r)}-web-1-${r.hex(64)}","error":"service \\"${team(r)}\\" error: port is missing","time":"${zerolog(r)}","message":"Skip container ${team(r)}-web-1"}`,
  (r) =>
    `${zerolog(r)} ERR Unable to obtain ACME certificate for domains error="unable to generate a certificate for the domains [${zone(r)}]: acme: error: 429" providerName=${r.of("le letsencrypt staging")}.acme routerName=${team(r)}@docker rule=Host(\`${zone(r)}\`)`,
  (r) => `${zerolog(r)} ERR Unable to parse certificate ${zone(r)}`,
  // NATS
  (r) =>
    `${nats(r, "WRN")} Consumer create failed for '${r.of("$G APP SYS")} > ${stream(r)} > ${team(r)}': insufficient storage resources available`,
  (r) =>
    `${nats(r, "WRN")} JetStream cluster detected duplicate assignment for stream "${stream(r)}" for account "${r.of("$G APP SYS")}"`,
  (r) =>
    `${nats(r, "INF")} JetStream cluster new consumer leader for '${r.of("$G APP SYS")} > ${stream(r)} > ${team(r)}'`,
  (r) =>
    `${nats(r, "ERR")} ${r.ip}:${r.below(65535)} - cid:${r.below(9999)} - "v1.${r.below(40)}.0:go:${team(r)}" - Authorization Violation - User "${person(r)}"`,
  (r) => `${nats(r, "ERR")} Unable to load session record: ${stream(r)} not found`,
  // Sidekiq
  (r) => `Adding dead ${job(r)} job ${r.hex(24)}`,
  (r) => `Terminating quiet threads for ${r.of("default low critical mailers unsafe")} capsule`,
  (r) =>
    `${r.iso} pid=${r.below(99999)} tid=${r.hex(4)} class=${job(r)} jid=${r.hex(24)} elapsed=${r.below(9)}.${r.below(999)} INFO: done`,
  (r) => `Thread TID-${r.hex(4)} ${r.of("scheduler heartbeat processor default/processor poller")}`,
  // Celery
  (r) =>
    `Retrying delayed delivery setup (attempt ${1 + r.below(5)}/5) after error: [Errno 111] Connection refused. Sleeping ${r.below(9)}.00 seconds.`,
  (r) =>
    `New time limits for tasks of type ${task(r)}: soft=${r.below(99)} hard=${r.of("None 120 600")}`,
  (r) =>
    `[${r.spaced.slice(0, 19)},${100 + r.below(899)}: INFO/MainProcess] missed heartbeat from ${r.of("celery worker1 mail")}@${machine(r)}`,
  (r) => `Received unregistered task of type '${task(r)}'.`,
  (r) => `Chord counter incremented too many times for '${r.uuid}'`,
  // Longhorn
  (r) =>
    `time="${zerolog(r)}" level=warning msg="failed to update replica tcp://${r.ip}:10000 mode to ERR" func="engineapi.(*EngineMonitor).sync" file="engine_controller.go:${r.below(999)}" controller=longhorn-engine engine=${volume(r)}-e-0 node=${machine(r)}`,
  (r) =>
    `Failed to stop NVMe initiator for snapshot lvol bdev ${volume(r)}-r-${r.hex(8)}-snap-${r.uuid} during backup open cleanup`,
  (r) => `Detected the rebuilding replica ${volume(r)}-r-${r.hex(8)} on node ${machine(r)}`,
  // Zigbee2MQTT
  (r) =>
    `[${r.spaced.slice(0, 19)}] info: \tz2m: Device '${device(r)}' was OTA updated from '${r.below(99)}' to '${r.below(99)}'`,
  (r) =>
    `[${r.spaced.slice(0, 19)}] info: \tz2m: Zigbee: allowing new devices to join via ${device(r)}.`,
  (r) =>
    `[${r.spaced.slice(0, 19)}] info: \tz2m:mqtt: MQTT publish: topic 'zigbee2mqtt/${device(r)}', payload '{"linkquality":${r.below(255)},"state":"${r.of("ON OFF")}"}'`,
  (r) => `[${r.spaced.slice(0, 19)}] error: \tz2m: Entity '${device(r)}' is unknown`,
  // Syncthing
  (r) =>
    `${r.spaced.slice(0, 19)} INF Detected NAT type (uri=quic://0.0.0.0:22000 type="${r.oneOf("Full cone NAT|Port restricted NAT|Symmetric NAT")}" log.pkg=connections)`,
  (r) =>
    `${r.spaced.slice(0, 19)} WRN Removing incorrectly versioned symlink (path=${r.of("Photos docs music")}/${team(r)}.jpg log.pkg=versioner)`,
  (r) =>
    `[${r.upper(5)}] ${r.date("/")} ${r.clock} INFO: Folder "${r.oneOf("Photos|Camera roll|docs|Music")}" (${r.hex(5)}-${r.hex(5)}) isn't making progress. Pausing puller for 1m.`,
  (r) =>
    `[${r.upper(5)}] ${r.date("/")} ${r.clock} INFO: Device ${r.upper(7)}-${r.upper(7)}-${r.upper(7)} client is "syncthing v1.${r.below(29)}.${r.below(9)}" named "${machine(r)}" at ${r.ip}:22000/tcp-client`,
  // Mosquitto
  (r) =>
    `17${r.below(90) + 10}000000: New client connected from ${r.ip}:${r.below(65535)} as ${r.either(team(r), `mqttjs_${r.hex(8)}`)} (p2, c1, k60, u'${person(r)}').`,
  (r) =>
    `17${r.below(90) + 10}000000: Client ${r.either(team(r), `ESP32-${r.upper(6)}`)} has exceeded timeout, disconnecting.`,
  (r) =>
    `17${r.below(90) + 10}000000: Error: Invalid line in acl_file "/etc/mosquitto/${team(r)}.acl": ${r.of("top usr patern allow")}.`,
  (r) => `Error: Empty psk for identity "${machine(r)}".`,
  // OpenSSH
  (r) => `User ${person(r)} from ${r.ip} not allowed because a group is listed in DenyGroups`,
  (r) =>
    `host key ${r.of("ssh-rsa ssh-dss rsa-sha2-256 ecdsa-sha2-nistp256")} not permitted by HostkeyAlgorithms`,
  (r) => `Unable to resume download of "${team(r)}.tar.gz": server reordered requests`,
  (r) => `Connection closed by invalid user ${person(r)} ${r.ip} port ${r.below(65535)} [preauth]`,
  (r) => `error: PAM: Authentication failure for ${person(r)} from ${r.either(machine(r), r.ip)}`,
  // cert-manager
  (r) =>
    `${klog(r, "I")} conditions.go:${r.below(400)}] "Certificate must be re-issued" logger="cert-manager.certificates-trigger" key="${r.namespace}/${secret(r)}" reason="${r.of("Expired DoesNotExist SecretMismatch")}"`,
  (r) => `Created new CertificateRequest resource "${secret(r)}-${r.below(9)}"`,
  (r) => `Failed to generate CSR: secret "${secret(r)}" not found - will not retry`,
  (r) =>
    `${klog(r, "E")} sync.go:${r.below(400)}] "certificate resource is not owned by this object. refusing to update non-owned certificate resource for object" logger="cert-manager.controller" resource_name="${team(r)}" resource_namespace="${r.namespace}" related_resource_name="${secret(r)}"`,
  // ZooKeeper
  (r) =>
    `Server list updated: oldSize=${r.below(9)}, newSize=${r.below(9)}, reconfigMode=${r.of("true false")}`,
  (r) =>
    `Disconnected from leader (with address: ${machine(r)}/${r.ip}:2888). Was connected for ${r.below(99999)}ms. Sync state: ${r.of("true false")}`,
  (r) => `No SRV records found for DNS name: _zk._tcp.${zone(r)}`,
  (r) => `Missing AuthenticationProvider for ${r.of("digest sasl x509 kerberos ip")}`,
  // Flux
  (r) =>
    `{"level":"info","ts":"${r.iso}","msg":"indexed object '${team(r)}/deploy.yaml' disappeared from '${team(r)}-config' bucket","controller":"bucket","namespace":"${r.namespace}","name":"${team(r)}"}`,
  (r) =>
    `stored artifact for commit '${r.oneOf("Bump ginger to 1.2|fix typo|Merge pull request #44 from acme/hydra|Release 7")}'`,
  (r) => `pulled '${team(r)}' chart with version '${r.below(9)}.${r.below(30)}.${r.below(9)}'`,
  // Dovecot
  (r) =>
    `imap(${person(r)})<${r.below(99999)}><${r.blob(16)}>: Error: Can't sync mailbox ${mailbox(r)}: Timeout while waiting for lock`,
  (r) =>
    `lmtp(${person(r)})<${r.below(99999)}><${r.blob(16)}>: msgid=<${r.hex(12)}@${zone(r)}>: saved mail to ${mailbox(r)}`,
  (r) =>
    `auth: Error: BUG: Authentication client sent unknown handshake command ${r.of("HELO GET VERSIOM QUIT SPIDD")}`,
  // PgBouncer, Fluent Bit, Postfix
  (r) =>
    `C-0x${r.hex(12)}: ${team(r)}/${person(r)}@${r.ip}:${r.below(65535)} closing because: client unexpected eof (age=${r.below(999)}s)`,
  (r) =>
    `[${r.date("/")} ${r.clock}] [ warn] [input:docker_metrics:${team(r)}] Image name was not found for ${r.hex(12)}`,
  (r) =>
    `table hash:/etc/postfix/${r.of("virtual transport sender_access relay")}(0,lock|fold_fix) has changed -- restarting`,
  (r) =>
    `${r.syslog} ${machine(r)} postfix/qmgr[${r.below(99999)}]: qmgr_transport_create: ${r.of("smtp relay lmtp amavis")} concurrency ${r.below(99)} recipients ${r.below(9999)}`,
];

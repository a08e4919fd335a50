import type { Make } from "./template-dice.ts";

/** The half of the shapes of today's systems that was kept back while the miner's rules were developed. */
export const HELD: readonly Make[] = [
  // Kubernetes
  (r) =>
    `Error: ImagePullBackOff: Back-off pulling image "${r.of("ghcr.io quay.io docker.io")}/acme/${r.slug}:${r.hex(7)}"`,
  (r) => `deployment ${r.namespace}/${r.slug} exceeded its progress deadline`,
  (r) =>
    `E0${100 + r.below(900)} ${r.clock}.${100000 + r.below(899999)}       1 reflector.go:${r.below(400)}] k8s.io/client-go/informers/factory.go:${r.below(200)}: Failed to watch *v1.${r.of("Pod Service Node ConfigMap Secret Endpoints")}: failed to list: Get "https://10.96.0.1:443/api/v1/${r.of("pods services nodes")}?resourceVersion=${r.below(999999)}": dial tcp 10.96.0.1:443: connect: connection refused`,
  (r) =>
    `I0${100 + r.below(900)} ${r.clock}.${100000 + r.below(899999)}    ${r.below(9999)} leaderelection.go:${r.below(400)}] successfully acquired lease ${r.namespace}/${r.slug}`,
  (r) => `Node ${r.host} status is now: NodeNotReady`,
  (r) =>
    `ingress ${r.namespace}/${r.either(r.word, r.slug)}: no endpoints found for service ${r.namespace}/${r.slug}`,
  (r) => `Certificate ${r.slug}-tls in namespace ${r.namespace} will expire in ${r.below(30)} days`,
  // Proxies
  (r) =>
    `Server ${r.word}/${r.host} is DOWN, reason: Layer4 timeout, check duration: ${r.below(3000)}ms. ${r.below(4)} active and ${r.below(2)} backup servers left. ${r.below(9)} sessions active, 0 requeued, 0 remaining in queue.`,
  (r) =>
    `${r.ip}:${r.below(65535)} [${r.day(2)}/Oct/2024:${r.clock}.${r.below(999)}] ${r.word}~ ${r.word}/${r.host} 0/0/${r.below(9)}/${r.below(99)}/${r.below(99)} 200 ${r.below(9999)} - - ---- ${r.below(99)}/${r.below(99)}/${r.below(9)}/${r.below(9)}/0 0/0 "GET ${r.path} HTTP/1.1"`,
  (r) =>
    `[${r.iso}] "GET ${r.path} HTTP/2" ${r.of("200 404 503")} ${r.of("- UF URX NR")} ${r.below(9)} ${r.below(9999)} ${r.below(99)} ${r.below(99)} "${r.ip}" "Go-http-client/2.0" "${r.uuid}" "${r.slug}.${r.namespace}.svc.cluster.local" "${r.ip}:8080"`,
  (r) =>
    `cds: add/update cluster 'outbound|${r.of("80 443 8080 9090")}||${r.slug}.${r.namespace}.svc.cluster.local' skipped`,
  // Databases
  (r) => `FATAL:  password authentication failed for user "${r.either(r.user, r.snake)}"`,
  (r) => `automatic vacuum of table "${r.word}.public.${r.snake}": index scans: ${r.below(2)}`,
  (r) => `could not send data to client: ${r.oneOf("Broken pipe|Connection reset by peer")}`,
  (r) =>
    `disconnection: session time: 0:0${r.below(9)}:${r.day(2)}.${r.below(999)} user=${r.user} database=${r.word} host=${r.ip} port=${r.below(65535)}`,
  (r) => `Access denied for user '${r.user}'@'${r.ip}' (using password: ${r.of("YES NO")})`,
  (r) =>
    `Aborted connection ${r.below(99999)} to db: '${r.word}' user: '${r.user}' host: '${r.ip}' (Got timeout reading communication packets)`,
  (r) => `${r.below(9) + 1} changes in ${r.below(900)} seconds. Saving...`,
  (r) => `DB saved on disk: RDB: ${r.below(99)} MB of memory used by copy-on-write`,
  (r) =>
    `[${r.host}] high disk watermark [90%] exceeded on [${r.blob(22)}][${r.host}][/var/lib/elasticsearch/nodes/0] free: ${r.below(99)}.${r.below(9)}gb[${r.below(10)}.${r.below(9)}%], shards will be relocated away from this node`,
  // Queues
  (r) =>
    `[Partition ${r.word}-${r.below(12)} broker=${r.below(5)}] Shrinking ISR from ${r.below(5)},${r.below(5)} to ${r.below(5)}. Leader: (highWatermark: ${r.below(99999)}, endOffset: ${r.below(99999)}).`,
  (r) =>
    `[Producer clientId=${r.slug}-${r.below(9)}] Got error produce response with correlation id ${r.below(9999)} on topic-partition ${r.word}-${r.below(12)}, retrying (${r.below(99)} attempts left). Error: NOT_LEADER_OR_FOLLOWER`,
  (r) =>
    `Message ${r.uuid} moved to dead letter queue ${r.slug}-dlq after ${r.below(9) + 2} attempts`,
  (r) => `Subscribed to topic ${r.either(r.word, r.snake)}`,
  // Java
  (r) =>
    `java.lang.NullPointerException: Cannot invoke "com.shop.${r.camel}.get${r.camel}()" because "<local${r.below(9)}>" is null\n\tat com.shop.${r.camel}.run(${r.camel}.java:${r.below(400)})\n\tat java.base/java.lang.Thread.run(Thread.java:1583)`,
  (r) => `Tomcat started on port ${8000 + r.below(99)} (http) with context path '/${r.word}'`,
  (r) =>
    `[Full GC (Ergonomics) ${r.below(9999)}K->${r.below(999)}K(${r.below(99999)}K), 0.${r.below(9999)} secs]`,
  (r) => `Circuit breaker '${r.slug}' changed state from CLOSED to OPEN`,
  (r) =>
    `Scheduled task ${r.camel}Job completed, ${r.count("record")} processed in ${r.below(999)} ms`,
  // Go
  (r) =>
    `${r.date("/")} ${r.clock} WARN slow query duration=${r.ms} table=${r.snake} rows=${r.below(999)}`,
  (r) =>
    `level=warn ts=${r.iso} caller=memberlist.go:${r.below(400)} component=cluster msg="Was able to connect to ${r.host} but other probes failed, network may be misconfigured"`,
  (r) =>
    `failed to refresh token for tenant ${r.either(r.word, r.slug)}: Post "https://${r.domain}/oauth/token": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
  (r) => `worker pool ${r.word} resized from ${r.below(64)} to ${r.below(64)}`,
  // System
  (r) =>
    `${r.syslog} ${r.host} systemd[1]: ${r.either(r.word, r.slug)}.service: Failed with result '${r.of("exit-code signal timeout oom-kill")}'.`,
  (r) =>
    `systemd[1]: ${r.either(r.word, r.slug)}.service: Scheduled restart job, restart counter is at ${r.below(99)}.`,
  (r) =>
    `${r.syslog} ${r.host} sshd[${r.below(99999)}]: Invalid user ${r.either(r.user, r.of("oracle test ftp pi guest ubnt support postgres hadoop"))} from ${r.ip} port ${r.below(65535)}`,
  (r) =>
    `${r.syslog} ${r.host} sudo: ${r.user} : TTY=pts/${r.below(9)} ; PWD=/home/${r.user} ; USER=root ; COMMAND=/usr/bin/${r.of("apt systemctl journalctl")} ${r.of("update restart")}`,
  (r) =>
    `Out of memory: Killed process ${r.below(99999)} (${r.of("java node postgres python3 mysqld chrome")}) total-vm:${r.below(9999999)}kB, anon-rss:${r.below(999999)}kB, file-rss:${r.below(99)}kB, shmem-rss:0kB, UID:${r.below(1000)} pgtables:${r.below(999)}kB oom_score_adj:${r.below(999)}`,
  (r) =>
    `[${r.below(99999)}.${r.below(999999)}] ${r.of("eth0 eno1 enp3s0 wlan0")}: Link is Up - 1Gbps/Full - flow control rx/tx`,
  // JSON
  (r) =>
    `{"severity":"WARNING","message":"Quota for project ${r.slug} is at ${r.below(100)}%","time":"${r.iso}","logging.googleapis.com/trace":"projects/${r.slug}/traces/${r.hex(32)}"}`,
  (r) =>
    `{"@timestamp":"${r.iso}","@version":"1","message":"Failed to deliver invoice ${r.below(9999)} to ${r.user}@${r.domain}","logger_name":"c.s.Mailer","level":"WARN","level_value":30000}`,
  (r) =>
    `{"eventVersion":"1.08","userIdentity":{"type":"AssumedRole","principalId":"${r.upper(21)}:${r.user}","arn":"arn:aws:sts::${r.below(999999999)}:assumed-role/${r.word}/${r.user}"},"eventTime":"${r.iso}","eventSource":"s3.amazonaws.com","eventName":"PutBucketPolicy","awsRegion":"${r.region}","sourceIPAddress":"${r.ip}"}`,
  // Cloud
  (r) =>
    `REPORT RequestId: ${r.uuid}	Duration: ${r.below(999)}.${r.below(99)} ms	Billed Duration: ${r.below(999)} ms	Memory Size: 128 MB	Max Memory Used: ${r.below(128)} MB`,
  (r) =>
    `Instance i-0${r.hex(16)} in Auto Scaling group ${r.slug}-asg was terminated in response to an EC2 health check`,
  (r) =>
    `Uploaded part ${r.below(99)} of s3://${r.slug}/${r.word}/${r.date("-")}.tar.gz (${r.below(99)}.${r.below(9)} MiB) to ${r.region}`,
  (r) =>
    `(service ${r.either(r.word, r.slug)}) has started ${r.count("task")}: (task ${r.hex(32)}).`,
  // Scripted and web
  (r) => `[${r.spaced} +0000] [${r.below(99)}] [CRITICAL] WORKER TIMEOUT (pid:${r.below(999)})`,
  (r) => `Not Found: /${r.word}/${r.below(999)}/${r.oneOf("edit|favicon.ico|wp-login.php")}`,
  (r) =>
    `Traceback (most recent call last):\n  File "/srv/${r.word}/views.py", line ${r.below(400)}, in get\n    return self.load(${r.word})\ndjango.db.utils.OperationalError: could not translate host name "${r.host}" to address: Name or service not known`,
  (r) => `Started GET "${r.path}" for ${r.ip} at ${r.spaced} +0000`,
  (r) => `Sidekiq: ${r.camel}Job JID-${r.hex(24)} INFO: done: ${r.below(9)}.${r.below(999)} sec`,
  // Containers and services
  (r) =>
    `time="${r.iso}" level=info msg="shim disconnected" id=${r.hex(64)} namespace=${r.of("moby k8s.io")}`,
  (r) => `network ${r.word}_default not found, creating it`,
  (r) =>
    `snapshot ${r.hex(8)} saved, ${r.count("file")} new, ${r.below(999)}.${r.below(999)} MiB added`,
  (r) =>
    `Webhook ${r.word} delivery to https://${r.domain}${r.path} failed: ${r.oneOf("connection refused|request timeout|ECONNRESET")} (attempt ${r.below(9)} of 10)`,
  (r) => `Feature flag ${r.either(r.slug, r.snake)} enabled for ${r.below(100)}% of users`,
];

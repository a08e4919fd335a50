/** What can be said on the command line of a role that serves: each flag, with what it does. */

/** The flags of a database, which `what` names. */
export const databaseFlags = (what: string) => ({
  "--database <url>": `${what}: postgres://user@host1,host2/name`,
  "--database-file <file>":
    "a file that contains the --database address; keeps its password out of ps",
  "--database-ca <file>": "trust only this authority for the database (PEM)",
});

/** Of both roles. `listen`: the usual address. */
export const servingFlags = (listen: string) => ({
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
  "--log-level <word>": "trace, debug, info, warn, error, fatal or silent (default info)",
});

/** Of the box. */
export const boxFlags = {
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
  // Ports for senders' own protocols.
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
  "--backup-dir <dir>":
    "directory for automatic backups, each checked after it is written (how often: --backup-hours); without it the box makes none",
  "--backup-hours <n>":
    "hours from one backup to the next, 0.5 is half an hour; at least 0.02 (default 1)",
  "--backup-keep <n>":
    "most backups that are kept (default 30); of those older than a day one for each day",
};

/** Of the hosted service. */
export const hostedFlags = {
  "--ingest-rate <n>": "events a second for a tenant; 0 = no limit (default: free 50, pro 1000)",
  "--relay-rate <n>": "pages a second from one box; 0 = no limit (default 20)",
  "--open-tenants <n>": "most tenants' databases that are open at once (default 128)",
  "--cluster-listen <host:port>":
    "with --database: address on which this node takes requests that other nodes forward for its tenants",
  "--cluster-address <host:port>":
    "address of --cluster-listen as other machines reach it, if it differs",
  "--database-pool <n>": "database connections for the work (default 8)",
  "--node <name>": "this node's name (default: made once, in the data directory)",
  "--drain-seconds <n>":
    "how long a stopping service still serves requests while readiness is 503 (default 0, with a database 5)",
  "--lab": "for labs only: receipt checks may use http and private addresses",
};

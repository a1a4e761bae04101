// What explains a flow without running it: its table, what it decides by, and the reading of a Shoot's facts, in the garden and in
// the seed.
const plan = [
  "workflows/(contract|conditions|decide|reconcile|delete|force-delete|migrate|restore|clean-up|surveyed|installation/install|installation/uninstall)",
  "activities/shoot/(view|migration-facts)",
  "activities/control-plane/context",
  "activities/seed",
  "activities/shoot/clients",
  "activities/waits/(judgement|node-waits)",
];

// Words that users and histories know, spelled once; these files import nothing.
const spelling = "api/(activity-ids|command-lines|requests|summaries)";

// How the file of a holder of ShootStates is made and read.
const stateKeys = "activities/state/keys";

// How a Shoot's status catches up with its leadership record.
const recovery = "activities/(leadership/recovery|leadership/recovery-writes|shoot/leadership-domain)";

// What reads a command line, runs its verb and says how it ended: the frame of every program.
const frame = "cli/(base-context|command|exit|group|kubeconfig-file|option|process|program|version|completion|display)";

// Who wins among the endpoints of a Cluster, and what taking over a Cluster makes.
const endpoints =
  "cluster-api/(endpoint/(decide|endpoint-writer|generated|migrate|provider-objects|rank|value|verdict)|objects/(conditions|field-managers|owner-reference))";

// The arrows of ARCHITECTURE.md. A folder may import itself, what is listed here, and nothing else.
const arrows = {
  api: ["parsing"],
  flow: [],
  workflows: ["flow", spelling],
  components: [
    "api/(annotations|labels|names|object-stores|extensions/backup-entry|schema/(cidr|duration|quantity)|shoot/(admission-plugins|dns-provider|kubelet-defaults))",
    "omit-undefined",
    "parsing",
    "yaml",
  ],
  kube: ["api", "json-measure", "omit-undefined", "parsing", "read-text", "log", "yaml"],
  dns: [],
  binding: ["api", "kube", "parsing", "log"],
  activities: [
    "api",
    "components",
    "kube",
    "dns",
    "fair-limiter",
    "key-file",
    "omit-undefined",
    "parsing",
    "redaction",
    "yaml",
  ],
  admission: [
    "api",
    "kube",
    "dns/domain",
    "json-measure",
    "limit-connections",
    "omit-undefined",
    "parsing",
    "read-text",
    "log",
  ],
  local: [
    "api",
    "kube",
    "manifests",
    "package",
    "node-agent/wanted",
    "gateway/identity",
    "variables",
    "log",
    stateKeys,
    "yaml",
    "parsing",
  ],
  extension: ["api", "binding", "kube", "dns", "admission", "health", "omit-undefined", "log", "yaml", "parsing"],
  conformance: ["activities/machines/state", "activities/waits/readiness", "api", "kube"],
  client: ["binding", "workflows/contract", spelling, "key-file", "omit-undefined", "parsing"],
  gateway: [
    "client",
    "workflows/contract",
    "config",
    "health",
    "key-file",
    "limit-connections",
    "omit-undefined",
    "parsing",
    "read-text",
    "log",
  ],
  controllers: ["api", "kube", "client", "omit-undefined", "parsing"],
  "provider-local": [
    "extension",
    "local",
    "api",
    "kube",
    "dns",
    "config",
    "health",
    "parsing",
    "log",
    "redaction",
    "yaml",
  ],
  worker: [
    "activities",
    "api",
    "binding",
    "components",
    "kube",
    "dns",
    "client",
    "workflows/contract",
    "config",
    "health",
    "omit-undefined",
    "package",
    "parsing",
    "log",
  ],
  fence: [
    "activities/teardown/pod-makers",
    "api",
    "binding",
    "kube",
    "dns",
    "omit-undefined",
    "config",
    "health",
    "log",
  ],
  "cluster-api": [
    "activities/waits/readiness",
    "admission",
    "api",
    "kube",
    "config",
    "fair-limiter",
    "health",
    "omit-undefined",
    "parsing",
    "log",
  ],
  manager: ["controllers", "admission", "api", "binding", "kube", "client", "config", "health", "log"],
  cli: [
    "api",
    "binding",
    "flow",
    "components",
    "kube",
    "client",
    "conformance",
    "local",
    ...plan,
    endpoints,
    stateKeys,
    recovery,
    "dns",
    "worker/replay",
    "config",
    "omit-undefined",
    "package",
    "parsing",
    "system-error",
    "tell-news",
    "log",
    "yaml",
  ],
  etcd: ["node-agent/commands", "parsing", "tell-news"],
  "self-hosted": ["api", "components", "yaml"],
  "in-process": ["flow", "parsing"],
  "etcd-data": [
    "activities/secrets/plan",
    "activities/state/seal",
    "api",
    "components",
    "in-process/flock",
    "key-file",
    "node-agent/(commands|whole-file)",
    "parsing",
  ],
  gardenadm: [
    frame,
    "activities/(backup/credentials|control-plane/(cluster|dns|waves)|extensions/(apply-object|existing|trigger))",
    "activities/(installation|managed-resources/(health|seed-resource-manager))",
    "activities/(judge-error|secrets|shoot/(extension-reports|health|operation-beginning)|step-error)",
    "activities/waits/(judgement|pod-reach|pod-trouble|readiness)",
    "admission/shoot/(known-gates|networks|rules|unsupported)",
    "api",
    "components",
    "dns/domain",
    "etcd",
    "etcd-data",
    "flow",
    "in-process",
    "key-file",
    "kube",
    "manifests",
    "log",
    "node-agent",
    "self-hosted",
    "workflows/(progress-tracker|reconcile-self-hosted)",
    "omit-undefined",
    "package",
    "parsing",
    "tell-news",
    "read-text",
    "redaction",
    "yaml",
  ],
  config: ["variables"],
  variables: [],
  health: ["limit-connections", "log"],
  "limit-connections": [],
  "key-file": ["parsing"],
  "node-agent": ["parsing", "tell-news"],
  "omit-undefined": [],
  log: ["redaction"],
  manifests: ["package"],
  package: ["parsing"],
  parsing: ["yaml"],
  redaction: [],
  "tell-news": [],
  yaml: [],
};

// Erased at compile time, so they carry no code across. Everyone may know the shape of a resource and of the logger,
// except the engine, which knows nothing.
const typeArrows = {
  flow: [],
  api: [],
  log: [],
  workflows: ["api", "activities", "components"],
  cli: ["api", "log", "variables", "workflows", "activities"],
  gardenadm: ["api", "log", "activities"],
};
const typeArrowsOf = (folder) => typeArrows[folder] ?? ["api", "log"];

// Each package has one home. Everything else talks to that home.
const homes = {
  "@grpc/grpc-js": ["client", "gateway"],
  "@kubernetes/client-node": ["kube"],
  "@peculiar/x509": ["activities", "admission", "local"],
  "@temporalio/activity": ["activities/temporal"],
  "@temporalio/client": ["client", "extension/workflow"],
  "@temporalio/proto": ["client", "gateway"],
  "@temporalio/worker": ["worker"],
  "@temporalio/workflow": ["workflows"],
  commander: ["cli"],
  execa: ["local", "provider-local"],
  jose: ["activities"],
  listr2: ["cli"],
  pino: ["log"],
  rolldown: ["local"],
  undici: ["kube", "local"], // local: downloads of pinned binaries
  zod: [
    "activities/machines/state",
    "activities/state/snapshot-record",
    "api",
    "admission",
    "binding",
    "cli",
    "config",
    "etcd",
    "gardenadm",
    "provider-local/backup/entry",
    "variables",
  ],
};

// The rings within gardenadm, the innermost first: a folder imports those before it, and none after it.
const rings = [
  "configuration", // what the operator wrote, and what it asks for
  "steps", // how rows are run, shown and judged
  "machine", // what is on this machine's disk, and where
  "cluster", // what the cluster knows of itself: Shoot, nodes, etcd members, turns, orders for machines
  "mending", // what etcd's data are brought back by
  "reconcile", // the rows of reconcileSelfHosted
  "(node-access|node-agent|preflight|renewal)", // what runs on nodes by itself, and what looks at a machine first
  "(discover|token)", // from here on commands
  "init",
  "join",
  "(reset|restore|status)",
];

const anyOf = (paths) => `^src/(${paths.join("|")})(/|\\.ts$)`;

module.exports = {
  forbidden: [
    ...Object.entries(arrows).map(([folder, targets]) => ({
      name: `arrows-of-${folder}`,
      severity: "error",
      from: { path: anyOf([folder]) },
      to: { path: "^src/", pathNot: anyOf([folder, ...targets]), dependencyTypesNot: ["type-only"] },
    })),
    ...Object.entries(arrows).map(([folder, targets]) => ({
      name: `type-arrows-of-${folder}`,
      severity: "error",
      from: { path: anyOf([folder]) },
      to: {
        path: "^src/",
        pathNot: anyOf([folder, ...targets, ...typeArrowsOf(folder)]),
        dependencyTypes: ["type-only"],
      },
    })),
    ...Object.entries(homes).map(([name, folders]) => ({
      name: `home-of-${name}`,
      severity: "error",
      from: { path: "^src/", pathNot: anyOf(folders) },
      to: { path: `node_modules/${name}/` },
    })),
    ...rings.map((ring, at) => ({
      name: `ring-of-gardenadm-${ring}`,
      severity: "error",
      from: { path: `^src/gardenadm/${ring}/` },
      to: { path: "^src/gardenadm/[^/]+/", pathNot: `^src/gardenadm/(${rings.slice(0, at + 1).join("|")})/` },
    })),
    {
      name: "workflows-are-deterministic",
      comment: "Workflow code runs in a sandbox: no Node, no packages but Temporal's own.",
      severity: "error",
      from: { path: anyOf(["workflows", "flow"]) },
      to: { dependencyTypes: ["core", "npm"], pathNot: "node_modules/@temporalio/(workflow|common)/" },
    },
    {
      name: "the-pure-import-nothing",
      comment: "The engine and the components are functions of their arguments; what they import is too.",
      severity: "error",
      from: { path: anyOf(["flow", "components"]) },
      to: { dependencyTypes: ["core", "npm"], pathNot: "^(node:)?(crypto|net)$|node_modules/yaml/" },
    },
    {
      name: "spelling-imports-nothing",
      comment: "Workflow code loads these files into its sandbox.",
      severity: "error",
      from: { path: `^src/${spelling}` },
      to: {},
    },
    {
      name: "extensions-may-do-without-temporal",
      comment:
        "perennial/extension/workflow is an entry of its own: perennial/extension loads neither it nor Temporal.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/extension/workflow/" },
      to: { path: "^src/extension/workflow/" },
    },
    {
      name: "folders-are-known",
      comment: "A new folder gets its row above first.",
      severity: "error",
      from: { path: "^src/", pathNot: anyOf(Object.keys(arrows)) },
      to: {},
    },
    {
      name: "source-knows-no-tests",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^(test|bench|scripts)/" },
    },
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    {
      name: "no-orphans",
      severity: "error",
      from: { orphan: true, path: "^src/", pathNot: "/main\\.ts$|\\.d\\.ts$" },
      to: {},
    },
    {
      name: "no-undeclared-packages",
      severity: "error",
      from: { path: "^src/" },
      to: { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"] },
    },
    { name: "resolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    tsPreCompilationDeps: true, // sees type-only imports
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^dist/" },
    enhancedResolveOptions: { extensions: [".ts", ".js"], conditionNames: ["import", "node", "default"] },
  },
};

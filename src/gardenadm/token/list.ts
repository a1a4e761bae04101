import { BOOTSTRAPPER_GROUPS } from "../../api/names.ts";
import { printList } from "../../cli/display/output.ts";
import type { Column } from "../../cli/display/table.ts";
import { formatAge, formatDuration } from "../../cli/display/time.ts";
import { choice, flag } from "../../cli/option.ts";
import { BOOTSTRAP_TOKEN_TYPE, readBootstrapTokenSecret, Secret } from "../../kube/index.ts";
import { clusterOptions } from "../connection.ts";
import { defineCommand } from "../context.ts";

/** `gardenadm token list` */
export const list = defineCommand({
  name: "list",
  summary: "List the bootstrap tokens of the cluster: what each lets join, and until when",
  args: {},
  options: {
    withTokenSecret: flag("Show the secrets, with which machines can join"),
    output: choice(["json", "yaml"], "Output", "o"),
    ...clusterOptions,
  },
  async run({ options, context }) {
    const { client } = await context.cluster(options);
    const selection = { namespace: "kube-system", fieldSelector: `type=${BOOTSTRAP_TOKEN_TYPE}` };
    const rows = (await client.list(Secret, selection)).map((secret) => reportToken(secret, options.withTokenSecret));
    const { out, err } = context.terminal;
    if (rows.length === 0 && options.output === undefined) return void err.write("No bootstrap tokens found.\n");
    printList(out, rows, {
      format: options.output,
      columns: columnsAt(context.now(), options.withTokenSecret),
      name: ({ name }) => name,
    });
  },
});

/** What is said of a bootstrap token; times as the cluster writes them. */
interface TokenReport {
  /** Its Secret. */
  readonly name: string;
  readonly tokenID?: string | undefined;
  readonly tokenSecret?: string | undefined;
  /** The roles of the nodes that join with it; none of a token that gardenadm did not make. */
  readonly roles: readonly string[];
  readonly groups: readonly string[];
  readonly expiration?: string | undefined;
  readonly description?: string | undefined;
  readonly creationTimestamp?: string | undefined;
}

function reportToken(secret: Secret, withTokenSecret: boolean): TokenReport {
  const content = readBootstrapTokenSecret(secret);
  const groups = (content["auth-extra-groups"] ?? "").split(",").filter(Boolean);
  return {
    name: secret.metadata.name,
    tokenID: content["token-id"],
    ...(withTokenSecret && { tokenSecret: content["token-secret"] }),
    roles: Object.entries(BOOTSTRAPPER_GROUPS).flatMap(([role, group]) => (groups.includes(group) ? [role] : [])),
    groups,
    expiration: content["expiration"],
    description: content["description"],
    creationTimestamp: secret.metadata.creationTimestamp,
  };
}

const columnsAt = (now: number, withTokenSecret: boolean): readonly Column<TokenReport>[] => [
  { title: "NAME", rank: 3, value: ({ name }) => name },
  { title: "TOKEN ID", value: ({ tokenID }) => tokenID },
  ...(withTokenSecret ? [{ title: "TOKEN SECRET", value: ({ tokenSecret }: TokenReport) => tokenSecret }] : []),
  { title: "ROLE", value: ({ roles }) => roles.join(",") },
  { title: "EXPIRATION", rank: 2, value: ({ expiration }) => expiration },
  { title: "LEFT", value: ({ expiration }) => formatLeft(expiration, now) },
  { title: "AGE", rank: 1, value: ({ creationTimestamp }) => formatAge(creationTimestamp, now) },
  { title: "DESCRIPTION", value: ({ description = "" }) => description.replaceAll(/[\p{Cc}\s]+/gu, " ").trim() },
];

/** One that does not expire says nothing; of one whose time is no time, no API server takes anything. */
function formatLeft(expiration: string | undefined, now: number): string | undefined {
  if (expiration === undefined) return undefined;
  const left = Date.parse(expiration) - now;
  return left > 0 ? formatDuration(left) : "expired";
}

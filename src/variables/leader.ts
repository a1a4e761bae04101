import * as z from "zod";
import { declare, path } from "./variable.ts";

/** `address` or `address:port`, separated by commas; IPv6 addresses in brackets where a port follows. */
const servers = z
  .string()
  .default("")
  .transform((list) => list.split(",").map((server) => server.trim()))
  .transform((list) => list.filter((server) => server !== ""));

const leaderReaders = ["garden worker", "fence", "local provider of a seed", "CLI"] as const;

/** Whom the programs ask that have to know which Seed leads a Shoot. */
export const leaderVariables = declare({
  PERENNIAL_DNS_RESOLVERS: {
    setting: "dnsResolvers",
    meaning:
      "The resolvers that find the DNS servers of the leadership domain, separated by commas; the system's resolvers when empty.",
    schema: servers,
    readBy: leaderReaders,
    passedOn: true,
  },
  PERENNIAL_ZONE_SERVERS: {
    setting: "zoneServers",
    meaning:
      "All DNS servers of the leadership domain's zone, separated by commas, for where they cannot be looked up. When empty, the process looks them up.",
    schema: servers,
    readBy: leaderReaders,
    passedOn: true,
  },
  PERENNIAL_ZONE_KEY_FILE: {
    setting: "zoneKeyFile",
    meaning:
      "The file of the key (TSIG) that signs questions to these servers, as `tsig-keygen` writes it. With it, an answer that is not signed with the same key counts for nothing.",
    schema: path,
    readBy: leaderReaders,
    passedOn: true,
  },
});

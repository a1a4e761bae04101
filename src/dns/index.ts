/** Who leads, asked of the DNS servers that know it at first hand. */
export { createAsk } from "./ask.ts";
export { areTwoShoots, formatLeader, isLeader, parseLeader, type Leader } from "./leader.ts";
export { createLeaderLookup, type LeaderLookup, type ServerAnswer } from "./lookup.ts";
export { createZoneServers, type ZoneServers, type ZoneServersOptions, type ZoneSurvey } from "./zone-servers.ts";

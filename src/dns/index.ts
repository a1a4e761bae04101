/** Who leads, asked of the DNS servers that know it at first hand. */
export { formatLeader, isLeader, parseLeader, type Leader } from "./leader.ts";
export { createLeaderLookup, type LeaderLookup, type ServerAnswer } from "./lookup.ts";
export {
  createZoneServers,
  type ZoneQuestions,
  type ZoneServers,
  type ZoneServersOptions,
  type ZoneSurvey,
} from "./zone-servers.ts";

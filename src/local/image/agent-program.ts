/** The network agent in the local provider's image: what its DaemonSet starts. */
export const AGENT_PROGRAM = "/usr/local/bin/network-agent";

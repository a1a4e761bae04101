/** Where the two resource managers of a cluster listen on the network of a host: no other program of a control plane does there. */
export const HOST_PORTS = {
  garden: { metrics: 8082, health: 8083, webhooks: 19_250 },
  "kube-system": { metrics: 8084, health: 8085, webhooks: 19_251 },
} as const;

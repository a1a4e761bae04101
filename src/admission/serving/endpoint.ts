/** How API servers reach a webhook server: by a URL without a path, or through a Service. */
export type Endpoint =
  | { readonly url: string }
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port?: number } };

/** The `clientConfig` of the webhook at a path; `caBundle` is the PEM that its certificate is checked with. */
export function clientConfig(o: { readonly caBundle: string } & Endpoint, path: string) {
  const caBundle = Buffer.from(o.caBundle).toString("base64");
  if ("url" in o) return { caBundle, url: new URL(path, o.url).href };
  return { caBundle, service: { port: 443, ...o.service, path } };
}

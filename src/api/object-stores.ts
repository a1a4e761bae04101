/**
 * An object store, by what the extensions of Gardener's providers put into the Secret `etcd-backup`. Options are those of
 * rclone's backend of that type, which is the tool that reaches it.
 */
export interface ObjectStore {
  /** rclone's name of the backend. */
  readonly type: string;
  /** Options by name; `{option}` in a value stands for the value of another one. */
  readonly options: Readonly<Record<string, string>>;
  /** The Secret's keys by the option that takes their value. */
  readonly keys: Readonly<Record<string, string>>;
  /** Likewise, of what a Secret may leave out. */
  readonly optionalKeys?: Readonly<Record<string, string>>;
}

/**
 * The object stores that we know, by the provider of a Seed's backups. The Secrets of every other provider are its own
 * business: it makes the backups reachable as a claim. Buckets are made by the provider's extension and never by rclone.
 */
const objectStores: Readonly<Record<string, ObjectStore>> = {
  aws: {
    type: "s3",
    options: { provider: "AWS", no_check_bucket: "true" },
    keys: { access_key_id: "accessKeyID", secret_access_key: "secretAccessKey", region: "region" },
    optionalKeys: { endpoint: "endpoint", force_path_style: "s3ForcePathStyle" },
  },
  gcp: {
    type: "google cloud storage",
    options: { bucket_policy_only: "true", no_check_bucket: "true" },
    keys: { service_account_credentials: "serviceaccount.json" },
  },
  azure: {
    type: "azureblob",
    options: { endpoint: "https://{account}.{domain}", no_check_container: "true" },
    keys: { account: "storageAccount", key: "storageKey", domain: "domain" },
  },
  openstack: {
    type: "swift",
    options: {},
    keys: {
      auth: "authURL",
      domain: "domainName",
      tenant: "tenantName",
      tenant_domain: "domainName",
      region: "region",
    },
    optionalKeys: {
      user: "username",
      key: "password",
      application_credential_id: "applicationCredentialID",
      application_credential_name: "applicationCredentialName",
      application_credential_secret: "applicationCredentialSecret",
    },
  },
  alicloud: {
    type: "s3",
    options: { provider: "Alibaba", no_check_bucket: "true" },
    keys: { access_key_id: "accessKeyID", secret_access_key: "accessKeySecret", endpoint: "storageEndpoint" },
  },
  s3: {
    type: "s3",
    options: { provider: "Other", no_check_bucket: "true" },
    keys: { access_key_id: "accessKeyID", secret_access_key: "secretAccessKey", endpoint: "endpoint" },
    optionalKeys: { region: "region", force_path_style: "s3ForcePathStyle" },
  },
};

/** The providers of backups that are object stores. */
export const objectStoreProviders: readonly string[] = Object.keys(objectStores);

/** The object store of a provider of backups; undefined where backups are reached through a claim. */
export function findObjectStore(provider: string): ObjectStore | undefined {
  return Object.hasOwn(objectStores, provider) ? objectStores[provider] : undefined;
}

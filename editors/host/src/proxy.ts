// The proxy of a hub, which reads it from its environment as its servers do.

export interface ProxySetting {
  /** Its address, for example `http://proxy.example.com:8080`, which may have a user name and a password. */
  readonly url: string;
  /** Hosts that are reached without it, for example `localhost`, `.example.com`, `10.0.0.0/8`. Default: none. */
  readonly except?: readonly string[];
}

/**
 * Returns the variables that name the proxy, in both spellings: programs differ in which they read. They take the place
 * of those that this process has.
 */
export function proxyEnvironment({ url, except = [] }: ProxySetting): Record<string, string> {
  const variables = { HTTP_PROXY: url, HTTPS_PROXY: url, ...(except.length > 0 && { NO_PROXY: except.join(',') }) };
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => [
      [name, value],
      [name.toLowerCase(), value],
    ]),
  );
}

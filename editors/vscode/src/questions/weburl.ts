/**
 * The address as it came, if it is one of the web; else undefined. A file, a command of the editor or of the system is
 * none.
 */
export function webUrl(text: string): string | undefined {
  try {
    const { protocol, host } = new URL(text);
    return (protocol === 'https:' || protocol === 'http:') && host !== '' && !/\s/u.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

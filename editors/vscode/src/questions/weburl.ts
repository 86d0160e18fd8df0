/**
 * Returns the address unchanged if it is http or https, else undefined. So neither a file nor a command of the editor
 * or the system is opened.
 */
export function webUrl(text: string): string | undefined {
  try {
    const { protocol, host } = new URL(text);
    return (protocol === 'https:' || protocol === 'http:') && host !== '' && !/\s/u.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

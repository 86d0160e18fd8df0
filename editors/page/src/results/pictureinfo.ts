// The type and the size of a picture. They are read from its bytes: the server's word is not trusted.

export type PictureInfo = { type: string; width: number; height: number };

/** Maximum number of pixels of a picture that is decoded: a file of a few bytes may need gigabytes. */
export const mostPixels = 40_000_000;

/** @returns undefined: it is no picture that the page shows */
export function pictureInfo(data: Uint8Array): PictureInfo | undefined {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const is = (at: number, text: string) =>
    data.length >= at + text.length && Array.from(text).every((char, i) => data[at + i] === char.charCodeAt(0));
  try {
    if (is(0, '\x89PNG\r\n\x1a\n') && is(12, 'IHDR'))
      return { type: 'image/png', width: view.getUint32(16), height: view.getUint32(20) };
    if (is(0, 'GIF87a') || is(0, 'GIF89a'))
      return { type: 'image/gif', width: view.getUint16(6, true), height: view.getUint16(8, true) };
    if (is(0, 'RIFF') && is(8, 'WEBP')) return webp(view, is);
    if (is(0, '\xff\xd8\xff')) return jpeg(view);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error; // the data ends too early
  }
  return undefined;
}

function webp(view: DataView, is: (at: number, text: string) => boolean) {
  const size = (width: number, height: number) => ({ type: 'image/webp', width, height });
  if (is(12, 'VP8 ')) return size(view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff);
  if (is(12, 'VP8L')) {
    const bits = view.getUint32(21, true);
    return size((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1);
  }
  if (is(12, 'VP8X'))
    return size(
      (view.getUint32(24, true) & 0xffffff) + 1,
      ((view.getUint16(27, true) | (view.getUint8(29) << 16)) & 0xffffff) + 1,
    );
  return undefined;
}

function jpeg(view: DataView) {
  for (let at = 2; at < view.byteLength;) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return { type: 'image/jpeg', width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2);
  }
  return undefined;
}

/** Returns the bytes of base64, or undefined if the text is no base64. */
export function bytesOf(text: string) {
  try {
    const raw = atob(text.replace(/-/g, '+').replace(/_/g, '/'));
    return Uint8Array.from(raw, (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** Enough base64 for every signature below. */
const HEAD = 64;

/** The media type that the first bytes of an image tell; unknown bytes keep the label they came with. */
export function imageType(base64: string, label: string): string {
  const head = Buffer.from(base64.slice(0, HEAD), 'base64');
  const text = head.toString('latin1');
  if (text.startsWith('\x89PNG')) return 'image/png';
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (text.startsWith('GIF8')) return 'image/gif';
  if (text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP') return 'image/webp';
  if (text.startsWith('BM')) return 'image/bmp';
  if (text.startsWith('II*\0') || text.startsWith('MM\0*')) return 'image/tiff';
  if (text.slice(4, 8) === 'ftyp') return heif(text.slice(8, 12)) ?? label;
  return /^(?:\xef\xbb\xbf)?\s*<(?:svg|\?xml|!doctype svg|!--)/i.test(text) ? 'image/svg+xml' : label;
}

function heif(brand: string): string | undefined {
  if (['heic', 'heix', 'hevc', 'hevx'].includes(brand)) return 'image/heic';
  if (['mif1', 'msf1'].includes(brand)) return 'image/heif';
  return brand === 'avif' ? 'image/avif' : undefined;
}

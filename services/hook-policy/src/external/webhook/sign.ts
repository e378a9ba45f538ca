import { createHmac } from 'node:crypto';

export const TIMESTAMP_HEADER = 'Jetloop-Timestamp';
export const SIGNATURE_HEADER = 'Jetloop-Signature';

/**
 * The headers that prove where a request comes from and when: `Jetloop-Timestamp` (seconds since 1970) and `Jetloop-Signature`,
 * `v1=` and the lower-case hex HMAC-SHA256 of `<timestamp>.<body>`.
 */
export function signatureHeaders(secret: string, body: Uint8Array, at: Date): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const digest = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
  return { [TIMESTAMP_HEADER]: timestamp, [SIGNATURE_HEADER]: `v1=${digest}` };
}

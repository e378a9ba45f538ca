// Exit code 0 when the service in this container is ready; else what it answered. The slim image has no curl.
const url = `http://127.0.0.1:${process.env.JETLOOP_HTTP_PORT ?? '8080'}/ready`;
try {
  const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) });
  process.stdout.write(await answer.text());
  process.exitCode = answer.ok ? 0 : 1;
} catch (error) {
  console.log(`${url}: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}

/** Where the script that verifies puts what it finds, and what to do without one. */
export function Verdict({ path }: { path: string }) {
  return (
    <>
      <noscript>
        <p>
          This is computed in your browser, which needs a script. Without one, check it by command line, as{" "}
          <a href="/docs/guides/verify-evidence">the guide</a> shows:
        </p>
        <pre>
          <code>{`curl SERVICE/.well-known/jwks.json > keys.json
curl SERVICE/log/key > service.vkey
curl "SERVICE${path}"`}</code>
        </pre>
      </noscript>
      <div id="verdict" role="status" />
    </>
  );
}

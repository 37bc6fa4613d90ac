/** Where the script that verifies puts what it finds, and what to paste without one; `base` is the service's address. */
export function Verdict({ base, path }: { base: string; path: string }) {
  return (
    <>
      <noscript>
        <p>
          This is computed in your browser, which needs a script. Without one, check it by command line, as{" "}
          <a href="/docs/guides/verify-evidence">the guide</a> shows:
        </p>
        <pre>
          <code>{`curl ${base}/.well-known/jwks.json > keys.json
curl ${base}/log/key > service.vkey
curl "${base}${path}" > proof.txt
agent-screening verify proof.txt --jwks keys.json --log-key service.vkey`}</code>
        </pre>
      </noscript>
      <div id="verdict" role="status" />
    </>
  );
}

/** An agent's badge, with the text to paste where it is to be shown. */
export function Badge({ baseUrl, agentId }: { baseUrl: string; agentId: string }) {
  const [page, picture] = [`${baseUrl}/agents/${agentId}`, `${baseUrl}/api/v1/agents/${agentId}/badge.svg`];
  return (
    <>
      <h2>Badge</h2>
      <p>
        <img src={`/api/v1/agents/${agentId}/badge.svg`} height="20" alt="The badge of this agent" />
      </p>
      <details>
        <summary>The text to paste</summary>
        <p>For Markdown:</p>
        <pre>{`[![Agent Screening](${picture})](${page})`}</pre>
        <p>For HTML:</p>
        <pre>{`<a href="${page}"><img src="${picture}" height="20" alt="Agent Screening"></a>`}</pre>
      </details>
    </>
  );
}

/** The script of the pages with passkeys: it asks the browser for one, and sends the page's own form with its answer. */

/** What is asked of the browser, by what a form says that it wants. */
const ASKED = {
  create: {
    at: "/api/v1/users/me/passkeys/options",
    ask: (options: PublicKeyCredentialCreationOptionsJSON): Promise<Credential | null> =>
      navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) }),
  },
  get: {
    at: "/api/v1/auth/passkeys/options",
    ask: (options: PublicKeyCredentialRequestOptionsJSON): Promise<Credential | null> =>
      navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) }),
  },
} as const;

/** What to tell of the browser's own refusals (WebAuthn sections 5.1.3 and 5.1.4). */
const REFUSALS: Readonly<Record<string, string>> = {
  InvalidStateError: "This device has a passkey for the account already.",
  NotAllowedError: "Nothing was done: it was cancelled, or took too long.",
  SecurityError: "Passkeys need a site with a name and HTTPS, or localhost: at an IP address browsers refuse them.",
};

async function optionsAt(path: string): Promise<Response> {
  const answer = await fetch(path, { method: "POST" });
  // The page was open for longer than its session: loading it anew takes that up again.
  if (answer.status === 401) location.reload();
  if (!answer.ok) throw new Error("The service does not give options now. Try again in a minute.");
  return answer;
}

async function answerTo(wish: string | undefined): Promise<Credential | null> {
  if (wish === "create") return ASKED.create.ask(await (await optionsAt(ASKED.create.at)).json());
  return ASKED.get.ask(await (await optionsAt(ASKED.get.at)).json());
}

function onPasskey(form: HTMLFormElement): void {
  const [field, said] = [form.querySelector("input[name=credential]"), form.querySelector("[role=status]")];
  const button = form.querySelector("button");
  if (!(field instanceof HTMLInputElement) || button === null || said === null) return;
  const send = async (): Promise<void> => {
    button.disabled = true;
    said.textContent = "";
    try {
      field.value = JSON.stringify(await answerTo(form.dataset["passkey"]));
      form.submit();
    } catch (error) {
      button.disabled = false;
      const { name, message } = error instanceof Error ? error : { name: "", message: String(error) };
      said.textContent = REFUSALS[name] ?? message;
    }
  };
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void send();
  });
}

if ("PublicKeyCredential" in window && "parseCreationOptionsFromJSON" in PublicKeyCredential)
  for (const form of document.querySelectorAll("form[data-passkey]"))
    if (form instanceof HTMLFormElement) onPasskey(form);

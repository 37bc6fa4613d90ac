/** The form in which an email is stored, looked up and counted: NFKC, trimmed, lower case. */
export function normaliseEmail(email: string): string {
  return email.normalize("NFKC").trim().toLowerCase();
}

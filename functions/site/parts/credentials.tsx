import { Field, type Wrong } from "./form.tsx";

interface CredentialProps {
  value?: string | null | undefined;
  wrong: Wrong | undefined;
}

interface SecretProps {
  name: string;
  label: string;
  wrong: Wrong | undefined;
}

/** The address by which somebody signs in. */
export function EmailField({ value, wrong }: CredentialProps) {
  return <Field label="Email address" name="email" type="email" autocomplete="username" value={value} wrong={wrong} />;
}

/**
 * Whose password a form asks for, to password managers alone: they look for it in fields of text, never in one of the type
 * `hidden`, and take the field before the password for it where there is none.
 */
export function Whose({ email }: { email: string }) {
  return <input type="text" name="username" autocomplete="username" value={email} hidden />;
}

/** The name that others see. */
export function UsernameField({ value, wrong, optional = false }: CredentialProps & { optional?: boolean }) {
  return (
    <Field
      label="Username"
      name="username"
      autocomplete="nickname"
      optional={optional}
      value={value}
      hint="3 to 39 letters, digits, - or _; others see it"
      wrong={wrong}
    />
  );
}

/** The password that holds now. */
export function PasswordField({ name, label, wrong }: SecretProps) {
  return <Field label={label} name={name} type="password" autocomplete="current-password" wrong={wrong} />;
}

/** A password that is being chosen; `note` says what comes of it. */
export function NewPasswordField({ name, label, note = "", wrong }: SecretProps & { note?: string }) {
  return (
    <Field
      label={label}
      name={name}
      type="password"
      autocomplete="new-password"
      hint={`At least 10 characters, and not a common one. ${note}`.trimEnd()}
      wrong={wrong}
    />
  );
}

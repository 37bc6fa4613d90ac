/** The cookie that carries the access token. */
export const SESSION_COOKIE = "service_session";

/** The cookie that carries the refresh credential; browsers send it to the refresh endpoint only. */
export const REFRESH_COOKIE = "service_refresh";

/** The cookie that holds the secret of a sign-in at the code host that this browser began. */
export const CODE_HOST_COOKIE = "service_codehost";

/** The cookie of a browser whose sign-in lacks nothing but the second factor. */
export const FIRST_STEP_COOKIE = "service_first_step";

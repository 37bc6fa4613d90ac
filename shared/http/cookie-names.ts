/** The cookie that carries the access token. */
export const SESSION_COOKIE = "service_session";

/** The cookie that carries the refresh credential; browsers send it to the refresh endpoint only. */
export const REFRESH_COOKIE = "service_refresh";

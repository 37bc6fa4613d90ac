import { describe, expect, it } from "vitest";
import { classifyError, edgeFailure } from "../../../shared/platform/outbound/failure.ts";

const https = new URL("https://agent.example.com/");
const http = new URL("http://127.0.0.1:9000/");

const node = (code: string, message = code, wrapper = "fetch failed") =>
  new TypeError(wrapper, { cause: Object.assign(new Error(message), { code }) });
const workerd = (message: string) => Object.assign(new Error(message), { remote: true });

describe("what fetch failed with", () => {
  it.each([
    ["ECONNREFUSED", "agent_unreachable", node("ECONNREFUSED")],
    ["ECONNRESET", "agent_unreachable", node("ECONNRESET")],
    ["ENOTFOUND", "agent_unreachable", node("ENOTFOUND")],
    ["EHOSTUNREACH", "agent_unreachable", node("EHOSTUNREACH")],
    ["a closed socket", "agent_unreachable", node("UND_ERR_SOCKET", "other side closed", "terminated")],
    ["a host that is called tls", "agent_unreachable", node("ENOTFOUND", "getaddrinfo ENOTFOUND tls.example.com")],
    ["ETIMEDOUT", "agent_timeout", node("ETIMEDOUT")],
    ["a connection timeout", "agent_timeout", node("UND_ERR_CONNECT_TIMEOUT")],
    ["a headers timeout", "agent_timeout", node("UND_ERR_HEADERS_TIMEOUT")],
    ["a body timeout", "agent_timeout", node("UND_ERR_BODY_TIMEOUT", "Body Timeout Error", "terminated")],
    ["a self-signed certificate", "agent_tls_error", node("DEPTH_ZERO_SELF_SIGNED_CERT")],
    ["a self-signed chain", "agent_tls_error", node("SELF_SIGNED_CERT_IN_CHAIN")],
    ["an expired certificate", "agent_tls_error", node("CERT_HAS_EXPIRED")],
    ["a certificate for another name", "agent_tls_error", node("ERR_TLS_CERT_ALTNAME_INVALID")],
    ["an unknown issuer", "agent_tls_error", node("UNABLE_TO_GET_ISSUER_CERT_LOCALLY")],
    ["a missing intermediate", "agent_tls_error", node("UNABLE_TO_VERIFY_LEAF_SIGNATURE")],
    ["an old protocol", "agent_tls_error", node("ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION")],
    ["EPROTO", "agent_tls_error", node("EPROTO")],
    ["a broken gzip", "agent_invalid_response", node("Z_DATA_ERROR", "incorrect header check", "terminated")],
    ["broken HTTP", "agent_invalid_response", node("HPE_INVALID_CONSTANT")],
    ["no error at all", "agent_unreachable", "thrown text"],
    ["a cause that is its own cause", "agent_unreachable", circular()],
  ])("in Node: %s is %s", (_case, failure_code, error) => {
    expect(classifyError(error, https).failure_code).toBe(failure_code);
  });

  it.each([
    ["a broken connection", "agent_unreachable", workerd("Network connection lost."), https],
    ["a failed handshake", "agent_tls_error", workerd("internal error; reference = 08omrdugqctatqbeujpcck5h"), https],
    [
      "the same without TLS",
      "agent_unreachable",
      workerd("internal error; reference = 08omrdugqctatqbeujpcck5h"),
      http,
    ],
    ["an untrusted peer", "agent_tls_error", workerd("TLS peer's certificate is not trusted"), https],
    ["a broken gzip", "agent_invalid_response", new TypeError("Gzip decompression failed."), https],
    ["a cut gzip", "agent_invalid_response", new TypeError("Gzip compressed stream ended prematurely."), https],
  ])("in workerd: %s is %s", (_case, failure_code, error, url) => {
    expect(classifyError(error, url).failure_code).toBe(failure_code);
  });
});

describe("a status that the edge answers in the origin's place", () => {
  it.each([
    [520, "agent_unreachable"],
    [521, "agent_unreachable"],
    [522, "agent_timeout"],
    [523, "agent_unreachable"],
    [524, "agent_timeout"],
    [525, "agent_tls_error"],
    [526, "agent_tls_error"],
    [530, "agent_unreachable"],
  ])("%i is %s", (status, failure_code) => {
    expect(edgeFailure(status)?.failure_code).toBe(failure_code);
  });

  it.each([200, 400, 404, 429, 500, 502, 503, 504, 527, 599])("%i is the origin's own", (status) => {
    expect(edgeFailure(status)).toBeNull();
  });
});

function circular(): Error {
  const error = new Error("round");
  error.cause = error;
  return error;
}

// Package admin is the HTTP API for operators and for producers that have no Temporal client.
//
// It decides nothing itself. A job is started by package starter, a request is sent by package replay and decided by
// the dead letter's Replay workflow; what is read comes from the store. An answer 202 means "durable, not decided yet": a
// decision that takes longer than the API waits is found under its request id in the dead letter.
//
// Who may call: with a token, whoever sends it as bearer. Without one the API serves loopback only, where a browser is
// the danger: a page from elsewhere could post to it, or read it through a DNS name that it points at 127.0.0.1. So
// requests must name a loopback host and must not come from another origin.
//
// The codec endpoint decodes payloads for the Temporal Web UI and CLI: it decrypts, and then redacts by the job type's
// policy. Only the privileged token sees a payload as it is, with a reason, and once that is in the audit log. Pages of the
// configured origins may ask; a browser proves that it may by a cookie that is good for nothing else. The endpoint encrypts
// nothing.
//
// Errors are problem+json (RFC 9457) with a stable code. They never hold a value that was sent: a payload in an error
// ends up in the caller's log.
package admin

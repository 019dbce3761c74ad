// Package webhook delivers events to other people's HTTP endpoints, as the job type webhook.deliver.
//
// The payload is
//
//	{"url": "https://shop.example/hooks", "event": "order.paid", "body": {…}, "timeout_seconds": 10}
//
// and the delivery one POST of body, byte for byte as it was enqueued, with these headers:
//
//	Content-Type:      application/json
//	Idempotency-Key:   the job key
//	Redrive-Event:     the event
//	Redrive-Signature: t=<unix seconds>,v1=<hex>
//
// The signature is HMAC-SHA256 with the shared secret over the time, the key, the event and the body, separated by
// newlines: "<t>\n<key>\n<event>\n<body>". Neither key nor event can hold a newline. A receiver checks it with Verify,
// or in any language with a dozen lines: recompute, compare in constant time, and refuse a t that is more than a few
// minutes old, so that a recorded request is of no use later.
//
// A job can run again: after a lost connection, a crash, a replay. The receiver keeps effects single by the
// Idempotency-Key, which stays the same for ever; it may have to remember keys for as long as dead letters are kept.
//
// What an answer means:
//
//	2xx             delivered; the job's result is {"status": n}
//	408, 425, 429   throttled: again later, not before Retry-After (at most MaxRetryAfter), no attempt used up
//	5xx, no answer  dependency_down: again with backoff
//	3xx, other 4xx  rejected: a dead letter, since the same request would get the same answer
//
// A URL with a user or password in it is refused: payloads are kept, and are no place for a credential.
// Redirects are not followed: they would carry a signed body to an address nobody configured. Errors name the host and
// the status; never the path or query of the URL, nor anything that the receiver sent.
package webhook

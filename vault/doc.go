// Package vault keeps payloads encrypted: in rows of their own, apart from the records that describe them, and on their way
// through Temporal.
//
// A row's payload is sealed with AES-256-GCM under a key of its own, and that under a Tink keyset: dropping the row's key
// erases the payload. The associated data binds both to reference, job type and key, so a row that was swapped with another
// does not open. A keyset may hold older keys besides its primary one: after a rotation they still open what they sealed,
// until they are destroyed. The keyset is a file that only its owner may read, or comes from the environment, and may itself
// be encrypted by a key management service. It is never in the database, so a copy of the database holds no readable
// payload, and losing the keyset loses the payloads.
//
// Protect makes a Temporal client encrypt what it sends, by Codec. What may heal (a key that is not there yet) fails the
// workflow task, which is tried again, and never the workflow; what will not is an error that wraps job.ErrPayloadGone.
package vault
